import LMDB
import LarderSystem

struct CachedEntry {
  var header: EntryHeader
  var state: Store.Entry.State
  /// The time to idle; nil if the entry has none, or if ``header`` already has the form for the memory tier.
  var idle: IdleInterval?
  /// The fields. Nil for a lookup that counts as a read, because a copy of the fields takes time.
  var fields: EntryFields?

  var remembered: EntryHeader { header.remembered(idle) }
  var isNegative: Bool { header.flags.contains(.negative) }
  var lifetime: Duration {
    Timestamp(milliseconds: header.written).duration(to: Timestamp(milliseconds: header.expires))
  }

  /// The lifetime of the entry, for a write that starts this lifetime again at `now`; nil if the entry never expires.
  func renewed(at now: Timestamp) -> Expiration? {
    if let idle { return .afterAccess(.milliseconds(idle.milliseconds)) }
    return header.expires == EntryHeader.never ? nil : .at(now.advanced(by: lifetime))
  }

  /// Whether the entry may be returned within `window` after its expiry. Nil means the whole stale window of the entry.
  func isWithin(_ window: Duration?, at now: Timestamp) -> Bool {
    guard state != .expired else { return false }
    // After the clock was set back, an entry may be stale before its expiry. A window of zero must not accept such an entry.
    guard let window else { return header.staleUntil > header.expires }
    return window > .zero && now < Timestamp(milliseconds: header.expires).advanced(by: window)
  }

  func isNearExpiry(_ ahead: Duration?, at now: Timestamp) -> Bool {
    guard let ahead, header.expires != EntryHeader.never else { return false }
    // Without this limit of half of the lifetime, a short-lived value would be loaded again immediately after each load.
    return now.advanced(by: ahead < lifetime ? ahead : lifetime / 2).milliseconds >= header.expires
  }
}

extension EntryReader {
  /// Finds the fresh or stale entry under `key`; nil if no such entry exists. Passes the value to `body`, except for a negative
  /// entry, and except if `isKnown` says that the caller has the value. `isKnown` also gets an entry that cannot be read. If
  /// `isRead` is true, the lookup counts as a read. Otherwise the result has the fields that can be decrypted.
  func lendEntry(
    _ key: Span<UInt8>, of handle: NamespaceHandle, id: NamespaceID,
    in transaction: borrowing ReadTransaction, isRead: Bool, recordsAccess: Bool,
    unless isKnown: (CachedEntry) -> Bool, _ body: (Span<UInt8>) throws -> Void
  ) throws -> CachedEntry? {
    let keyHash = Checksum.keyHash(of: key, in: id)
    let now = clock.coarseNow
    let found = try lookUp(key, in: id, keyHash: keyHash, at: now, transaction)
    if isRead, found.outcome != .fresh {
      recordMiss(found, key: key, of: handle, in: transaction, recordsAccess: recordsAccess)
    }
    let state: Store.Entry.State
    switch found.outcome {
    case .absent, .expired: return nil
    case .damaged:
      _ = isKnown(CachedEntry(header: found.header, state: .expired))
      return nil
    case .fresh: state = .fresh
    case .stale: state = .stale
    case .negative: state = clock.state(of: found.header, at: now)
    }
    var cached = CachedEntry(header: found.header, state: state, idle: found.idle)
    if !isRead {
      guard let fields = found.fields else { return nil }
      let context = TransformContext(
        key.copied, in: id, version: found.header.version, reader: self)
      cached.fields = transforms.readable(fields, of: context)
    } else if recordsAccess {
      recordAccess(found, key: key, at: now)
    }
    let isHit = isRead && cached.state == .fresh
    if isKnown(cached) {
      if isHit { handle.count(.hits, stripe: transaction.stripe) }
      return cached
    }
    if found.outcome == .negative { return cached }
    let done: Void? = try withValue(of: found, key: key, in: transaction) { value in
      if isHit { handle.count(.hits, stripe: transaction.stripe) }
      try body(value)
    }
    if done != nil { return cached }
    if isRead { handle.count(.damaged, stripe: transaction.stripe) }
    return nil
  }
}
