import LMDB
import LarderSystem

/// An entry, fresh or stale, as a load sees it.
struct CachedEntry {
  var id: NamespaceID
  var header: EntryHeader
  var state: Store.Entry.State
  var fields: EntryFields

  /// Whether the entry may be served within a window after its expiry.
  func isWithin(_ window: Duration?, at now: Timestamp) -> Bool {
    guard state != .expired else { return false }
    guard let window else { return true }
    let end = Timestamp(milliseconds: header.expires).advanced(by: window)
    return now < end
  }
}

extension EntryReader {
  /// Finds the entry under `key`, fresh or stale, and lends its value; a negative entry has none.
  ///
  /// - Parameters:
  ///   - id: the namespace's id in this transaction; ``NamespaceID/store`` if it does not exist.
  ///   - counts: whether it counts as a read.
  ///   - isKnown: called before the value is lent; true means that it is not needed.
  /// - Returns: nil if there is no entry, or an expired one.
  func lendKept(
    _ key: Span<UInt8>, of handle: NamespaceHandle, id: NamespaceID,
    in transaction: borrowing ReadTransaction, counts: Bool, recordsAccess: Bool,
    unless isKnown: (CachedEntry) -> Bool,
    _ body: (Span<UInt8>) throws -> Void
  ) throws -> CachedEntry? {
    let keyHash = Checksum.keyHash(of: key, in: id)
    let now = clock.coarseNow
    let found = try lookUp(key, in: id, keyHash: keyHash, at: now, transaction)
    if counts, found.outcome != .fresh {
      recordMiss(found, key: key, of: handle, in: transaction, recordsAccess: recordsAccess)
    }
    let state: Store.Entry.State
    switch found.outcome {
    case .absent, .damaged, .expired: return nil
    case .fresh: state = .fresh
    case .stale: state = .stale
    case .negative: state = clock.state(of: found.header, at: now)
    }
    guard var fields = EntryFields(found.record.extracting(found.header.fieldsRange)) else {
      return nil
    }
    if transforms.hasRequired || fields[.transformedMetadata] != nil {
      let entry = TransformContext(
        key.copied, in: id, version: found.header.version, reader: self)
      fields = transforms.readable(fields, of: entry)
    }
    let kept = CachedEntry(id: id, header: found.header, state: state, fields: fields)
    if recordsAccess { recordAccess(found, key: key, at: now) }
    if found.outcome == .negative { return kept }
    if isKnown(kept) {
      if counts, state == .fresh { handle.count(.hits, stripe: transaction.stripe) }
      return kept
    }
    let isWhole = try withValue(of: found, key: key, in: transaction) { value in
      if counts, state == .fresh { handle.count(.hits, stripe: transaction.stripe) }
      try body(value)
    }
    if isWhole { return kept }
    if counts { handle.count(.damaged, stripe: transaction.stripe) }
    return nil
  }
}
