import LarderSystem

/// Chooses which namespace evicts next in a full store: namespaces of the lowest priority, each in proportion to its bytes.
///
/// Each process has a virtual time for each namespace. The namespace with the earliest time evicts next. An eviction raises the
/// time by the removed share of the bytes of the namespace's records; a refusal, by the share of an average entry.
struct FairShare: Sendable {
  private(set) var generation: UInt64 = 0
  private(set) var namespaces: [KnownNamespace] = []
  private(set) var guarantees: [NamespaceID: UInt64] = [:]
  private var times: [NamespaceID: Double] = [:]
  private var pauses: [NamespaceID: Double] = [:]
  private var nows: [Priority: Double] = [:]

  mutating func remember(_ namespaces: [KnownNamespace], at generation: UInt64) {
    (self.generation, self.namespaces) = (generation, namespaces)
    guarantees = namespaces.guarantees
    let ids = Set(namespaces.map(\.id))
    times = times.filter { ids.contains($0.key) }
    pauses = pauses.filter { ids.contains($0.key) }
  }

  /// The times of the namespaces with the indices of the namespaces, the latest time first.
  func turns(of namespaces: [KnownNamespace]) -> [(time: Double, index: Int)] {
    namespaces.indices.map { (time: time(of: namespaces[$0]), index: $0) }
      .sorted { $0.time > $1.time }
  }

  /// Returns the first time of a namespace without a time: the current time plus a part of the first step that seems random. If
  /// the namespace evicted at once, each new process would empty the small namespaces.
  mutating func begin(_ member: KnownNamespace, of entries: UInt64, at commit: UInt64) -> Double? {
    if times[member.id] != nil { return nil }
    let golden: UInt64 = 0x9E37_79B9_7F4A_7C15
    let part = Double((UInt64(member.id.rawValue) &+ commit &* golden) &* golden) * 0x1p-64
    return charge(member, share: part / Double(entries))
  }

  /// Sets and returns the next time of a namespace. Each priority has its own current time, because otherwise each turn of a
  /// lower priority would make the times of all others equal.
  mutating func charge(_ member: KnownNamespace, share: Double) -> Double {
    let now = time(of: member)
    nows[member.rules.priority] = now
    times[member.id] = now + share
    return now + share
  }

  /// Lets a namespace without entries wait, so that each write does not begin with all empty namespaces of a priority.
  mutating func pause(_ member: KnownNamespace) {
    pauses[member.id] = (nows[member.rules.priority] ?? 0) + 0.001
  }

  /// At most a step of 1 after the current time, because a namespace may have a time of a former priority.
  private func time(of member: KnownNamespace) -> Double {
    let now = nows[member.rules.priority] ?? 0
    return min(max(times[member.id] ?? now, pauses[member.id] ?? now, now), now + 1)
  }
}

extension [KnownNamespace] {
  var named: [ExactString: KnownNamespace] {
    reduce(into: [:]) { named, namespace in named[ExactString(namespace.name)] = namespace }
  }

  /// The bytes that namespaces are guaranteed to keep. The largest number for a namespace that evicts nothing.
  var guarantees: [NamespaceID: UInt64] {
    reduce(into: [:]) { least, namespace in
      least[namespace.id] = namespace.rules.eviction == .refuse ? .max : namespace.guaranteed
    }
  }
}
