import Synchronization

/// Chooses the namespace that evicts next when the store is full. Only namespaces of the lowest priority take part, each in
/// proportion to its bytes.
///
/// Each namespace has a virtual time. The time advances by the lost share of the namespace's bytes; the namespace with the
/// earliest time evicts. A new member starts at the present time of the members, so it does not pay for the past. The times
/// belong to this process: every process is fair by itself.
final class FairShare: Sendable {
  struct Member {
    var name: String
    var priority: Priority
    var eviction: Eviction
    var id: NamespaceID
    /// Bytes that other namespaces cannot take.
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

  /// All namespaces, if this process knows them for this generation of the metadata.
  func members(at generation: UInt64) -> [Member]? {
    times.withLock { $0.generation == generation ? $0.members : nil }
  }

  /// The guaranteed bytes of the namespaces that have a guarantee, if they are known for this generation.
  func guarantees(at generation: UInt64) -> [NamespaceID: UInt64]? {
    times.withLock { $0.generation == generation ? $0.guarantees : nil }
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

  /// The member that evicts next; nil without members.
  func next(among members: [Member]) -> Member? {
    times.withLock { times in
      let lowest = members.map(\.priority).min()
      let first = members.filter { $0.priority == lowest }
        .min { (times.time[$0.id] ?? times.now) < (times.time[$1.id] ?? times.now) }
      if let first { times.now = max(times.now, times.time[first.id] ?? times.now) }
      return first
    }
  }

  /// Records that a namespace lost `share` of its bytes.
  func charge(_ id: NamespaceID, share: Double) {
    times.withLock { times in
      times.time[id] = max(times.time[id] ?? times.now, times.now) + share
    }
  }
}

extension [FairShare.Member] {
  /// The guaranteed bytes of the namespaces that have a guarantee.
  var guarantees: [NamespaceID: UInt64] {
    reduce(into: [:]) { if $1.guaranteed > 0 { $0[$1.id] = $1.guaranteed } }
  }
}
