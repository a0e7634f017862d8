import LMDB
import LarderSystem

// Checks that the tag index has a record for each tag and owner of each entry, and no other record.

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

extension Verifier {
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
    guard let entryKey = IndexKey.tagged(key) else { return report(.damaged(.tags, at: key)) }
    let entry = try transaction.find(entryKey, in: .entries).flatMap {
      StoredEntry(entryKey: entryKey, record: transaction.bytes(of: $0))
    }
    if entry?.tagKeys.contains(key) != true {
      report(.dangling(.tags, at: key), of: entryKey)
    }
  }
}
