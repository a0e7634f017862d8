/// Chooses which namespace evicts next in a full store: namespaces of the lowest priority, each in proportion to its bytes.
///
/// Each process has a virtual time for each namespace. The namespace with the earliest time evicts next. An eviction raises the
/// time by the removed share of the bytes of the namespace's records.
struct FairShare: Sendable {
  private(set) var generation: UInt64 = 0
  private(set) var namespaces: [KnownNamespace] = []
  private(set) var guarantees: [NamespaceID: UInt64] = [:]
  private var times: [NamespaceID: Double] = [:]
  private var now = 0.0

  mutating func remember(_ namespaces: [KnownNamespace], at generation: UInt64) {
    (self.generation, self.namespaces) = (generation, namespaces)
    guarantees = namespaces.guarantees
    let ids = Set(namespaces.map(\.id))
    times = times.filter { ids.contains($0.key) }
  }

  /// All namespaces that evict next. Thousands may have the same time, because an empty namespace evicts nothing.
  mutating func next(among namespaces: [KnownNamespace]) -> [KnownNamespace] {
    let lowest = namespaces.map(\.rules.priority).min()
    let members = namespaces.filter { $0.rules.priority == lowest }
    now = members.map { time(of: $0.id) }.min() ?? now
    return members.filter { time(of: $0.id) == now }
  }

  /// Gives a namespace without a time the current time plus a part of the namespace's first step; false if there is a time. The
  /// part seems random. If each namespace began with an eviction, each new process would empty the small namespaces.
  mutating func begin(_ id: NamespaceID, of entries: UInt64, at commit: UInt64) -> Bool {
    if times[id] != nil { return false }
    let golden: UInt64 = 0x9E37_79B9_7F4A_7C15
    let part = Double((UInt64(id.rawValue) &+ commit &* golden) &* golden) * 0x1p-64
    charge(id, share: part / Double(entries))
    return true
  }

  mutating func charge(_ id: NamespaceID, share: Double) { times[id] = time(of: id) + share }

  private func time(of id: NamespaceID) -> Double { max(times[id] ?? now, now) }
}

extension [KnownNamespace] {
  /// The bytes that namespaces are guaranteed to keep. The largest number for a namespace that evicts nothing.
  var guarantees: [NamespaceID: UInt64] {
    reduce(into: [:]) { least, namespace in
      least[namespace.id] = namespace.rules.eviction == .refuse ? .max : namespace.guaranteed
    }
  }
}
