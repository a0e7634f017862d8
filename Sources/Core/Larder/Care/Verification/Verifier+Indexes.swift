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
        report(
          .deadlines, "a record of the expiry index is damaged",
          remedy: .record(.deadlines, key.copied))
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
    let header = try entryKey.flatMap { key throws(LMDBError) in
      try self.header(at: key, transaction)
    }
    if header.map(indexed.leads) != true {
      report(
        .deadlines, "the expiry index has a record without an entry", of: entryKey,
        remedy: .record(.deadlines, key.copied))
    }
    // A purge may overlook a record that is due earlier than the state says. The recount corrects the state.
    if indexed.deadline < next {
      report(
        .deadlines, "it expires before the earliest time that the state allows", of: entryKey,
        remedy: .recount)
    }
  }

  mutating func checkQueue(_ transaction: borrowing ReadTransaction) throws(LMDBError) {
    try transaction.forEach(in: engine.indexes.queue) { key, record throws(LMDBError) in
      if let queued = QueueRecord(key, record) {
        if try header(at: queued.entryKey, transaction)?.sequence != queued.position {
          report(
            .queue, "the queue has a record without an entry", of: queued.entryKey,
            remedy: .record(.queue, key.copied))
        }
      } else {
        report(.queue, "a record of the queue is damaged", remedy: .record(.queue, key.copied))
      }
      try step()
    }
  }

  mutating func checkChunks(_ transaction: borrowing ReadTransaction) throws(LMDBError) {
    try transaction.forEach(in: engine.indexes.chunks) { key, _ throws(LMDBError) in
      if key.count != 16 {
        report(.chunks, "the key of a chunk is damaged", remedy: .record(.chunks, key.copied))
      } else {
        let index: UInt32 = key.bigEndian(at: 12)
        let count = chunked[key.namespaceID]?[key.bigEndian(at: 4)]
        if count.map({ Int(index) * engine.reader.chunkSize < $0 }) != true {
          report(
            .chunks, "there is a chunk \(index) without a value",
            remedy: .record(.chunks, key.copied))
        }
      }
      try step()
    }
  }

  /// Removes from ``unexplained`` the index records that an entry explains. Returns the tags and owners without a record.
  mutating func takeTags(
    of entry: StoredEntry, _ transaction: borrowing ReadTransaction
  ) throws(LMDBError) -> [String] {
    let owners = entry.owners.map { owner in
      (IndexKey.owner(owner.entryKey, entry: entry.entryKey), "its owner", owner.key)
    }
    let tags = entry.fields.tags.map { tag in
      (IndexKey.tag(tag, entry: entry.entryKey), "tag", tag)
    }
    var missing: [String] = []
    var seen: Set<[UInt8]> = []
    for (key, kind, name) in owners + tags where seen.insert(key).inserted {
      if try transaction.find(key, in: engine.indexes.tags) == nil {
        missing.append("\(kind) \(Key(name))")
      } else {
        unexplained.remove(key)
      }
    }
    return missing
  }

  /// Checks that an entry explains each record of the tag index. Looks entries up only for records that may be unexplained,
  /// because a lookup reads all tags of the entry.
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
    guard let entryKey = IndexKey.tagged(key) else {
      return report(.tags, "a record of the tag index is damaged", remedy: .record(.tags, key))
    }
    if try transaction.entry(at: entryKey)?.tagKeys.contains(key) != true {
      report(
        .tags, "the tag index has a record without an entry", of: entryKey,
        remedy: .record(.tags, key))
    }
  }

  private func header(
    at entryKey: [UInt8], _ transaction: borrowing ReadTransaction
  ) throws(LMDBError) -> EntryHeader? {
    guard let region = try transaction.find(entryKey, in: .entries) else { return nil }
    return EntryHeader(transaction.bytes(of: region))
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
