import LMDB
import LarderSystem

extension EntryReader {
  /// The limits of a scan in one snapshot: a number of records, and a number of bytes, checked after each run of records.
  private static let recordsPerSnapshot = 500
  private static let bytesPerSnapshot = 4 << 20

  /// The entry of a record, and its key. Nil if the key has another prefix, a tag is invalidated, or a required transform is
  /// missing. For a damaged record, calls `damaged` and returns nil.
  func intactEntry(
    _ entryKey: Span<UInt8>, _ record: Span<UInt8>, _ id: NamespaceID, _ prefix: [UInt8],
    in transaction: borrowing ReadTransaction, damaged: () -> Void = {}
  ) throws -> (StoredEntry, [UInt8])? {
    guard let entry = StoredEntry(entryKey: entryKey.copied, record: record), let key = entry.key,
      isIntact(entry.header, record: record, keyHash: Checksum.keyHash(of: key.span, in: id))
    else {
      damaged()
      return nil
    }
    guard key.starts(with: prefix),
      try !isHidden(entry.header, id: id, record: record, in: transaction),
      transforms.accepts(entry.header, record)
    else { return nil }
    return (entry, key)
  }

  /// Visits records after `position` in stored order, in one snapshot and for a limited number of records: the records whose
  /// entry keys may belong to keys that begin with `prefix`. If `verifiesPlain` is set, verifies plain entries, one run of
  /// records at a time. Returns the entry key of the last record that was read, after which the next scan continues, or nil at
  /// the end. Throws a ``LarderError`` if reading fails, or the error of `visit`.
  @inline(__always)
  func scanRecords(
    _ id: NamespaceID, prefix: [UInt8], behind position: [UInt8]?, verifiesPlain: Bool,
    in transaction: borrowing ReadTransaction, _ visit: (ScannedRecord) throws -> Bool
  ) throws -> [UInt8]? {
    do {
      var entryPrefix = id.prefix
      // The entry key of a long key has only the first bytes of the key. The caller compares a longer prefix with the whole key.
      entryPrefix += prefix.prefix(StoredKey.headCount)
      let start =
        position.map { $0.lexicographicallyPrecedes(entryPrefix) ? entryPrefix : $0 } ?? entryPrefix
      let idBytes = entryPrefix.span.halfWord(at: 0)
      var runs = try transaction.runs(from: start.span, in: .entries)
      var index = 0
      if let position, runs.count > 0, runs.key(0).elementsEqual(position.span) { index = 1 }
      var left = Self.recordsPerSnapshot
      var bytes = 0
      while runs.count > 0 {
        let now = clock.coarseNow
        let verified = verifiesPlain ? verifiedEntries(in: runs, of: id, at: now) : 0
        let end = min(runs.count, index &+ left)
        left &-= end &- index
        while index < end {
          let key = runs.key(index)
          guard key.count > 4, key.halfWord(at: 0) == idBytes,
            prefix.isEmpty || key.starts(with: entryPrefix.span)
          else {
            // A damaged key may only seem to be after the range. Such a key is the last of its run, because a run ends before a
            // lower key. So after the last key of a run, `next` compares the following key, and throws if that key is lower.
            if index == runs.count &- 1 { try runs.next() }
            return nil
          }
          let record = runs.value(index)
          bytes &+= record.count
          let isVerified = verified &>> UInt64(truncatingIfNeeded: index) & 1 != 0
          guard try visit(ScannedRecord(key, record, isVerified: isVerified, now: now)) else {
            return key.copied
          }
          index &+= 1
        }
        if left == 0 || bytes >= Self.bytesPerSnapshot { return runs.key(end - 1).copied }
        try runs.next()
        index = 0
      }
      return nil
    } catch let error as LMDBError { throw environment.larderError(error) }
  }

  /// Passes the original value of a scanned entry to `body`. Returns nil if the value is damaged.
  func withValue<Result>(
    of entry: StoredEntry, _ payload: Span<UInt8>, key: [UInt8],
    in transaction: borrowing ReadTransaction, _ body: (Span<UInt8>) throws -> Result
  ) throws -> Result? {
    if entry.header.flags.isDisjoint(with: [.chunked, .transformed]) { return try body(payload) }
    let value = try wholeValue(
      payload, entry.header, entry.fields, key: key, in: entry.id, transaction)
    return try value.map { try body($0.span) }
  }
}
