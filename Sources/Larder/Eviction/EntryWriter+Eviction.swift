import LMDB
import LarderSystem

extension EntryWriter {
  /// The first entry of a namespace's queue at that position or behind it. Records that lead to no entry, which only damage
  /// leaves behind, are skipped.
  mutating func queued(
    from position: UInt64, in id: NamespaceID
  ) throws(LarderError) -> StoredEntry? {
    let queue = engine.indexes.queue
    let start = IndexKey.queue(position, in: id)
    return try read { lmdb throws(LMDBError) -> StoredEntry? in
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

  /// The queue position of the newest entry.
  mutating func newestPosition(in id: NamespaceID) throws(LarderError) -> UInt64? {
    let queue = engine.indexes.queue
    let end = IndexKey.queue(.max, in: id)
    return try read { lmdb throws(LMDBError) -> UInt64? in
      var cursor = try lmdb.cursor(in: queue)
      _ = try cursor.seek(end.span)
      guard let last = try cursor.previous(), last.key.count > 4, last.key.namespaceID == id
      else { return nil }
      return QueueRecord.position(of: last.key)
    }
  }

  /// Removes an entry that a policy has chosen. An entry that belongs to others is removed by removing its owners.
  ///
  /// - Returns: false if one of those entries must stay.
  mutating func evict(
    _ entry: StoredEntry, reason: RemovalReason, sparing protected: ProtectedEntries
  ) throws(LarderError) -> Bool {
    if entry.header.state(at: now.milliseconds) == .expired {
      if try ownsProtected(entry.entryKey, protected) { return false }
      try remove(entry, reason: .expired)
      return true
    }
    var victims: [StoredEntry] = []
    for owner in entry.owners where try isStored(owner) {
      guard case .entry(let found) = try contents(of: owner.entryKey),
        try mayEvictOwner(found, protected)
      else { return false }
      victims.append(found)
    }
    if victims.isEmpty { victims = [entry] }
    for victim in victims where try ownsProtected(victim.entryKey, protected) { return false }
    for victim in victims { try remove(victim, reason: reason) }
    return true
  }

  private mutating func mayEvictOwner(
    _ entry: StoredEntry, _ protected: ProtectedEntries
  ) throws(LarderError) -> Bool {
    if entry.header.flags.contains(.pinned) || protected.contains(entry.entryKey) { return false }
    guard entry.owners.isEmpty else { return false }
    guard let name = try name(of: entry.id), let namespace = try namespace(name) else {
      return true
    }
    return namespace.rules.eviction != .refuse
  }
}
