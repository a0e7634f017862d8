import LMDB

extension Batch {
  /// Removes an entry from every database and every count, for a reason that is counted.
  mutating func remove(_ entry: StoredEntry, reason: RemovalReason) throws(LarderError) {
    try erase(entry)
    try count(reason, bytes: entry.valueCount, in: entry.id)
  }

  /// Removes an entry from every database and every count.
  mutating func erase(_ entry: StoredEntry) throws(LarderError) {
    try countOut(Weight(entry), of: entry.id)
    try eraseRecords(entry)
  }

  /// The same without the counts, for an entry whose namespace was cleared: those have left them already.
  mutating func eraseRecords(_ entry: StoredEntry) throws(LarderError) {
    if let key = entry.key { core.access.forget(Checksum.place(of: key.span, in: entry.id)) }
    let indexes = core.indexes
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

  /// Gives an entry another end. The value and its version stay; the record is written anew, checksum and all.
  ///
  /// - Parameter isIndexed: whether the deadline index still has the entry where its header says.
  /// - Returns: false if the record is damaged: a new checksum must not vouch for it, so it is left as it is.
  mutating func reschedule(
    _ entry: StoredEntry, expires: Int64, staleUntil: Int64, written: Int64? = nil,
    isIndexed: Bool = true
  ) throws(LarderError) -> Bool {
    guard let key = entry.key, let body = try intactBody(of: entry, key: key) else { return false }
    var header = entry.header
    header.written = written ?? header.written
    header.expires = expires
    header.staleUntil = staleUntil
    header.deadline = try index(
      entry.slot, due: staleUntil, indexed: isIndexed ? header.deadline : EntryHeader.never)
    let fields = Int(header.fieldsCount)
    _ = try writeRecord(
      slot: entry.slot, header: header, fields: Array(body[..<fields]),
      payload: body.span.extracting(fields..<body.count), key: key.span)
    return true
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
