import LarderSystem

/// The admission of an entry that a write is about to store, while the batch makes room for the entry. The entry is neither
/// stored nor counted yet, so a refused write leaves nothing to undo. But limits and policies treat the entry as counted.
struct Admission {
  let entryKey: [UInt8]
  /// The entry keys of the owners of the entry and of its former value, of the owners of those owners, and so on.
  var owners: Set<[UInt8]> = []
}

/// The weight of an entry to be admitted, for the counters.
struct ExpectedEntry {
  let id: NamespaceID
  let weight: EntryWeight
  /// The weight of the entry that the new entry replaces; the counters still include the replaced entry.
  let former: EntryWeight?
}

struct Usage {
  var entries: UInt64
  var bytes: UInt64
}

extension Ledger {
  func usage(_ id: NamespaceID) -> Usage {
    Usage(entries: self[id].entries, bytes: self[id].bytes)
  }

  func expectedUsage(_ id: NamespaceID) -> Usage {
    expected?.id == id ? expecting(usage(id)) : usage(id)
  }

  var expectedTotal: Usage {
    expecting(Usage(entries: store.entries, bytes: store.bytes))
  }

  private func expecting(_ usage: Usage) -> Usage {
    guard let expected else { return usage }
    var usage = usage
    usage.entries &+= expected.former == nil ? 1 : 0
    usage.bytes &+= UInt64(expected.weight.size) &- UInt64(expected.former?.size ?? 0)
    return usage
  }

  /// The queue of a namespace, including the entry to be admitted.
  func expectedQueue(_ id: NamespaceID) -> QueueState {
    var queue = self[id].queue
    guard let expected, expected.id == id else { return queue }
    if let former = expected.former { queue.subtract(former) }
    queue.add(expected.weight)
    return queue
  }

  mutating func setExpectedQueue(_ queue: QueueState, of id: NamespaceID) {
    let before = expectedQueue(id)
    learn(id) { counters in
      let now = counters.queue
      counters.queue = queue
      counters.queue.windowEntries =
        now.windowEntries &+ queue.windowEntries &- before.windowEntries
      counters.queue.windowBytes = now.windowBytes &+ queue.windowBytes &- before.windowBytes
    }
  }
}

extension WriteBatch {
  /// Makes room for an entry before any part of the entry is counted. With `hasRoom` the entry is within the limits of the
  /// namespace and of the store, as soon as the batch has made other changes, too.
  ///
  /// - Returns: the replaced entry; read again if the work for the room changed records.
  mutating func admit(
    _ new: Draft, replacing old: StoredEntry?, in namespace: KnownNamespace, hasRoom: Bool
  ) throws(LarderError) -> StoredEntry? {
    let (weight, changes) = (new.weight, session.transaction.changes)
    try session.load(namespace.id)
    session.ledger.expected = ExpectedEntry(
      id: namespace.id, weight: weight, former: old.map { EntryWeight($0) })
    session.admission = Admission(entryKey: new.entryKey)
    defer {
      session.ledger.expected = nil
      session.admission = nil
      session.orphans.resume()
    }
    let owners = new.fields.owners + (old?.owners ?? [])
    if !owners.isEmpty, isShort(of: namespace) {
      let chain = try session.chain(of: owners)
      session.admission?.owners = chain
    }
    let inserted: Candidate? =
      old == nil && weight.queuePosition != 0
      ? Candidate(
        sequence: weight.queuePosition, size: UInt64(weight.size), hash: new.keyHash,
        entryKey: new.entryKey) : nil
    let eviction = namespace.rules.eviction
    if let inserted, eviction == .adaptive {
      try budget.noteInserted(inserted, in: namespace, &session)
    }
    if !hasRoom {
      try budget.makeRoom(in: namespace, &session)
      try budget.makeRoomInStore(&session)
    }
    try budget.makeRoomOnDisk(for: weight, isChunked: new.header.flags.contains(.chunked), &session)
    // A namespace that refuses to evict now may evict later, and then its policy must know the entries.
    if let inserted, eviction == .refuse {
      try budget.noteInserted(inserted, in: namespace, &session)
    }
    guard old != nil, session.transaction.changes != changes else { return old }
    return try session.entry(new.key, in: namespace.id)
  }

  /// Whether other entries may have to leave for the entry to be admitted.
  private func isShort(of namespace: KnownNamespace) -> Bool {
    budget.hasDiskLimit || budget.isOver(session)
      || namespace.rules.limits.areExceeded(by: namespace.id, session)
  }
}

extension WriteSession {
  /// Whether the current write must not remove an entry: it is the written entry, or a direct or indirect owner of that entry.
  func mustStay(_ entryKey: [UInt8]) -> Bool {
    guard let admission else { return false }
    return admission.entryKey == entryKey || admission.owners.contains(entryKey)
  }

  mutating func chain(of owners: [StoredOwner]) throws(LarderError) -> Set<[UInt8]> {
    var chain: Set<[UInt8]> = []
    var waiting = owners
    while let owner = waiting.popLast() {
      let entryKey = owner.entryKey
      guard chain.insert(entryKey).inserted,
        let entry = try entry(owner.key.span, in: owner.id)
      else { continue }
      waiting += entry.owners
    }
    return chain
  }
}
