import LMDB

extension NamespaceQueue {
  /// The first entry at `position` or after it. Skips records of the queue that damage has left: the entry of such a record is
  /// missing, or the record has the largest position, which no entry ever has.
  mutating func read(from position: UInt64) throws(LarderError) -> Candidate? {
    let (id, queue) = (request.id, session.engine.indexes.queue)
    let start = IndexKey.queue(position, in: id)
    return try session.transaction.read { lmdb throws(LMDBError) -> Candidate? in
      var cursor = try lmdb.cursor(in: queue)
      var record = try cursor.seek(start.span)
      while let found = record, found.key.count >= 4, found.key.namespaceID == id {
        if let queued = QueueRecord(found.key, found.value),
          let bytes = try lmdb.value(for: queued.entryKey, in: .entries),
          let entry = StoredEntry(entryKey: queued.entryKey, record: bytes),
          entry.header.sequence == queued.position, queued.position != .max
        {
          return Candidate(
            sequence: queued.position, size: UInt64(entry.valueCount), hash: entry.keyHash ?? 0,
            entryKey: entry.entryKey)
        }
        record = try cursor.next()
      }
      return nil
    }
  }

  /// Removes an entry that the policy has chosen, by removing its topmost owners if there are any. False if an entry must stay.
  mutating func evict(_ entry: StoredEntry, reason: RemovalReason) throws(LarderError) -> Bool {
    let isExpired = session.state(of: entry) == .expired
    if isExpired || session.state.dependents == 0 {
      try session.remove(entry, reason: isExpired ? .expired : reason)
      return true
    }
    let victims = try topmostOwners(of: entry)
    let group = Set(victims.map(\.entryKey))
    guard !request.staying.contains(group), try mayLeave(victims) else {
      request.staying.insert(group)
      return false
    }
    for victim in victims { try session.remove(victim, reason: reason) }
    return true
  }

  /// The direct and indirect owners of an entry that have no stored owner; the entry itself if it has no stored owner. If the
  /// owners own each other in a ring, the first direct owner.
  private mutating func topmostOwners(of entry: StoredEntry) throws(LarderError) -> [StoredEntry] {
    var owners = try session.chain(of: entry.owners)
    for (key, owner) in owners where try !session.isLive(owner.id) { owners[key] = nil }
    let topmost = owners.values.filter { $0.owners.allSatisfy { owners[$0.entryKey] == nil } }
    if !topmost.isEmpty { return topmost }
    return [entry.owners.lazy.compactMap { owners[$0.entryKey] }.first ?? entry]
  }

  /// Whether the victims and their dependents may leave: none is pinned or needed by the current write, and every namespace
  /// keeps its guaranteed bytes. Only the namespace that needs the room may lose guaranteed bytes. O(leaving entries).
  private mutating func mayLeave(_ victims: [StoredEntry]) throws(LarderError) -> Bool {
    // The namespace whose write or rules need the room; nil if only the limits of the store need the room.
    let asking = request.reason == nil ? request.id : session.ledger.expected?.id
    let guaranteed = try session.guarantees()
    var taken: [NamespaceID: UInt64] = [:]
    var leaving: Set<[UInt8]> = []
    var waiting = victims
    while let entry = waiting.popLast() {
      guard leaving.insert(entry.entryKey).inserted else { continue }
      let isExpired = session.state(of: entry) == .expired
      let isPinned = entry.header.flags.contains(.pinned) && !isExpired
      if isPinned || session.mustStay(entry.entryKey) { return false }
      // The rules of a damaged namespace are unknown, and may refuse evictions.
      let least = guaranteed[entry.id] ?? .max
      if least > 0, entry.id != asking || least == .max {
        let sum = taken[entry.id, default: 0] &+ UInt64(entry.valueCount)
        let bytes = try session.counters(of: entry.id).bytes
        guard isExpired || (bytes >= sum && bytes - sum >= least) else { return false }
        taken[entry.id] = sum
      }
      waiting += try dependents(of: entry, without: leaving)
    }
    return true
  }

  /// The dependents of `owner` that have no other owner, except owners in `leaving`.
  private mutating func dependents(
    of owner: StoredEntry, without leaving: Set<[UInt8]>
  ) throws(LarderError) -> [StoredEntry] {
    let prefix = IndexKey.owner(owner.entryKey, entry: [])
    var found: [StoredEntry] = []
    for key in try session.transaction.keys(in: session.engine.indexes.tags, from: prefix) {
      let entryKey = Array(key.dropFirst(prefix.count))
      guard let (entry, others) = try session.dependent(entryKey, of: owner.entryKey)
      else { continue }
      if others.allSatisfy({ leaving.contains($0.entryKey) }) { found.append(entry) }
    }
    return found
  }
}
