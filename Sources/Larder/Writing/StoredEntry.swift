import LMDB

/// An entry as a write finds it: all but the value.
struct StoredEntry {
  /// Its key in the main database.
  let slot: [UInt8]
  var header: EntryHeader
  let fields: EntryFields
  let valueCount: Int
  let recordCount: Int

  /// Bytes of header, fields and value.
  var storedCount: Int {
    header.flags.contains(.chunked) ? recordCount + valueCount : recordCount
  }

  init(slot: [UInt8], header: EntryHeader, fields: EntryFields, valueCount: Int, recordCount: Int) {
    self.slot = slot
    self.header = header
    self.fields = fields
    self.valueCount = valueCount
    self.recordCount = recordCount
  }

  /// Nil for a record that is damaged beyond telling what it indexes.
  init?(slot: [UInt8], record: Span<UInt8>) {
    guard let header = EntryHeader(record), header.payloadStart <= record.count,
      let fields = EntryFields(record.extracting(EntryHeader.size..<header.payloadStart))
    else { return nil }
    self.slot = slot
    self.header = header
    self.fields = fields
    recordCount = record.count
    let payload = record.extracting(header.payloadStart..<record.count)
    if header.flags.contains(.chunked) {
      valueCount = ChunkedPayload(payload)?.count ?? 0
    } else {
      valueCount = payload.count
    }
  }

  var id: NamespaceID { slot.span.namespaceID }

  var storedKey: StoredKey { StoredKey(bytes: Array(slot.dropFirst(4))) }

  /// The key itself; nil only if a long key's field is missing.
  var key: [UInt8]? { fields[.key] ?? storedKey.short }
}

/// What a write finds in a slot.
enum Occupant {
  case nobody
  case entry(StoredEntry)
  /// A record that cannot be trusted to say what it indexes and how long it is.
  case damaged
}

extension Batch {
  /// What is in the slot. A small record's checksum is looked at, because its lengths are about to be believed; for a
  /// large one that would cost more than it is worth.
  func occupant(of slot: [UInt8]) throws(LarderError) -> Occupant {
    try read { transaction throws(LMDBError) -> Occupant in
      guard let record = try transaction.value(for: slot, in: .main) else { return .nobody }
      guard let entry = StoredEntry(slot: slot, record: record), let key = entry.key else {
        return .damaged
      }
      let body = record.extracting(EntryHeader.size..<record.count)
      if body.count <= VerifiedValues.threshold,
        entry.header.expectedChecksum(id: entry.id, key: key.span, body: body)
          != entry.header.checksum
      {
        return .damaged
      }
      return .entry(entry)
    }
  }

  /// The entry of exactly that key; nil if the slot is empty, damaged, or another long key's.
  func entry(_ key: Span<UInt8>, in id: NamespaceID) throws(LarderError) -> StoredEntry? {
    guard !key.isEmpty, key.count <= Key.longest,
      case .entry(let found) = try occupant(of: StoredKey.entry(key, in: id)), found.has(key)
    else { return nil }
    return found
  }
}

extension StoredEntry {
  /// Whether the entry is that key's, and not that of another long key with the same stored form.
  func has(_ key: Span<UInt8>) -> Bool {
    !header.flags.contains(.longKey) || fields[.key].map { $0.span.elementsEqual(key) } == true
  }
}
