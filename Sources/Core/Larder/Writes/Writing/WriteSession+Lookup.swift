import LMDB
import LarderSystem

enum SlotContents {
  case empty
  case entry(StoredEntry)
  /// A record is stored, but neither its content nor its length can be trusted.
  case damaged
}

extension WriteSession {
  /// The contents under `entryKey`. The cursor stays at the record, because most callers then replace or remove the record. The
  /// batch will rely on the record, so its checksum must match. For a large record, the checksum would need the whole record from
  /// the disk. So a large record must instead be in each index at the place that its header gives.
  mutating func contents(of entryKey: [UInt8]) throws(LarderError) -> SlotContents {
    let found = try transaction.change { lmdb throws(LMDBError) -> SlotContents in
      guard let record = try lmdb.locate(entryKey.span, in: .entries) else { return .empty }
      guard let entry = StoredEntry(entryKey: entryKey, record: record) else { return .damaged }
      return entry.isLarge || entry.isIntact(record) ? .entry(entry) : .damaged
    }
    guard case .entry(let entry) = found, entry.isLarge else { return found }
    return try isIndexed(entry) ? found : .damaged
  }

  private mutating func isIndexed(_ entry: StoredEntry) throws(LarderError) -> Bool {
    guard entry.keyHash != nil, entry.fields.tags.allSatisfy({ $0.count <= IndexKey.longestTag }),
      entry.header.sequence != 0 || entry.header.flags.contains(.pinned)
    else { return false }
    try flushDeadlines()
    let indexes = engine.indexes
    return try transaction.read { lmdb throws(LMDBError) -> Bool in
      for key in entry.tagKeys where try lmdb.value(for: key, in: indexes.tags) == nil {
        return false
      }
      return try entry.isInExpiryIndex(lmdb, indexes) ? entry.isInQueue(lmdb, indexes) : false
    }
  }

  /// The entry with exactly this key. Nil if the entry is missing or damaged, or if the record belongs to another long key.
  mutating func entry(_ key: Span<UInt8>, in id: NamespaceID) throws(LarderError) -> StoredEntry? {
    guard !key.isEmpty, key.count <= Key.longest,
      case .entry(let found) = try contents(of: StoredKey.entry(key, in: id)), found.has(key)
    else { return nil }
    return found
  }

  /// The entry with this key. Nil if the entry is absent, expired, invalidated or damaged.
  mutating func living(_ key: Span<UInt8>, in namespace: String) throws(LarderError) -> StoredEntry?
  {
    guard let id = try self.namespace(namespace)?.id, let entry = try entry(key, in: id)
    else { return nil }
    if state(of: entry) == .expired { return nil }
    return try isHidden(entry) ? nil : entry
  }

  /// Whether a tag of the entry was invalidated after its write. If a tombstone is damaged, true for each entry with tags.
  mutating func isHidden(_ entry: StoredEntry) throws(LarderError) -> Bool {
    let (count, generation, seal) = (state.tombstones, state.generation, engine.seal)
    guard count > 0, entry.header.flags.contains(.tagged) else { return false }
    if hiding?.generation != generation {
      let all = try transaction.read { lmdb throws(LMDBError) in try Tombstone.all(in: lmdb, seal) }
      hiding = (generation, all)
    }
    let (tombstones, tags) = (hiding?.tombstones ?? [], entry.fields.tags)
    return tombstones.count < count
      || tombstones.contains { $0.hides(entry.id, version: entry.header.version, tags: tags) }
  }

  /// Whether an entry is fresh, stale or expired now, including accesses that are only in memory.
  mutating func state(of entry: StoredEntry) -> Store.Entry.State {
    let idle = entry.header.flags.contains(.idle) ? entry.fields.idle : nil
    return engine.leftovers.accesses.current(entry.header, idle: idle, entryKey: entry.entryKey)
      .state(at: now.milliseconds)
  }

  /// A copy of an entry's fields and payload. Nil if the checksum does not match.
  mutating func intactBody(of entry: StoredEntry) throws(LarderError) -> [UInt8]? {
    try transaction.read { lmdb throws(LMDBError) -> [UInt8]? in
      guard let record = try lmdb.value(for: entry.entryKey, in: .entries), entry.isIntact(record)
      else { return nil }
      return record.extracting(entry.header.size..<record.count).copied
    }
  }

  /// The value of an entry. Nil if the entry is negative or damaged, or has transforms that this store does not accept.
  mutating func value(of entry: StoredEntry) throws(LarderError) -> [UInt8]? {
    let header = entry.header
    guard !header.flags.contains(.negative), let body = try intactBody(of: entry)
    else { return nil }
    let payload = Array(body[Int(header.fieldsCount)...])
    var stored: [UInt8]? = payload
    if entry.isCut {
      let chunks = engine.indexes.chunks
      stored = try transaction.read { lmdb throws(LMDBError) in
        try lmdb.assemble(payload.span, version: header.version, in: entry.id, chunks)
      }
    }
    // A forged entry may have steps where a read does not look for steps. Such steps do not set the flag.
    let isTransformed = header.flags.contains(.transformed)
    let steps = isTransformed ? entry.fields.transforms : nil
    guard engine.transforms.isComplete(steps) else { return nil }
    guard isTransformed, let stored, let key = entry.key else { return stored }
    let place = TransformContext(key, in: entry.id, version: header.version, reader: engine.reader)
    return try engine.transforms.revert(steps, stored, place)
  }
}
