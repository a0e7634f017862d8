import LMDB
import LarderSystem

struct ScannedRecord: ~Escapable {
  let entryKey: Span<UInt8>
  let record: Span<UInt8>
  /// Whether the entry is fresh and intact. Always false for an entry with a long key or a header that is not plain.
  let isVerified: Bool
  /// The time at which the run with this record was read.
  let now: Int64

  @_lifetime(copy entryKey, copy record)
  @inline(__always)
  init(_ entryKey: Span<UInt8>, _ record: Span<UInt8>, isVerified: Bool, now: Int64) {
    self.entryKey = entryKey
    self.record = record
    self.isVerified = isVerified
    self.now = now
  }

  /// - Precondition: the key is short, so the entry key has the whole key.
  @inline(__always)
  var key: Span<UInt8> {
    @_lifetime(copy self)
    get { entryKey.extracting(4..<entryKey.count &- 1) }
  }
}

extension EntryReader {
  /// Visits the keys and values of the fresh entries of a namespace, like `scan`, but allocates no memory for a plain entry.
  func scanValues(
    of namespace: Store.Namespace, _ id: NamespaceID, prefix: [UInt8], behind position: [UInt8]?,
    in transaction: borrowing ReadTransaction,
    _ visit: (_ key: Span<UInt8>, _ value: Span<UInt8>) throws -> Bool
  ) throws -> [UInt8]? {
    try scanRecords(id, prefix: prefix, behind: position, verifiesPlain: true, in: transaction) {
      found in
      guard found.isVerified else {
        return try visitOther(found, of: namespace, id, prefix, in: transaction, visit)
      }
      guard prefix.isEmpty || found.key.starts(with: prefix.span) else { return true }
      return try visit(found.key, PlainRecord.payload(of: found.record))
    }
  }

  /// Visits the keys of the entries that have not expired, without assembling chunks or undoing transforms.
  func scanKeys(
    _ id: NamespaceID, prefix: [UInt8], behind position: [UInt8]?,
    in transaction: borrowing ReadTransaction, _ visit: (_ key: Span<UInt8>) throws -> Bool
  ) throws -> [UInt8]? {
    try scanRecords(id, prefix: prefix, behind: position, verifiesPlain: true, in: transaction) {
      found in
      if found.isVerified {
        return try prefix.isEmpty || found.key.starts(with: prefix.span) ? visit(found.key) : true
      }
      if let header = plainHeader(of: found) {
        guard matches(found, header, id, prefix),
          clock.state(of: header, at: found.now) != .expired
        else { return true }
        return try visit(found.key)
      }
      guard
        let (entry, key) = try intactEntry(
          found.entryKey, found.record, id, prefix, in: transaction),
        facts(of: entry, key: Key(key), namespace: "", owners: []).state != .expired
      else { return true }
      return try visit(key.span)
    }
  }

  /// A bit mask of a run's entries that are plain, fresh and intact. Not inlined, so the loop can use all registers.
  @inline(never)
  func verifiedEntries(
    in runs: borrowing RecordRuns, of id: NamespaceID, at now: Int64
  ) -> UInt64 {
    if transforms.hasRequired { return 0 }
    var found: UInt64 = 0
    for index in 0..<runs.count {
      let key = runs.key(index)
      let record = runs.value(index)
      guard key.count > 5, key[key.count &- 1] == 0,
        let plain = PlainRecord(record), plain.isFresh(at: now),
        EntryHeader.isIntact(
          record, keyHash: Checksum.keyHash(of: key.extracting(4..<key.count &- 1), in: id))
      else { continue }
      found |= 1 &<< UInt64(truncatingIfNeeded: index)
    }
    return found
  }

  /// The header of an entry with a short key and no flag except `pinned`. Nil for other entries, or if a transform is required.
  private func plainHeader(of found: ScannedRecord) -> EntryHeader? {
    let count = found.entryKey.count
    guard count > 5, found.entryKey[count - 1] == 0, !transforms.hasRequired,
      let header = EntryHeader(found.record), header.flags.isSubset(of: .pinned)
    else { return nil }
    return header
  }

  /// Whether the key of a plain entry begins with `prefix`, and the checksum of the entry matches.
  private func matches(
    _ found: ScannedRecord, _ header: EntryHeader, _ id: NamespaceID, _ prefix: [UInt8]
  ) -> Bool {
    (prefix.isEmpty || found.key.starts(with: prefix.span))
      && isIntact(
        header, record: found.record, keyHash: Checksum.keyHash(of: found.key, in: id))
  }

  @inline(never)
  private func visitOther(
    _ found: ScannedRecord, of namespace: Store.Namespace, _ id: NamespaceID, _ prefix: [UInt8],
    in transaction: borrowing ReadTransaction,
    _ visit: (_ key: Span<UInt8>, _ value: Span<UInt8>) throws -> Bool
  ) throws -> Bool {
    let record = found.record
    if let header = plainHeader(of: found) {
      guard clock.state(of: header, at: found.now) == .fresh, matches(found, header, id, prefix)
      else { return true }
      return try visit(found.key, record.extracting(header.payloadStart..<record.count))
    }
    guard let (entry, key) = try intactEntry(found.entryKey, record, id, prefix, in: transaction)
    else { return true }
    let facts = facts(of: entry, key: Key(key), namespace: namespace.name, owners: [])
    guard facts.state == .fresh, !facts.isNegative else { return true }
    let payload = record.extracting(entry.header.payloadStart..<record.count)
    return try withValue(of: entry, payload, key: key, in: transaction) {
      try visit(key.span, $0)
    } ?? true
  }
}
