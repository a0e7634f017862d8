import LMDB
import LarderSystem

extension EntryReader {
  /// How many records, and how many bytes of them, a scan reads in one snapshot before it takes a new one.
  private static let recordsPerSnapshot = 500
  private static let bytesPerSnapshot = 4 << 20

  /// How far a scan has come.
  struct ScanPosition {
    /// The entry key of the last record that was read; the scan continues behind it.
    var last: [UInt8]
    var isAtEnd: Bool
  }

  /// Visits the entries of a namespace in stored order, from behind `position`, in one snapshot and for a bounded number of
  /// records. Damaged and invalidated entries are skipped, expired ones are not.
  ///
  /// - Parameter visit: called with the entry, its key and its payload; returns whether to continue.
  func scan(
    _ id: NamespaceID, prefix: [UInt8], behind position: [UInt8]?,
    in transaction: borrowing ReadTransaction,
    _ visit: (StoredEntry, [UInt8], Span<UInt8>) throws -> Bool
  ) throws -> ScanPosition {
    try scanRecords(id, prefix: prefix, behind: position, in: transaction) { entryKey, record, _ in
      guard let (entry, key) = try intactEntry(entryKey, record, id, prefix, in: transaction) else {
        return true
      }
      return try visit(entry, key, record.extracting(entry.header.payloadStart..<record.count))
    }
  }

  /// The entry of a record and its key; nil if the key has another prefix, or the entry is damaged or invalidated.
  private func intactEntry(
    _ entryKey: Span<UInt8>, _ record: Span<UInt8>, _ id: NamespaceID, _ prefix: [UInt8],
    in transaction: borrowing ReadTransaction
  ) throws -> (StoredEntry, [UInt8])? {
    guard let entry = StoredEntry(entryKey: entryKey.copied, record: record), let key = entry.key,
      key.starts(with: prefix),
      isIntact(entry.header, record: record, keyHash: Checksum.keyHash(of: key.span, in: id)),
      try !isHidden(entry.header, id: id, record: record, in: transaction),
      transforms.accepts(entry.header, record)
    else { return nil }
    return (entry, key)
  }

  /// Visits the records whose entry keys may be those of keys that begin with `prefix`.
  ///
  /// - Throws: a ``LarderError`` if reading fails, or the error of `visit`.
  @inline(__always)
  private func scanRecords(
    _ id: NamespaceID, prefix: [UInt8], behind position: [UInt8]?,
    in transaction: borrowing ReadTransaction,
    _ visit: (_ entryKey: Span<UInt8>, _ record: Span<UInt8>, _ now: Int64) throws -> Bool
  ) throws -> ScanPosition {
    do {
      return try visitRecords(id, prefix: prefix, behind: position, in: transaction, visit)
    } catch let error as LMDBError {
      throw environment.larderError(error)
    }
  }

  @inline(__always)
  private func visitRecords(
    _ id: NamespaceID, prefix: [UInt8], behind position: [UInt8]?,
    in transaction: borrowing ReadTransaction,
    _ visit: (_ entryKey: Span<UInt8>, _ record: Span<UInt8>, _ now: Int64) throws -> Bool
  ) throws -> ScanPosition {
    var entryPrefix: [UInt8] = []
    entryPrefix.append(id: id)
    // A long key is stored with its first bytes. The caller compares a longer prefix with the whole key.
    entryPrefix += prefix.prefix(StoredKey.headCount)
    let start =
      position.map { $0.lexicographicallyPrecedes(entryPrefix) ? entryPrefix : $0 } ?? entryPrefix
    let idBytes = entryPrefix.span.halfWord(at: 0)
    var runs = try transaction.runs(from: start.span, in: .main)
    var index = 0
    if let position, runs.count > 0, runs.key(0).elementsEqual(position.span) { index = 1 }
    var looked = 0
    var bytes = 0
    while runs.count > 0 {
      let now = clock.coarseNow
      while index < runs.count {
        let key = runs.key(index)
        guard key.count > 4, key.halfWord(at: 0) == idBytes,
          prefix.isEmpty || key.starts(with: entryPrefix.span)
        else { return ScanPosition(last: start, isAtEnd: true) }
        let value = runs.value(index)
        bytes &+= value.count
        guard try visit(key, value, clock.isSystem ? now : clock.coarseNow) else {
          return ScanPosition(last: key.copied, isAtEnd: false)
        }
        index &+= 1
      }
      looked += runs.count
      if looked >= Self.recordsPerSnapshot || bytes >= Self.bytesPerSnapshot {
        return ScanPosition(last: runs.key(runs.count - 1).copied, isAtEnd: false)
      }
      try runs.next()
      index = 0
    }
    return ScanPosition(last: start, isAtEnd: true)
  }

  /// Visits the keys and values of the fresh entries of a namespace as ``scan(_:prefix:behind:in:_:)`` does.
  ///
  /// Nothing is allocated for an entry with a short key, a value in one piece, no tags and no time to idle.
  func scanValues(
    of namespace: Store.Namespace, _ id: NamespaceID, prefix: [UInt8], behind position: [UInt8]?,
    in transaction: borrowing ReadTransaction,
    _ visit: (_ key: Span<UInt8>, _ value: Span<UInt8>) throws -> Bool
  ) throws -> ScanPosition {
    try scanRecords(id, prefix: prefix, behind: position, in: transaction) { entryKey, record, now in
      guard let plain = PlainRecord(record), plain.isFresh(at: now), entryKey.count > 5,
        entryKey[entryKey.count - 1] == 0, !transforms.hasRequired
      else {
        return try visitOther(
          entryKey, record, of: namespace, id, prefix, at: now, in: transaction, visit)
      }
      let key = entryKey.extracting(4..<entryKey.count - 1)
      guard prefix.isEmpty || key.starts(with: prefix.span),
        EntryHeader.isIntact(record, keyHash: Checksum.keyHash(of: key, in: id))
      else { return true }
      return try visit(key, record.extracting(plain.size..<record.count))
    }
  }

  /// Visits the keys of the entries of a namespace that have not expired, and reads neither values nor the use of entries.
  func scanKeys(
    _ id: NamespaceID, prefix: [UInt8], behind position: [UInt8]?,
    in transaction: borrowing ReadTransaction, _ visit: (_ key: Span<UInt8>) throws -> Bool
  ) throws -> ScanPosition {
    try scanRecords(id, prefix: prefix, behind: position, in: transaction) { entryKey, record, now in
      if let header = EntryHeader(record), header.flags.isSubset(of: .pinned), entryKey.count > 5,
        entryKey[entryKey.count - 1] == 0, !transforms.hasRequired
      {
        let key = entryKey.extracting(4..<entryKey.count - 1)
        guard prefix.isEmpty || key.starts(with: prefix.span),
          clock.state(of: header, at: now) != .expired,
          isIntact(header, record: record, keyHash: Checksum.keyHash(of: key, in: id))
        else { return true }
        return try visit(key)
      }
      guard let (entry, key) = try intactEntry(entryKey, record, id, prefix, in: transaction),
        facts(of: entry, key: Key(key), namespace: "", owners: []).state != .expired
      else { return true }
      return try visit(key.span)
    }
  }

  /// A record that has no plain header, or that is not fresh.
  @inline(never)
  private func visitOther(
    _ entryKey: Span<UInt8>, _ record: Span<UInt8>, of namespace: Store.Namespace,
    _ id: NamespaceID, _ prefix: [UInt8], at now: Int64, in transaction: borrowing ReadTransaction,
    _ visit: (_ key: Span<UInt8>, _ value: Span<UInt8>) throws -> Bool
  ) throws -> Bool {
    guard let header = EntryHeader(record), header.flags.isSubset(of: .pinned),
      entryKey.count > 5, entryKey[entryKey.count - 1] == 0, !transforms.hasRequired
    else {
      return try visitUncommon(entryKey, record, of: namespace, id, prefix, in: transaction, visit)
    }
    let key = entryKey.extracting(4..<entryKey.count - 1)
    guard prefix.isEmpty || key.starts(with: prefix.span),
      clock.state(of: header, at: now) == .fresh,
      isIntact(header, record: record, keyHash: Checksum.keyHash(of: key, in: id))
    else { return true }
    return try visit(key, record.extracting(header.payloadStart..<record.count))
  }

  @inline(never)
  private func visitUncommon(
    _ entryKey: Span<UInt8>, _ record: Span<UInt8>, of namespace: Store.Namespace,
    _ id: NamespaceID, _ prefix: [UInt8], in transaction: borrowing ReadTransaction,
    _ visit: (_ key: Span<UInt8>, _ value: Span<UInt8>) throws -> Bool
  ) throws -> Bool {
    guard let (entry, key) = try intactEntry(entryKey, record, id, prefix, in: transaction) else {
      return true
    }
    let facts = facts(of: entry, key: Key(key), namespace: namespace.name, owners: [])
    guard facts.state == .fresh, !facts.isNegative else { return true }
    let payload = record.extracting(entry.header.payloadStart..<record.count)
    return try withValue(of: entry, payload, key: key, in: transaction) {
      try visit(key.span, $0)
    } ?? true
  }

  /// Lends the value of an entry that a scan has found, as it was written; nil if it is damaged.
  func withValue<Result>(
    of entry: StoredEntry, _ payload: Span<UInt8>, key: [UInt8],
    in transaction: borrowing ReadTransaction, _ body: (Span<UInt8>) throws -> Result
  ) throws -> Result? {
    let (flags, id, version) = (entry.header.flags, entry.id, entry.header.version)
    guard flags.contains(.chunked) || flags.contains(.transformed) else { return try body(payload) }
    var value =
      flags.contains(.chunked)
      ? try assemble(payload, id: id, version: version, in: transaction) : payload.copied
    if flags.contains(.transformed), let stored = value {
      let context = TransformContext(key, in: id, version: version, reader: self)
      value = try transforms.restore(stored, entry.fields, of: context)
    }
    return try value.map { try body($0.span) }
  }
}
