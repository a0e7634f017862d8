import LMDB
import LarderSystem

// The tag index: it must have exactly the records for the tags and owners of the entries.

/// Compares two sets of keys without holding either: one set must be a part of the other. Keys with the same hash share a
/// count. If the counts of both sets are equal, the sets are equal.
struct KeyCounts {
  private var counts = [Int](repeating: 0, count: 1 << 16)

  private static func place(_ key: [UInt8]) -> Int {
    Int(truncatingIfNeeded: Checksum.of(key.span, seed: 0) & 0xFFFF)
  }

  mutating func add(_ key: [UInt8]) { counts[Self.place(key)] += 1 }

  mutating func remove(_ key: [UInt8]) { counts[Self.place(key)] -= 1 }

  var hasRest: Bool { counts.contains { $0 != 0 } }

  /// Whether `key` may be an added key that was not removed.
  func mayLeave(_ key: [UInt8]) -> Bool { counts[Self.place(key)] != 0 }
}

extension Verifier {
  /// Takes the index records that an entry explains out of ``unexplained``, each once; returns faults for missing records.
  mutating func takeTags(
    of entry: StoredEntry, _ transaction: borrowing ReadTransaction
  ) throws(LMDBError) -> [Fault] {
    var missing: [Fault] = []
    var seen: Set<[UInt8]> = []
    for owner in entry.owners {
      let key = IndexKey.owner(owner.entryKey, entry: entry.entryKey)
      guard try isMissing(key, &seen, transaction) else { continue }
      missing.append(.missingOwner(Key(owner.key)))
    }
    for tag in entry.fields.tags {
      let key = IndexKey.tag(tag, entry: entry.entryKey)
      guard try isMissing(key, &seen, transaction) else { continue }
      missing.append(.missingTag(tag))
    }
    return missing
  }

  /// Whether the record of the key is missing; an existing record now counts as explained.
  private mutating func isMissing(
    _ key: [UInt8], _ seen: inout Set<[UInt8]>, _ transaction: borrowing ReadTransaction
  ) throws(LMDBError) -> Bool {
    guard seen.insert(key).inserted else { return false }
    guard try transaction.find(key, in: engine.indexes.tags) != nil else { return true }
    unexplained.remove(key)
    return false
  }

  /// Checks that entries explain all records of the tag index. The check looks up entries only for doubtful records,
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
      return report(.damagedTag(at: key))
    }
    let entry = try transaction.find(entryKey, in: .entries).flatMap {
      StoredEntry(entryKey: entryKey, record: transaction.bytes(of: $0))
    }
    if entry?.tagKeys.contains(key) != true {
      report(.danglingTag(at: key), of: entryKey)
    }
  }
}
