/// The entry that a write is about to store, while the batch makes room for the entry. The entry is neither stored nor counted
/// yet, so a refused write leaves nothing to undo. But limits and policies already count the entry.
struct ExpectedEntry {
  let id: NamespaceID
  let entryKey: [UInt8]
  /// The keys of all owners of the entry and of its former value, of the owners of these owners, and so on.
  var owners: Set<[UInt8]> = []
  let weight: EntryWeight
  /// The weight of the entry that is replaced. The counters still include this weight.
  let former: EntryWeight?
}

struct Usage {
  var entries: UInt64
  var bytes: UInt64

  var words: String { "\(LimitWords.entries(entries)) (\(LimitWords.bytes(bytes)))" }
}

extension NamespaceCounters { var usage: Usage { Usage(entries: entries, bytes: bytes) } }

extension StoreState { var usage: Usage { Usage(entries: entries, bytes: bytes) } }

// Inlined, because the compiler copies the whole ledger for each call.
extension Ledger {
  @inline(__always)
  func expectedUsage(_ id: NamespaceID) -> Usage {
    let usage = read(id) { $0.usage }
    return expected?.id == id ? expecting(usage) : usage
  }

  var expectedTotal: Usage { @inline(__always) get { expecting(store.usage) } }

  @inline(__always)
  private func expecting(_ usage: Usage) -> Usage {
    guard let expected else { return usage }
    var usage = usage
    usage.entries &+= expected.former == nil ? 1 : 0
    usage.bytes &+= UInt64(expected.weight.size) &- UInt64(expected.former?.size ?? 0)
    return usage
  }

  @inline(__always)
  func expectedQueue(_ id: NamespaceID) -> QueueState {
    var queue = read(id) { $0.queue }
    guard let expected, expected.id == id else { return queue }
    if let former = expected.former { queue.count(former, &-) }
    queue.count(expected.weight)
    return queue
  }
}

extension WriteSession {
  /// Makes room for an entry that is not counted yet. With `hasRoom` the entry keeps the limits of namespace and store at the
  /// end of the batch; only the disk limit matters. Returns the replaced entry, read again if records have changed.
  mutating func admit(
    _ new: Draft, replacing old: StoredEntry?, in namespace: KnownNamespace, hasRoom: Bool
  ) throws(LarderError) -> StoredEntry? {
    let (weight, changes) = (new.weight, transaction.changes)
    let own = try pages(for: weight, isChunked: new.header.flags.contains(.chunked))
    try load(namespace.id)
    ledger.expected = ExpectedEntry(
      id: namespace.id, entryKey: new.entryKey, weight: weight, former: old?.weight)
    defer {
      ledger.expected = nil
      orphans.resume()
    }
    let owners = new.fields.owners + (old?.owners ?? [])
    if !owners.isEmpty,
      budget.disk != nil || isStoreOver || exceeds(namespace.rules.limits, in: namespace.id)
    {
      let found = try chain(of: owners)
      ledger.expected?.owners = Set(found.keys)
    }
    let isQueued = old == nil && weight.queuePosition != 0
    let eviction = namespace.rules.eviction
    if isQueued, eviction == .adaptive { try noteInserted(new, in: namespace) }
    if !hasRoom {
      try makeRoom(in: namespace)
      try makeRoomInStore()
    }
    try makeRoomOnDisk(for: weight, taking: own)
    // This namespace evicts nothing. But if its rules change, the policy must know all entries, so the policy notes the entry.
    if isQueued, eviction == .refuse { try noteInserted(new, in: namespace) }
    guard old != nil, transaction.changes != changes else { return old }
    return try entry(new.key, in: namespace.id)
  }

  /// Whether the current write must keep an entry: the entry that it writes, or a direct or indirect owner of that entry.
  func mustStay(_ entryKey: [UInt8]) -> Bool {
    guard let expected = ledger.expected else { return false }
    return expected.entryKey == entryKey || expected.owners.contains(entryKey)
  }

  /// The stored owners, the owners of these owners, and so on. Includes owners in cleared namespaces, but not their owners.
  mutating func chain(of owners: [StoredOwner]) throws(LarderError) -> [[UInt8]: StoredEntry] {
    var chain: [[UInt8]: StoredEntry] = [:]
    var waiting = owners
    while let owner = waiting.popLast() {
      let entryKey = owner.entryKey
      guard chain[entryKey] == nil, let entry = try entry(owner.key.span, in: owner.id)
      else { continue }
      chain[entryKey] = entry
      if try isLive(owner.id) { waiting += entry.owners }
    }
    return chain
  }
}
