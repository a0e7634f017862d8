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
    try scanRecords(id, prefix: prefix, behind: position, in: transaction) { entryKey, record in
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
    _ visit: (_ entryKey: Span<UInt8>, _ record: Span<UInt8>) throws -> Bool
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
    _ visit: (_ entryKey: Span<UInt8>, _ record: Span<UInt8>) throws -> Bool
  ) throws -> ScanPosition {
    var entryPrefix: [UInt8] = []
    entryPrefix.append(id: id)
    // A long key is stored with its first bytes. The caller compares a longer prefix with the whole key.
    entryPrefix += prefix.prefix(StoredKey.headCount)
    let start =
      position.map { $0.lexicographicallyPrecedes(entryPrefix) ? entryPrefix : $0 } ?? entryPrefix
    var looked = 0
    var bytes = 0
    var cursor = try transaction.cursor(in: .entries)
    var record = try cursor.seek(start.span)
    let idBytes = entryPrefix.span.halfWord(at: 0)
    if let position, let first = record, first.key.elementsEqual(position.span) {
      record = try cursor.next()
    }
    while let found = record, found.key.count > 4, found.key.halfWord(at: 0) == idBytes,
      prefix.isEmpty || found.key.starts(with: entryPrefix.span)
    {
      looked += 1
      bytes += found.value.count
      let isWanted = try visit(found.key, found.value)
      if !isWanted || looked >= Self.recordsPerSnapshot || bytes >= Self.bytesPerSnapshot {
        return ScanPosition(last: found.key.copied, isAtEnd: false)
      }
      record = try cursor.next()
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
    try scanRecords(id, prefix: prefix, behind: position, in: transaction) { entryKey, record in
      guard let header = EntryHeader(record), header.flags.isSubset(of: .pinned),
        entryKey.count > 5,
        entryKey[entryKey.count - 1] == 0, !transforms.hasRequired
      else {
        return try visitUncommon(
          entryKey, record, of: namespace, id, prefix, in: transaction, visit)
      }
      let key = entryKey.extracting(4..<entryKey.count - 1)
      guard prefix.isEmpty || key.starts(with: prefix.span),
        clock.state(of: header, at: clock.coarseNow) == .fresh,
        isIntact(header, record: record, keyHash: Checksum.keyHash(of: key, in: id))
      else { return true }
      return try visit(key, record.extracting(header.payloadStart..<record.count))
    }
  }

  /// Visits the keys of the entries of a namespace that have not expired, and reads neither values nor the use of entries.
  func scanKeys(
    _ id: NamespaceID, prefix: [UInt8], behind position: [UInt8]?,
    in transaction: borrowing ReadTransaction, _ visit: (_ key: Span<UInt8>) throws -> Bool
  ) throws -> ScanPosition {
    try scanRecords(id, prefix: prefix, behind: position, in: transaction) { entryKey, record in
      if let header = EntryHeader(record), header.flags.isSubset(of: .pinned), entryKey.count > 5,
        entryKey[entryKey.count - 1] == 0, !transforms.hasRequired
      {
        let key = entryKey.extracting(4..<entryKey.count - 1)
        guard prefix.isEmpty || key.starts(with: prefix.span),
          clock.state(of: header, at: clock.coarseNow) != .expired,
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

  @inline(never)
  private func visitUncommon(
    _ entryKey: Span<UInt8>, _ record: Span<UInt8>, of namespace: Store.Namespace,
    _ id: NamespaceID,
    _ prefix: [UInt8], in transaction: borrowing ReadTransaction,
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
