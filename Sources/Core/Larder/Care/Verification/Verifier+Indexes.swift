import LMDB
import LarderSystem

/// Checks of the indexes: each record must lead to an entry with the position, time or tag of the record.
extension Verifier {
  mutating func checkDeadlines(_ transaction: borrowing ReadTransaction) throws(LMDBError) {
    let next = try transaction.state(engine.seal).map { Int64(clamping: $0.nextDue) } ?? 0
    try transaction.forEach(in: engine.indexes.deadlines) { key, record throws(LMDBError) in
      if let expiry = ExpiryRecord(key, record) {
        for indexed in expiry { try check(indexed, at: key, from: next, transaction) }
      } else {
        report(.damaged(.deadlines, at: key.copied))
      }
      try step()
    }
  }

  /// - Parameter next: the earliest time that an index record may have, by the state of the store.
  private mutating func check(
    _ indexed: IndexedEntry, at key: Span<UInt8>, from next: Int64,
    _ transaction: borrowing ReadTransaction
  ) throws(LMDBError) {
    let entryKey = try indexed.entryKey(in: transaction, engine.indexes)
    let header = try entryKey.flatMap { key throws(LMDBError) in try transaction.header(at: key) }
    if header.map(indexed.leads) != true {
      report(.dangling(.deadlines, at: key.copied), of: entryKey)
    }
    if indexed.deadline < next { report(.earlyDeadline, of: entryKey) }
  }

  mutating func checkQueue(_ transaction: borrowing ReadTransaction) throws(LMDBError) {
    try transaction.forEach(in: engine.indexes.queue) { key, record throws(LMDBError) in
      if let queued = QueueRecord(key, record) {
        if try transaction.header(at: queued.entryKey)?.sequence != queued.position {
          report(.dangling(.queue, at: key.copied), of: queued.entryKey)
        }
      } else {
        report(.damaged(.queue, at: key.copied))
      }
      try step()
    }
  }

  mutating func checkChunks(_ transaction: borrowing ReadTransaction) throws(LMDBError) {
    var (known, size) = ((NamespaceID.store, 0 as UInt64), 0)
    try transaction.forEach(in: engine.indexes.chunks) { key, chunk throws(LMDBError) in
      if key.count != 16 {
        report(.damaged(.chunks, at: key.copied))
      } else {
        let index: UInt32 = key.bigEndian(at: 12)
        let value = (key.namespaceID, key.bigEndian(at: 4) as UInt64)
        // A compaction may have copied the chunks from a file with other pages. So the first chunk tells the size of a chunk.
        if value != known {
          (known, size) = (value, index == 0 ? chunk.count : engine.reader.chunkSize)
        }
        let count = chunked[value.0]?[value.1]
        if count.map({ Int(index) * size < $0 }) != true {
          report(.dangling(.chunks, at: key.copied))
        }
      }
      try step()
    }
  }

  /// Removes from ``unexplained`` the index records that an entry explains. Returns a fault for each missing record.
  mutating func takeTags(
    of entry: StoredEntry, _ transaction: borrowing ReadTransaction
  ) throws(LMDBError) -> [Fault] {
    let owners = entry.owners.map { owner in
      (IndexKey.owner(owner.entryKey, entry: entry.entryKey), Fault.missingOwner(Key(owner.key)))
    }
    let tags = entry.fields.tags.map { tag in
      (IndexKey.tag(tag, entry: entry.entryKey), Fault.missingTag(tag))
    }
    var missing: [Fault] = []
    var seen: Set<[UInt8]> = []
    for (key, fault) in owners + tags where seen.insert(key).inserted {
      if try transaction.find(key, in: engine.indexes.tags) == nil {
        missing.append(fault)
      } else {
        unexplained.remove(key)
      }
    }
    return missing
  }

  /// Checks that an entry explains each record of the tag index. A lookup reads all tags, so only suspect records get one.
  mutating func checkTags(_ transaction: borrowing ReadTransaction) throws(LMDBError) {
    let tags = engine.indexes.tags
    try transaction.forEach(in: tags) { key, _ throws(LMDBError) in
      unexplained.add(key.copied)
      try step()
    }
    guard unexplained.hasRest else { return }
    try transaction.forEach(in: tags) { key, _ throws(LMDBError) in
      if unexplained.mayLeave(key.copied) { try checkTag(key.copied, transaction) }
      try look()
    }
  }

  private mutating func checkTag(
    _ key: [UInt8], _ transaction: borrowing ReadTransaction
  ) throws(LMDBError) {
    tagLookups += 1
    guard let entryKey = IndexKey.tagged(key) else { return report(.damaged(.tags, at: key)) }
    if try transaction.entry(at: entryKey)?.tagKeys.contains(key) != true {
      report(.dangling(.tags, at: key), of: entryKey)
    }
  }
}

/// Finds out whether two sets of keys are equal, without keeping the keys. One set must be a part of the other. Keys with the
/// same hash share a count. If all counts are 0 at the end, the sets are equal.
struct KeyCounts {
  private var counts = [Int](repeating: 0, count: 1 << 16)

  private static func place(_ key: [UInt8]) -> Int {
    Int(truncatingIfNeeded: Checksum.of(key.span, seed: 0) & 0xFFFF)
  }

  mutating func add(_ key: [UInt8]) { counts[Self.place(key)] += 1 }

  mutating func remove(_ key: [UInt8]) { counts[Self.place(key)] -= 1 }

  var hasRest: Bool { counts.contains { $0 != 0 } }

  /// Whether `key` may be a key that was added but not removed.
  func mayLeave(_ key: [UInt8]) -> Bool { counts[Self.place(key)] != 0 }
}
