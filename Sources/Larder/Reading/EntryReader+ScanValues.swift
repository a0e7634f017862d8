import LMDB
import LarderSystem

extension EntryReader {
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
