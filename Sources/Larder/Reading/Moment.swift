import LMDB

/// One moment of the store: every read through it sees the same commits, whatever is written meanwhile.
///
/// It is lent by ``Store/read(_:)`` and cannot leave it. Keep it short: pages freed meanwhile cannot be used again.
public struct Moment: ~Copyable {
  let transaction: ReadTransaction
  let core: StoreCore

  /// Lends the bytes of the fresh value under `key`; nil if there is none.
  public func withValue<Result>(
    for key: some StoreKey, in namespace: Namespace, _ body: (Span<UInt8>) throws -> Result
  ) throws -> Result? {
    var result: Result?
    try key.withKeyBytes { key in
      try core.lend(
        key, of: namespace.handle, in: transaction, leavesNotes: !namespace.store.isReadOnly
      ) { bytes in result = try body(bytes) }
    }
    return result
  }

  public func value(for key: some StoreKey, in namespace: Namespace) throws -> [UInt8]? {
    try withValue(for: key, in: namespace) { bytes in bytes.copied }
  }

  public func value<Value>(for key: some StoreKey, in cache: Cache<Value>) throws -> Value? {
    try withValue(for: key, in: cache.namespace) { bytes in cache.decodeCounting(bytes) } ?? nil
  }

  /// What is known of the entry under `key`, be it expired; counts nothing.
  public func entry(for key: some StoreKey, in namespace: Namespace) throws -> Entry? {
    try key.withKeyBytes { key in try core.entry(key, of: namespace.handle, in: transaction) }
  }

  public func contains(_ key: some StoreKey, in namespace: Namespace) throws -> Bool {
    try entry(for: key, in: namespace).map { $0.state == .fresh && !$0.isNegative } ?? false
  }
}

extension Store {
  /// Several reads of one moment.
  public func read<Result>(_ body: (borrowing Moment) throws -> Result) throws -> Result {
    try body(Moment(transaction: core.beginRead(), core: core))
  }
}
