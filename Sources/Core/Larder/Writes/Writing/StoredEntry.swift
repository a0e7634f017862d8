import LMDB
import LarderSystem

struct StoredEntry {
  let entryKey: [UInt8]
  var header: EntryHeader
  let fields: EntryFields
  let valueCount: Int
  let recordCount: Int

  var isCut: Bool { header.flags.contains(.chunked) }

  var storedCount: Int { isCut ? recordCount + valueCount : recordCount }

  var weight: EntryWeight {
    EntryWeight(size: valueCount, stored: storedCount, queuePosition: header.sequence)
  }

  /// Nil if the record's keys in the indexes are unknown: damage, unknown flags, or a long key that does not match `entryKey`.
  init?(entryKey: [UInt8], record: Span<UInt8>) {
    guard let header = EntryHeader(record), header.flags.isSubset(of: .readable),
      let fields = EntryFields(record.extracting(header.fieldsRange)),
      fields[.key].map({
        entryKey.count > 4 && StoredKey.entry($0.span, in: entryKey.span.namespaceID) == entryKey
      }) != false
    else { return nil }
    self.entryKey = entryKey
    self.header = header
    self.fields = fields
    recordCount = record.count
    let payload = record.extracting(header.payloadStart..<record.count)
    valueCount =
      header.flags.contains(.chunked) ? ChunkedPayload(payload)?.count ?? 0 : payload.count
  }

  var id: NamespaceID { entryKey.span.namespaceID }

  var keyHash: UInt64? {
    let bytes = entryKey.span
    guard bytes.count > 4 else { return nil }
    if bytes[bytes.count - 1] == 0 {
      return Checksum.keyHash(of: bytes.extracting(4..<bytes.count - 1), in: id)
    }
    return fields[.key].map { Checksum.keyHash(of: $0.span, in: id) }
  }

  var storedKey: StoredKey { StoredKey(bytes: Array(entryKey.dropFirst(4))) }

  var key: [UInt8]? { fields[.key] ?? storedKey.short }

  var owners: [StoredOwner] { fields.owners }

  /// Whether the entry has exactly this key. Two long keys may have the same stored form.
  func has(_ key: Span<UInt8>) -> Bool {
    !header.flags.contains(.longKey) || fields[.key].map { $0.span.elementsEqual(key) } == true
  }

  /// Whether `record` is still the record that was parsed, and its checksum matches its content.
  func isIntact(_ record: Span<UInt8>) -> Bool {
    guard record.count == recordCount, let keyHash else { return false }
    return record.word(at: 0) == header.checksum && EntryHeader.isIntact(record, keyHash: keyHash)
  }

  /// Whether the record is so large that it is not read completely before it is replaced or removed.
  var isLarge: Bool { recordCount > 1 << 16 }

  /// Whether the expiry index has the entry. Also true if the entry never expires, and so has no place in the index.
  func isInExpiryIndex(
    _ view: borrowing some DatabaseView & ~Copyable, _ indexes: Indexes
  ) throws(LMDBError) -> Bool {
    if header.deadline == EntryHeader.never { return true }
    let key = IndexKey.deadline(header.deadline, position: header.sequence, entry: entryKey)
    guard let value = try view.value(for: key.span, in: indexes.deadlines) else { return false }
    return ExpiryRecord(key.span, value)?.contains(header.sequence) == true
  }

  /// Whether the queue has the entry. Also true if the entry has no position, and so no place in the queue.
  func isInQueue(
    _ view: borrowing some DatabaseView & ~Copyable, _ indexes: Indexes
  ) throws(LMDBError) -> Bool {
    if header.sequence == 0 { return true }
    let key = IndexKey.queue(header.sequence, in: id)
    return try view.value(for: key.span, in: indexes.queue)?.elementsEqual(storedKey.bytes.span)
      ?? false
  }

  var tagKeys: Set<[UInt8]> { fields.tagKeys(of: entryKey) }
}

extension EntryFields {
  var owners: [StoredOwner] { isEmpty ? [] : all(.owner).compactMap(StoredOwner.init) }

  func tagKeys(of entryKey: [UInt8]) -> Set<[UInt8]> {
    Set(
      tags.map { IndexKey.tag($0, entry: entryKey) }
        + owners.map { IndexKey.owner($0.entryKey, entry: entryKey) })
  }
}
