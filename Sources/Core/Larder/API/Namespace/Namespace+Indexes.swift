import LMDB
import LarderSystem

/// Lists of keys. The caller looks each key up again, because an entry may change after the list was made.
extension Store.Namespace {
  /// The keys of the entries that carry `tag`; nil if the index has more than `most` such entries.
  package func keys(taggedWith tag: [UInt8], atMost most: Int) throws(LarderError) -> [[UInt8]]? {
    // A byte 0 ends a tag in the index, so no entry has a tag with a byte 0.
    guard !tag.isEmpty, !tag.contains(0) else { return [] }
    return try inSnapshot(ifAbsent: []) { id, transaction in
      let prefix = IndexKey.tag(tag, entry: id.prefix)
      var keys: [[UInt8]] = []
      var cursor = try transaction.cursor(in: engine.indexes.tags)
      var record = try cursor.seek(prefix.span)
      while let next = record, next.key.starts(with: prefix.span) {
        guard keys.count < most else { return nil }
        let entryKey = next.key.extracting((prefix.count - 4)..<next.key.count).copied
        if let key = try key(of: entryKey, in: transaction) { keys.append(key) }
        record = try cursor.next()
      }
      return keys
    }
  }

  /// The keys of entries that the expiry index lists at or before `end`. Nil if the index is damaged or lists more than `most`.
  package func keys(endingBy end: Timestamp, atMost most: Int) throws(LarderError) -> [[UInt8]]? {
    try inSnapshot(ifAbsent: []) { id, transaction in
      let prefix = id.prefix
      var keys: [[UInt8]] = []
      var cursor = try transaction.cursor(in: engine.indexes.deadlines)
      var record = try cursor.seek(prefix.span)
      while let next = record, next.key.starts(with: prefix.span) {
        guard let expiry = ExpiryRecord(next.key, next.value) else { return nil }
        if expiry.block.deadline > end.milliseconds { break }
        for indexed in expiry {
          guard keys.count < most else { return nil }
          if let entryKey = try indexed.entryKey(in: transaction, engine.indexes),
            let key = try key(of: entryKey, in: transaction)
          {
            keys.append(key)
          }
        }
        record = try cursor.next()
      }
      return keys
    }
  }

  /// The last `most` keys that begin with `prefix` and come before `end`, in reverse order. Includes keys of expired entries.
  package func lastKeys(
    prefix: [UInt8], before end: [UInt8]?, atMost most: Int
  ) throws(LarderError) -> [[UInt8]] {
    try inSnapshot(ifAbsent: []) { id, transaction in
      let range = id.prefix + prefix.prefix(StoredKey.headCount)
      let ends = [Self.behind(range), end.map { StoredKey.entry($0.span, in: id) }]
      let start = ends.compactMap(\.self).min { $0.lexicographicallyPrecedes($1) }
      var keys: [[UInt8]] = []
      var cursor = try transaction.cursor(in: .entries)
      // If `seek` finds no record, the cursor is after the last record, so `previous` gives the last record.
      if let start { _ = try cursor.seek(start.span) }
      var record = try start == nil ? cursor.last() : cursor.previous()
      while keys.count < most, let next = record, next.key.starts(with: range.span) {
        if let key = try key(of: next.key.copied, in: transaction), key.starts(with: prefix) {
          keys.append(key)
        }
        record = try cursor.previous()
      }
      return keys
    }
  }

  /// The smallest key after all keys that begin with `prefix`; nil if no such key exists.
  private static func behind(_ prefix: [UInt8]) -> [UInt8]? {
    guard let last = prefix.lastIndex(where: { $0 < .max }) else { return nil }
    return prefix[..<last] + [prefix[last] + 1]
  }

  /// The key of an entry; nil for a damaged record. Reads the record only for a long key, whose entry key is incomplete.
  private func key(
    of entryKey: [UInt8], in transaction: borrowing ReadTransaction
  ) throws -> [UInt8]? {
    guard entryKey.count > 5 else { return nil }
    if entryKey.last == 0 { return Array(entryKey[4..<(entryKey.count - 1)]) }
    return try transaction.entry(at: entryKey)?.key
  }
}
