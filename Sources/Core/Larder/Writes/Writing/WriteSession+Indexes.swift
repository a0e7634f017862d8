import LMDB
import LarderSystem

extension WriteSession {
  /// Moves an entry in the expiry index; nil means no place. The index names an entry by its queue position, but a pinned entry
  /// by its key. ``flushDeadlines()`` or an earlier step writes the change.
  mutating func moveDeadline(
    of entryKey: [UInt8], from before: EntryHeader?, to after: EntryHeader?
  ) throws(LarderError) {
    if let before, before.deadline != EntryHeader.never {
      if before.deadline == after?.deadline, before.sequence == after?.sequence { return }
      try setDeadline(before.deadline, position: before.sequence, of: entryKey, isIndexed: false)
    }
    guard let after, after.deadline != EntryHeader.never else { return }
    try setDeadline(after.deadline, position: after.sequence, of: entryKey, isIndexed: true)
    let due = UInt64(bitPattern: max(after.deadline, 0))
    if ledger.store.nextDue > due { ledger.updateStore { $0.nextDue = due } }
  }

  /// Removes an entry from the expiry index, after the record of the entry was removed.
  mutating func removeDeadline(of indexed: IndexedEntry) throws(LarderError) {
    let entryKey = indexed.position == 0 ? indexed.pinned : indexed.id.prefix
    try setDeadline(indexed.deadline, position: indexed.position, of: entryKey, isIndexed: false)
  }

  private mutating func setDeadline(
    _ deadline: Int64, position: UInt64, of entryKey: [UInt8], isIndexed: Bool
  ) throws(LarderError) {
    if position == 0 {
      let key = IndexKey.deadline(deadline, position: 0, entry: entryKey)
      if isIndexed {
        try transaction.put([], for: key, in: engine.indexes.deadlines)
      } else {
        try transaction.remove(key, from: engine.indexes.deadlines)
      }
      return
    }
    let block = ExpiryBlock(deadline, position: position, in: entryKey.span.namespaceID)
    if let other = deadlines.set(position, of: block, to: isIndexed) { try write(other) }
  }

  mutating func flushDeadlines() throws(LarderError) {
    for change in deadlines.takeAll() { try write(change) }
  }

  private mutating func write(_ change: PendingDeadlines.Change) throws(LarderError) {
    let database = engine.indexes.deadlines
    try IndexKey.withDeadline(of: change.block) { key throws(LarderError) in
      let before = try transaction.change { lmdb throws(LMDBError) -> UInt32? in
        guard let value = try lmdb.locate(key, in: database) else { return nil }
        return ExpiryRecord.positions(value) ?? 0
      }
      let positions = change.applied(to: before ?? 0)
      if positions == 0 {
        if before != nil { try transaction.remove(key, from: database) }
      } else if positions != before {
        try transaction.put(count: 4, for: key, in: database) { $0.append(littleEndian: positions) }
      }
    }
  }

  /// Moves an entry in its namespace's queue. Position 0 means that the entry is not in the queue.
  mutating func moveInQueue(
    _ entryKey: [UInt8], from before: UInt64, to position: UInt64
  ) throws(LarderError) {
    guard position != before else { return }
    let id = entryKey.span.namespaceID
    if before != 0 {
      try IndexKey.withQueue(before, in: id) { key throws(LarderError) in
        _ = try transaction.remove(key, from: engine.indexes.queue)
      }
    }
    if position == 0 { return }
    let storedKey = entryKey.span.extracting(droppingFirst: 4)
    try IndexKey.withQueue(position, in: id) { key throws(LarderError) in
      try transaction.put(storedKey, for: key, in: engine.indexes.queue)
    }
  }

  mutating func replaceTags(
    _ before: EntryFields, with after: EntryFields, of entryKey: [UInt8]
  ) throws(LarderError) {
    let (old, new) = (before.tagKeys(of: entryKey), after.tagKeys(of: entryKey))
    try transaction.remove(Array(old.subtracting(new)), from: engine.indexes.tags)
    for key in new.subtracting(old) { try transaction.put([], for: key, in: engine.indexes.tags) }
    let (hadOwners, hasOwners) = (!before.owners.isEmpty, !after.owners.isEmpty)
    if hadOwners != hasOwners {
      ledger.updateStore { $0.dependents = hasOwners ? $0.dependents &+ 1 : $0.dependents &- 1 }
    }
  }

  mutating func writeChunks(_ value: Span<UInt8>, version: UInt64, in id: NamespaceID)
    throws(LarderError)
  {
    let size = engine.reader.chunkSize
    for (index, offset) in stride(from: 0, to: value.count, by: size).enumerated() {
      let key = IndexKey.chunk(UInt32(index), of: version, in: id)
      let piece = value.extracting(offset..<min(offset + size, value.count))
      try transaction.put(piece, for: key.span, in: engine.indexes.chunks)
    }
  }

  mutating func removeChunks(of entry: StoredEntry) throws(LarderError) {
    var index: UInt32 = 0
    while try transaction.remove(
      IndexKey.chunk(index, of: entry.header.version, in: entry.id), from: engine.indexes.chunks)
    { index += 1 }
  }
}
