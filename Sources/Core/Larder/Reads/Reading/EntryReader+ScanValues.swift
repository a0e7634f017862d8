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
    _ id: NamespaceID, prefix: [UInt8], behind position: [UInt8]?,
    in transaction: borrowing ReadTransaction,
    _ visit: (_ key: Span<UInt8>, _ value: Span<UInt8>) throws -> Bool
  ) throws -> [UInt8]? {
    try scanRecords(id, prefix: prefix, behind: position, verifiesPlain: true, in: transaction) {
      found in
      guard found.isVerified else {
        return try visitOther(
          found, id, prefix, in: transaction,
          where: { state, isNegative in state == .fresh && !isNegative }
        ) { key, payload, entry in
          guard let entry else { return try visit(key, payload) }
          return try withValue(of: entry, payload, key: key.copied, in: transaction) {
            try visit(key, $0)
          } ?? true
        }
      }
      guard prefix.isEmpty || found.key.starts(with: prefix.span) else { return true }
      return try visit(found.key, PlainRecord.payload(of: found.record))
    }
  }

  /// Visits the keys of the entries that have not expired, or only of fresh values, without chunks and transforms.
  func scanKeys(
    _ id: NamespaceID, prefix: [UInt8], behind position: [UInt8]?, areFresh: Bool,
    in transaction: borrowing ReadTransaction, damaged: () -> Void,
    _ visit: (_ key: Span<UInt8>) throws -> Bool
  ) throws -> [UInt8]? {
    try scanRecords(id, prefix: prefix, behind: position, verifiesPlain: true, in: transaction) {
      found in
      if found.isVerified {
        return try prefix.isEmpty || found.key.starts(with: prefix.span) ? visit(found.key) : true
      }
      return try visitOther(
        found, id, prefix, in: transaction, damaged: damaged,
        where: { areFresh ? $0 == .fresh && !$1 : $0 != .expired }
      ) { key, _, _ in try visit(key) }
    }
  }

  /// A bit mask of a run's entries that are plain, fresh and intact. Not inlined, so the loop can use all registers.
  @inline(never)
  func verifiedEntries(in runs: borrowing RecordRuns, of id: NamespaceID, at now: Int64) -> UInt64 {
    if transforms.hasRequired { return 0 }
    var found: UInt64 = 0
    for index in 0..<runs.count {
      let key = runs.key(index)
      let record = runs.value(index)
      guard key.count > 5, key[key.count &- 1] == 0, PlainRecord.isFresh(record, at: now),
        EntryHeader.isIntact(
          record, keyHash: Checksum.keyHash(of: key.extracting(4..<key.count &- 1), in: id))
      else { continue }
      found |= 1 &<< UInt64(truncatingIfNeeded: index)
    }
    return found
  }

  /// Passes a record that is not verified to `visit`, if the record is intact, its key begins with `prefix`, and `isWanted` is
  /// true for its state. For an entry with a short key and no flag except `pinned`, `visit` gets no `StoredEntry`.
  @inline(never)
  private func visitOther(
    _ found: ScannedRecord, _ id: NamespaceID, _ prefix: [UInt8],
    in transaction: borrowing ReadTransaction, damaged: () -> Void = {},
    where isWanted: (_ state: Store.Entry.State, _ isNegative: Bool) -> Bool,
    _ visit: (_ key: Span<UInt8>, _ payload: Span<UInt8>, StoredEntry?) throws -> Bool
  ) throws -> Bool {
    let record = found.record
    let count = found.entryKey.count
    if count > 5, found.entryKey[count - 1] == 0, !transforms.hasRequired,
      let header = EntryHeader(record), header.flags.isSubset(of: .pinned)
    {
      guard isWanted(clock.state(of: header, at: found.now), false),
        prefix.isEmpty || found.key.starts(with: prefix.span)
      else { return true }
      if isIntact(header, record: record, keyHash: Checksum.keyHash(of: found.key, in: id)) {
        return try visit(found.key, record.extracting(header.payloadStart..<record.count), nil)
      }
    }
    guard
      let (entry, key) = try intactEntry(
        found.entryKey, record, id, prefix, in: transaction, damaged: damaged)
    else { return true }
    let idle = entry.header.flags.contains(.idle) ? entry.fields.idle : nil
    let header = leftovers.accesses.current(entry.header, idle: idle, entryKey: entry.entryKey)
    let state = header.state(at: clock.now.milliseconds)
    guard isWanted(state, header.flags.contains(.negative)) else { return true }
    return try visit(key.span, record.extracting(entry.header.payloadStart..<record.count), entry)
  }
}
