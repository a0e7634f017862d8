import Synchronization

/// Chooses which namespace evicts next in a full store: namespaces of the lowest priority, each in proportion to its bytes.
///
/// Each namespace has a virtual time, and the namespace with the earliest time evicts next. An eviction advances the time by the
/// removed share of the namespace's bytes. A new namespace starts at the current virtual time. Every process has its own times.
final class FairShare: Sendable {
  private struct Times {
    var generation: UInt64 = 0
    var namespaces: [KnownNamespace] = []
    var time: [NamespaceID: Double] = [:]
    var now = 0.0
  }
  private let times = Mutex(Times())

  func known(at generation: UInt64) -> [KnownNamespace]? {
    times.withLock { $0.generation == generation ? $0.namespaces : nil }
  }

  func remember(_ namespaces: [KnownNamespace], at generation: UInt64) {
    times.withLock { times in
      times.generation = generation
      times.namespaces = namespaces
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
