import Synchronization

/// Chooses which namespace evicts next in a full store: namespaces of the lowest priority, each in proportion to its bytes.
///
/// Each namespace has a virtual time. An eviction advances this time by the removed share of the namespace's bytes. The
/// namespace with the earliest time evicts next. A namespace that is new in this object starts at the current virtual time, so
/// that it need not make up for earlier evictions. Every process has its own times.
final class FairShare: Sendable {
  struct Member {
    var name: String
    var priority: Priority
    var eviction: Eviction
    var id: NamespaceID
    /// Bytes that a write to another namespace cannot evict.
    var guaranteed: UInt64
  }

  private struct Times {
    var generation: UInt64 = 0
    var members: [Member] = []
    var guarantees: [NamespaceID: UInt64] = [:]
    var time: [NamespaceID: Double] = [:]
    var now = 0.0
  }
  private let times = Mutex(Times())

  func known(
    at generation: UInt64
  ) -> (members: [Member], guarantees: [NamespaceID: UInt64])? {
    times.withLock { times in
      guard times.generation == generation else { return nil }
      return (members: times.members, guarantees: times.guarantees)
    }
  }

  func remember(_ members: [Member], at generation: UInt64) {
    times.withLock { times in
      times.generation = generation
      times.members = members
      times.guarantees = members.guarantees
      let ids = Set(members.map(\.id))
      times.time = times.time.filter { ids.contains($0.key) }
    }
  }

  func next(among members: [Member]) -> Member? {
    times.withLock { times in
      let lowest = members.map(\.priority).min()
      let first = members.filter { $0.priority == lowest }
        .min { (times.time[$0.id] ?? times.now) < (times.time[$1.id] ?? times.now) }
      if let first { times.now = max(times.now, times.time[first.id] ?? times.now) }
      return first
    }
  }

  func charge(_ id: NamespaceID, share: Double) {
    times.withLock { times in
      times.time[id] = max(times.time[id] ?? times.now, times.now) + share
    }
  }
}

extension [FairShare.Member] {
  var guarantees: [NamespaceID: UInt64] {
    reduce(into: [:]) { if $1.guaranteed > 0 { $0[$1.id] = $1.guaranteed } }
  }
}
