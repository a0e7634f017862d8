import LMDB
import LarderSystem

extension Store.Namespace {
  /// Lends the bytes of the fresh value under `key` to `body`; nil if there is none.
  ///
  /// The bytes lie in the store's memory map: nothing is copied, and the compiler keeps them from leaving `body`. Keep
  /// `body` short: pages that are freed meanwhile cannot be used again before it ends. O(log n).
  @inlinable
  public func withValue<Result>(
    for key: some StoreKey, _ body: (Span<UInt8>) throws -> Result
  ) throws -> Result? {
    var result: Result?
    try key.withKeyBytes { key in
      try lend(key) { bytes in result = try body(bytes) }
    }
    return result
  }

  /// A copy of the fresh value under `key`, or nil.
  public func value(for key: some StoreKey) throws -> [UInt8]? {
    try withValue(for: key) { bytes in bytes.copied }
  }

  /// The fresh value under `key` as text, or nil; a value that is no UTF-8 is a miss that is counted.
  public func value(for key: some StoreKey) throws -> String? {
    guard let bytes: [UInt8] = try value(for: key) else { return nil }
    guard let text = String(validating: bytes, as: UTF8.self) else {
      handle.countUndecodable()
      return nil
    }
    return text
  }

  @usableFromInline
  func lend(_ key: Span<UInt8>, _ body: (Span<UInt8>) throws -> Void) throws {
    let transaction = try engine.beginRead()
    try engine.lend(key, of: handle, in: transaction, recordsAccess: !store.isReadOnly, body)
  }

  /// Whether there is a fresh value under `key`; counts nothing and removes nothing.
  public func contains(_ key: some StoreKey) throws -> Bool {
    try entry(for: key).map { $0.state == .fresh && !$0.isNegative } ?? false
  }

  /// What is known of the entry under `key`, be it expired; counts nothing and removes nothing.
  public func entry(for key: some StoreKey) throws -> Store.Entry? {
    try key.withKeyBytes { key in
      let transaction = try engine.beginRead()
      return try engine.entry(key, of: handle, in: transaction)
    }
  }
}
