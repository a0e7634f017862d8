import LMDB

/// What a load needs to know of what is stored under its key.
struct CachedEntry {
  var id: NamespaceID
  var header: EntryHeader
  var state: Store.Entry.State
  var fields: EntryFields

  /// Whether a value is served within a window after its freshness.
  func isWithin(_ window: Duration?, at now: Timestamp) -> Bool {
    guard state != .expired else { return false }
    guard let window else { return true }
    let end = Timestamp(milliseconds: header.expires).advanced(by: window)
    return now < end
  }
}

extension StoreEngine {
  /// Finds what is kept under `key`, fresh or stale, and lends its value; nothing is lent of an entry that says there is
  /// nothing.
  ///
  /// - Parameters:
  ///   - id: the namespace's in this transaction; ``NamespaceID/store`` if there is none.
  ///   - counts: whether it counts as a read.
  ///   - isKnown: told what would be lent; if it answers true, nothing is.
  /// - Returns: nil if there is nothing to be had under the key.
  func lendKept(
    _ key: Span<UInt8>, of handle: NamespaceHandle, id: NamespaceID,
    in transaction: borrowing ReadTransaction, counts: Bool, recordsAccess: Bool,
    unless isKnown: (CachedEntry) -> Bool,
    _ body: (Span<UInt8>) throws -> Void
  ) throws -> CachedEntry? {
    let stripe = transaction.stripe
    func count(_ kind: ReadCounters.Kind) { if counts { handle.count(kind, stripe: stripe) } }
    guard id != .store, let region = try find(key, id: id, in: transaction) else {
      count(.misses)
      return nil
    }
    let slot = StoredKey.entry(key, in: id)
    let place = Checksum.place(of: key, in: id)
    let record = transaction.bytes(of: region)
    guard let entry = StoredEntry(slot: slot, record: record),
      isIntact(entry.header, record: record, place: place)
    else {
      count(.damaged)
      return nil
    }
    guard entry.has(key),
      try !isHidden(entry.header, id: id, record: record, in: transaction)
    else {
      count(.misses)
      return nil
    }
    let now = coarseNow
    let idle = entry.header.flags.contains(.idle) ? entry.fields.idle : nil
    let header = current(entry.header, idle: idle, slot: slot)
    let kept = CachedEntry(
      id: id, header: header, state: state(of: header, at: now), fields: entry.fields)
    if kept.state == .expired {
      if counts {
        missed(
          .expired, key: key, id: id, of: handle, in: transaction, recordsAccess: recordsAccess)
      }
      return nil
    }
    if recordsAccess {
      access.touch(place, in: now / 60_000)
      if let idle { noteUse(entry.header, idle, key: key, id: id, at: now) }
    }
    if header.flags.contains(.negative) {
      count(.misses)
      return kept
    }
    count(kept.state == .fresh ? .hits : .stale)
    if isKnown(kept) { return kept }
    let payload = record.extracting(header.payloadStart..<record.count)
    guard header.flags.contains(.chunked) else {
      try body(payload)
      return kept
    }
    guard let value = try assemble(payload, id: id, version: header.version, in: transaction) else {
      count(.damaged)
      return nil
    }
    try body(value.span)
    return kept
  }
}
