import LMDB
import LarderSystem

extension NamespaceQueue {
  /// The first entry at `position` or behind it. Skips records without their entry; only damage leaves such records.
  mutating func entry(from position: UInt64) throws(LarderError) -> StoredEntry? {
    let (id, queue) = (request.id, session.engine.indexes.queue)
    let start = IndexKey.queue(position, in: id)
    return try session.transaction.read { lmdb throws(LMDBError) -> StoredEntry? in
      var cursor = try lmdb.cursor(in: queue)
      var record = try cursor.seek(start.span)
      while let found = record, found.key.count >= 4, found.key.namespaceID == id {
        if let queued = QueueRecord(found.key, found.value),
          let bytes = try lmdb.value(for: queued.entryKey, in: .entries),
          let entry = StoredEntry(entryKey: queued.entryKey, record: bytes),
          entry.header.sequence == queued.position
        {
          return entry
        }
        record = try cursor.next()
      }
      return nil
    }
  }

  mutating func newestPosition() throws(LarderError) -> UInt64? {
    let (id, queue) = (request.id, session.engine.indexes.queue)
    let end = IndexKey.queue(.max, in: id)
    return try session.transaction.read { lmdb throws(LMDBError) -> UInt64? in
      var cursor = try lmdb.cursor(in: queue)
      _ = try cursor.seek(end.span)
      guard let last = try cursor.previous(), last.key.count > 4, last.key.namespaceID == id
      else { return nil }
      return QueueRecord.position(of: last.key)
    }
  }

  /// Removes an entry that the policy has chosen, with its stored owners. False if an owner must stay, or if another namespace
  /// would lose guaranteed bytes.
  mutating func evict(_ entry: StoredEntry, reason: RemovalReason) throws(LarderError) -> Bool {
    if entry.header.state(at: session.now.milliseconds) == .expired {
      try session.remove(entry, reason: .expired)
      return true
    }
    var victims: [StoredEntry] = []
    for owner in entry.owners where try session.isStored(owner) {
      guard case .entry(let found) = try session.contents(of: owner.entryKey),
        try mayEvictOwner(found)
      else { return false }
      victims.append(found)
    }
    if victims.isEmpty { victims = [entry] }
    guard try keepsGuarantees(without: victims) else { return false }
    for victim in victims { try session.remove(victim, reason: reason) }
    return true
  }

  private mutating func mayEvictOwner(_ entry: StoredEntry) throws(LarderError) -> Bool {
    if entry.header.flags.contains(.pinned) || session.mustStay(entry.entryKey) {
      return false
    }
    guard entry.owners.isEmpty else { return false }
    guard let name = try session.name(of: entry.id),
      let namespace = try session.namespace(name)
    else { return true }
    return namespace.rules.eviction != .refuse
  }
}
