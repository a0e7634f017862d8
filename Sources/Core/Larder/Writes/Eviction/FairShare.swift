import Synchronization

/// Chooses which namespace evicts next in a full store: namespaces of the lowest priority, each in proportion to its bytes.
///
/// Each namespace has a virtual time. An eviction advances this time by the removed share of the namespace's bytes. The
/// namespace with the earliest time evicts next. A namespace that is new in this object starts at the current virtual time, so
/// that earlier evictions do not count against the namespace. Every process has its own times.
final class FairShare: Sendable {
  private struct Times {
    var generation: UInt64 = 0
    var namespaces: [KnownNamespace] = []
    var guarantees: [NamespaceID: UInt64] = [:]
    var time: [NamespaceID: Double] = [:]
    var now = 0.0
  }
  private let times = Mutex(Times())

  func known(
    at generation: UInt64
  ) -> (namespaces: [KnownNamespace], guarantees: [NamespaceID: UInt64])? {
    times.withLock { times in
      guard times.generation == generation else { return nil }
      return (namespaces: times.namespaces, guarantees: times.guarantees)
    }
  }

  func remember(_ namespaces: [KnownNamespace], at generation: UInt64) {
    times.withLock { times in
      times.generation = generation
      times.namespaces = namespaces
      times.guarantees = namespaces.guarantees
      let ids = Set(namespaces.map(\.id))
      times.time = times.time.filter { ids.contains($0.key) }
    }
  }

  func next(among namespaces: [KnownNamespace]) -> KnownNamespace? {
    times.withLock { times in
      let lowest = namespaces.map(\.rules.priority).min()
      let first = namespaces.filter { $0.rules.priority == lowest }
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

extension [KnownNamespace] {
  var guarantees: [NamespaceID: UInt64] {
    reduce(into: [:]) { if $1.guaranteed > 0 { $0[$1.id] = $1.guaranteed } }
  }
}
