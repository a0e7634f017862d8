import LMDB

extension Batch {
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
}
