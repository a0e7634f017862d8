import LMDB
import LarderSystem

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

  /// Nil for a record that is damaged beyond telling what it indexes, or of a kind this build does not know.
  init?(slot: [UInt8], record: Span<UInt8>) {
    guard let header = EntryHeader(record), header.flags.isSubset(of: .known),
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

  /// Names the place of the key; nil only if a long key's field is missing.
  var place: UInt64? {
    if let long = fields[.key] { return Checksum.place(of: long.span, in: id) }
    let slot = slot.span
    guard slot[slot.count - 1] == 0 else { return nil }
    return Checksum.place(of: slot.extracting(4..<slot.count - 1), in: id)
  }

  var storedKey: StoredKey { StoredKey(bytes: Array(slot.dropFirst(4))) }

  /// The key itself; nil only if a long key's field is missing.
  var key: [UInt8]? { fields[.key] ?? storedKey.short }
}

/// What a write finds in a slot.
enum SlotContents {
  case nobody
  case entry(StoredEntry)
  /// A record that cannot be trusted to say what it indexes and how long it is.
  case damaged
}

extension StoredEntry {
  /// Whether the record is not read whole before it is replaced or removed.
  fileprivate var isLarge: Bool { recordCount - EntryHeader.size > 1 << 16 }
}

extension WriteBatch {
  /// What is in the slot. What the record says of itself is about to be believed, so its checksum is looked at. A large
  /// one would have to be fetched from the disk for that; instead the indexes must have it where it says it is.
  mutating func occupant(of slot: [UInt8]) throws(LarderError) -> SlotContents {
    // Most are looked at to be replaced or removed.
    let found = try change { transaction throws(LMDBError) -> SlotContents in
      guard let record = try transaction.locate(slot.span, in: .main) else { return .nobody }
      guard let entry = StoredEntry(slot: slot, record: record), let place = entry.place else {
        return .damaged
      }
      if entry.isLarge { return .entry(entry) }
      let body = record.extracting(EntryHeader.size..<record.count)
      return entry.header.expectedChecksum(place: place, body: body) == entry.header.checksum
        ? .entry(entry) : .damaged
    }
    guard case .entry(let entry) = found, entry.isLarge else { return found }
    let indexes = engine.indexes
    let isIndexed = try read { transaction throws(LMDBError) in
      try entry.isIndexed(in: transaction, indexes)
    }
    return isIndexed ? found : .damaged
  }

  /// The entry of exactly that key; nil if the slot is empty, damaged, or another long key's.
  mutating func entry(_ key: Span<UInt8>, in id: NamespaceID) throws(LarderError) -> StoredEntry? {
    guard !key.isEmpty, key.count <= Key.longest,
      case .entry(let found) = try occupant(of: StoredKey.entry(key, in: id)), found.has(key)
    else { return nil }
    return found
  }
}

extension StoredEntry {
  /// Whether each index has the entry where its header and fields say.
  func isIndexed(
    in transaction: borrowing WriteTransaction, _ indexes: Indexes
  ) throws(LMDBError) -> Bool {
    if header.deadline != EntryHeader.never,
      try transaction.value(
        for: IndexKey.deadline(header.deadline, entry: slot), in: indexes.deadlines) == nil
    {
      return false
    }
    for tag in fields.tags {
      guard tag.count <= IndexKey.longestTag,
        try transaction.value(for: IndexKey.tag(tag, entry: slot), in: indexes.tags) != nil
      else { return false }
    }
    for owner in owners
    where try transaction.value(for: IndexKey.owner(owner.slot, entry: slot), in: indexes.tags)
      == nil
    {
      return false
    }
    if header.sequence == 0 { return header.flags.contains(.pinned) }
    let place = IndexKey.queue(header.sequence, in: id)
    return try transaction.value(for: place, in: indexes.queue)?
      .elementsEqual(storedKey.bytes.span) ?? false
  }

  /// Whether a record of the tags is one of this entry's: for a tag it carries, or for an owner it has.
  func isIndexed(under key: [UInt8]) -> Bool {
    fields.tags.contains { IndexKey.tag($0, entry: slot) == key }
      || owners.contains { IndexKey.owner($0.slot, entry: slot) == key }
  }

  /// Whether the entry is that key's, and not that of another long key with the same stored form.
  func has(_ key: Span<UInt8>) -> Bool {
    !header.flags.contains(.longKey) || fields[.key].map { $0.span.elementsEqual(key) } == true
  }
}
