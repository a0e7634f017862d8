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
      var found: [[UInt8]] = []
      var cursor = try transaction.cursor(in: engine.indexes.tags)
      var record = try cursor.seek(prefix.span)
      while let next = record, next.key.starts(with: prefix.span) {
        guard found.count < most else { return nil }
        found.append(next.key.extracting((prefix.count - 4)..<next.key.count).copied)
        record = try cursor.next()
      }
      return try keys(of: found, in: transaction)
    }
  }

  /// The keys of entries whose deadline is `end` or earlier. Nil if the index is damaged, or for more than `most` keys.
  package func keys(endingBy end: Timestamp, atMost most: Int) throws(LarderError) -> [[UInt8]]? {
    try inSnapshot(ifAbsent: []) { id, transaction in
      let prefix = id.prefix
      var found: [[UInt8]] = []
      var cursor = try transaction.cursor(in: engine.indexes.deadlines)
      var record = try cursor.seek(prefix.span)
      while let next = record, next.key.starts(with: prefix.span) {
        guard let expiry = ExpiryRecord(next.key, next.value) else { return nil }
        if expiry.block.deadline > end.milliseconds { break }
        for indexed in expiry {
          guard found.count < most else { return nil }
          if let key = try indexed.entryKey(in: transaction, engine.indexes) { found.append(key) }
        }
        record = try cursor.next()
      }
      return try keys(of: found, in: transaction)
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
      var found: [[UInt8]] = []
      var cursor = try transaction.cursor(in: .entries)
      // If `seek` finds no record, the cursor is after the last record, so `previous` gives the last record.
      if let start { _ = try cursor.seek(start.span) }
      var record = try start == nil ? cursor.last() : cursor.previous()
      while found.count < most, let next = record, next.key.starts(with: range.span) {
        if let key = Self.key(of: next.key.copied, next.value), key.starts(with: prefix) {
          found.append(key)
        }
        record = try cursor.previous()
      }
      return found
    }
  }

  /// The smallest key after all keys that begin with `prefix`; nil if no such key exists.
  private static func behind(_ prefix: [UInt8]) -> [UInt8]? {
    guard let last = prefix.lastIndex(where: { $0 < .max }) else { return nil }
    return prefix[..<last] + [prefix[last] + 1]
  }

  private func keys(
    of entryKeys: [[UInt8]], in transaction: borrowing ReadTransaction
  ) throws(LMDBError) -> [[UInt8]] {
    var keys: [[UInt8]] = []
    for entryKey in entryKeys {
      if let key = Self.key(of: entryKey, Span()) {
        keys.append(key)
      } else if let region = try transaction.find(entryKey, in: .entries),
        let key = Self.key(of: entryKey, transaction.bytes(of: region))
      {
        keys.append(key)
      }
    }
    return keys
  }

  /// The key of an entry; nil for a damaged record. The record has the whole key if `entryKey` has only a part of a long key.
  private static func key(of entryKey: [UInt8], _ record: Span<UInt8>) -> [UInt8]? {
    guard entryKey.count > 5, entryKey.last != 0 else {
      return entryKey.count > 5 ? Array(entryKey[4..<(entryKey.count - 1)]) : nil
    }
    return StoredEntry(entryKey: entryKey, record: record)?.key
  }
}
