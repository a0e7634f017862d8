import LMDB
import LarderSystem

/// One moment of the store: every read through it sees the same commits, whatever is written meanwhile.
///
/// It is lent by ``Store/read(_:)`` and cannot leave it. Keep it short: pages freed meanwhile cannot be used again.
public struct Snapshot: ~Copyable {
  let transaction: ReadTransaction
  let engine: StoreEngine

  /// Lends the bytes of the fresh value under `key`; nil if there is none.
  public func withValue<Result>(
    for key: some StoreKey, in namespace: Store.Namespace, _ body: (Span<UInt8>) throws -> Result
  ) throws -> Result? {
    var result: Result?
    try key.withKeyBytes { key in
      try engine.lend(
        key, of: namespace.handle, in: transaction, recordsAccess: !namespace.store.isReadOnly
      ) { bytes in result = try body(bytes) }
    }
    return result
  }

  public func value(for key: some StoreKey, in namespace: Store.Namespace) throws -> [UInt8]? {
    try withValue(for: key, in: namespace) { bytes in bytes.copied }
  }

  public func value<Value>(for key: some StoreKey, in cache: Cache<Value>) throws -> Value? {
    try withValue(for: key, in: cache.namespace) { bytes in cache.decodeCounting(bytes) } ?? nil
  }

  /// What is known of the entry under `key`, be it expired; counts nothing.
  public func entry(for key: some StoreKey, in namespace: Store.Namespace) throws -> Store.Entry? {
    try key.withKeyBytes { key in try engine.entry(key, of: namespace.handle, in: transaction) }
  }

  public func contains(_ key: some StoreKey, in namespace: Store.Namespace) throws -> Bool {
    try entry(for: key, in: namespace).map { $0.state == .fresh && !$0.isNegative } ?? false
  }
}

extension Store {
  /// Several reads of one moment.
  public func read<Result>(_ body: (borrowing Snapshot) throws -> Result) throws -> Result {
    try body(Snapshot(transaction: engine.beginRead(), engine: engine))
  }
}
