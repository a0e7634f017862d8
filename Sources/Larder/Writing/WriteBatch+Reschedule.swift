import LMDB

extension WriteBatch {
  /// Gives an entry another end. The value and its version stay; the record is written anew, checksum and all.
  ///
  /// - Parameters:
  ///   - idle: how long it may lie unused from now on.
  ///   - isIndexed: whether the deadline index still has the entry where its header says.
  /// - Returns: false if the record is damaged: a new checksum must not vouch for it, so it is left as it is.
  mutating func reschedule(
    _ entry: StoredEntry, expires: Int64, staleUntil: Int64, idle: IdleInterval?,
    written: Int64? = nil, isIndexed: Bool = true
  ) throws(LarderError) -> Bool {
    guard let key = entry.key, let body = try intactBody(of: entry, key: key) else { return false }
    var header = entry.header
    header.written = written ?? header.written
    header.expires = expires
    header.staleUntil = staleUntil
    header.deadline = try index(
      entry.slot, due: staleUntil, indexed: isIndexed ? header.deadline : EntryHeader.never)
    if idle == nil { header.flags.remove(.idle) } else { header.flags.insert(.idle) }
    var fields = entry.fields
    if fields.idle != idle { fields.idle = idle }
    let size = try writeRecord(
      slot: entry.slot, header: header, fields: fields.encoded(),
      payload: body.span.extracting(Int(entry.header.fieldsCount)..<body.count), key: key.span)
    let grown = UInt64(bitPattern: Int64(size - entry.recordCount))
    if grown != 0 {
      try update(entry.id) { $0.stored &+= grown }
      state.stored &+= grown
    }
    return true
  }
}
