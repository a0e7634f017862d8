import LMDB
import LarderSystem

// An entry's facts together with its value, in one lookup.

extension Store.Namespace {
  /// Lends the entry under `key`, expired ones included, and its value to `body`, in one lookup; returns nil without one.
  ///
  /// An inspection: it counts neither as a read nor as an access. The value of a negative entry is empty. The bytes cannot
  /// leave `body`; keep it short, because pages that are freed meanwhile cannot be used again before it ends. O(log n), and
  /// O(namespaces) for an entry with owners.
  ///
  /// - Throws: the error of `body`, or ``LarderError`` if LMDB fails. A damaged entry is not an error: the result is nil.
  public func withEntry<Result>(
    for key: some StoreKey, _ body: (Store.Entry, Span<UInt8>) throws -> Result
  ) throws -> Result? {
    try store.read { snapshot in try snapshot.withEntry(for: key, in: self, body) }
  }

  /// Lends the fresh entry under `key` and its value to `body`, in one lookup; returns nil without one.
  ///
  /// A read of the application: it counts as a hit or a miss, and as an access. In all else as ``withEntry(for:_:)``.
  ///
  /// - Throws: the error of `body`, or ``LarderError`` if LMDB fails.
  public func withFreshEntry<Result>(
    for key: some StoreKey, _ body: (Store.Entry, Span<UInt8>) throws -> Result
  ) throws -> Result? {
    try store.read { snapshot in try snapshot.withFreshEntry(for: key, in: self, body) }
  }
}

extension Snapshot {
  /// Lends the entry under `key` and its value as ``Store/Namespace/withEntry(for:_:)`` does.
  ///
  /// - Throws: the error of `body`, or ``LarderError`` if LMDB fails.
  public func withEntry<Result>(
    for key: some StoreKey, in namespace: Store.Namespace,
    _ body: (Store.Entry, Span<UInt8>) throws -> Result
  ) throws -> Result? {
    try key.withKeyBytes { key in
      let id = try engine.reader.identify(namespace.handle, in: transaction)
      let keyHash = Checksum.keyHash(of: key, in: id)
      let found = try engine.reader.lookUp(
        key, in: id, keyHash: keyHash, at: engine.clock.coarseNow, transaction)
      return try lend(found, key: key, in: namespace, body)
    }
  }

  /// Lends the fresh entry under `key` and its value as ``Store/Namespace/withFreshEntry(for:_:)`` does.
  ///
  /// - Throws: the error of `body`, or ``LarderError`` if LMDB fails.
  public func withFreshEntry<Result>(
    for key: some StoreKey, in namespace: Store.Namespace,
    _ body: (Store.Entry, Span<UInt8>) throws -> Result
  ) throws -> Result? {
    try key.withKeyBytes { key in
      let handle = namespace.handle
      let recordsAccess = !namespace.store.isReadOnly
      let id = try engine.reader.identify(handle, in: transaction)
      let keyHash = Checksum.keyHash(of: key, in: id)
      let now = engine.clock.coarseNow
      let found = try engine.reader.lookUp(key, in: id, keyHash: keyHash, at: now, transaction)
      guard found.outcome == .fresh else {
        engine.reader.recordMiss(
          found, key: key, of: handle, in: transaction, recordsAccess: recordsAccess)
        return nil
      }
      let result = try lend(found, key: key, in: namespace) { entry, value in
        handle.count(.hits, stripe: transaction.stripe)
        if recordsAccess { engine.reader.recordAccess(found, key: key, at: now) }
        return try body(entry, value)
      }
      return result
    }
  }

  /// Nil for a missing or damaged entry or chunk.
  private func lend<Result>(
    _ found: borrowing Lookup, key: Span<UInt8>, in namespace: Store.Namespace,
    _ body: (Store.Entry, Span<UInt8>) throws -> Result
  ) throws -> Result? {
    guard
      let entry = try engine.reader.entry(found, key: key, of: namespace.handle, in: transaction)
    else { return nil }
    var result: Result?
    _ = try engine.reader.withValue(of: found, key: key, in: transaction) { value in
      result = try body(entry, value)
    }
    return result
  }
}
