import LMDB
import LarderSystem

extension WriteBatch {
  /// Removes an entry from every database and every count, for a reason that is counted.
  mutating func remove(_ entry: StoredEntry, reason: RemovalReason) throws(LarderError) {
    try note(reason, entry)
    try erase(entry)
    try count(reason, bytes: entry.valueCount, in: entry.id)
  }

  /// A record that is being removed or replaced is damaged: it is counted, and its namespace's counts are taken anew.
  mutating func lose(_ slot: [UInt8]) throws(LarderError) {
    let id = slot.span.namespaceID
    damaged.insert(id)
    try count(.damaged, in: id)
    try noteDamaged(slot)
  }

  /// Removes an entry from every database and every count.
  mutating func erase(_ entry: StoredEntry) throws(LarderError) {
    try countOut(Weight(entry), of: entry.id)
    try eraseRecords(entry)
  }

  /// The same without the counts, for an entry whose namespace was cleared: those have left them already.
  mutating func eraseRecords(_ entry: StoredEntry) throws(LarderError) {
    if let place = entry.place { engine.access.forget(place) }
    let indexes = engine.indexes
    try change { transaction throws(LMDBError) in
      try transaction.remove(entry.slot, from: .main)
      try transaction.remove(
        IndexKey.queue(entry.header.sequence, in: entry.id), from: indexes.queue)
    }
    try unindex(entry.slot, deadline: entry.header.deadline)
    try indexTags([], before: entry.fields.tags, slot: entry.slot)
    if entry.header.flags.contains(.chunked) { try removeChunks(of: entry) }
    try indexOwners([], before: entry.owners, slot: entry.slot)
    try releaseDependents(of: entry.slot)
  }

  /// All that follows an entry's header, if the checksum says that it is what was written.
  mutating func intactBody(of entry: StoredEntry, key: [UInt8]) throws(LarderError) -> [UInt8]? {
    try read { transaction throws(LMDBError) -> [UInt8]? in
      guard let record = try transaction.value(for: entry.slot, in: .main) else { return nil }
      let body = record.extracting(EntryHeader.size..<record.count)
      let expected = entry.header.expectedChecksum(id: entry.id, key: key.span, body: body)
      return expected == entry.header.checksum ? body.copied : nil
    }
  }
}
