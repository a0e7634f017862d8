import LMDB

extension WriteBatch {
  /// Writes an entry's record anew with another header; fields, value and version stay.
  ///
  /// - Returns: false if the record is damaged: a new checksum must not vouch for it, so it is left as it is.
  mutating func rewrite(
    _ entry: StoredEntry, _ change: (inout EntryHeader) -> Void
  ) throws(LarderError) -> Bool {
    guard let key = entry.key, let body = try intactBody(of: entry, key: key) else { return false }
    var header = entry.header
    change(&header)
    let fields = Int(header.fieldsCount)
    _ = try writeRecord(
      slot: entry.slot, header: header, fields: Array(body[..<fields]),
      payload: body.span.extracting(fields..<body.count), key: key.span)
    return true
  }

  /// Writes an entry's record anew with other fields; header, value and version stay.
  ///
  /// - Parameter body: the record's, found intact.
  mutating func rewrite(
    _ entry: StoredEntry, fields: EntryFields, key: [UInt8], body: [UInt8]
  ) throws(LarderError) {
    let stored = try writeRecord(
      slot: entry.slot, header: entry.header, fields: fields.encoded(),
      payload: body.span.extracting(Int(entry.header.fieldsCount)..<body.count), key: key.span)
    // Where it has become shorter the sum wraps around to less.
    let grown = UInt64(bitPattern: Int64(stored - entry.recordCount))
    try update(entry.id) { $0.stored &+= grown }
    state.stored &+= grown
  }
}
