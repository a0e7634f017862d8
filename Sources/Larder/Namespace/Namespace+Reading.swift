import LMDB
import LarderSystem

extension Store.Namespace {
  /// Lends the bytes of the fresh value under `key` to `body`; nil without a fresh value.
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

  /// A copy of the fresh value under `key`, or nil. O(log n).
  public func value(for key: some StoreKey) throws(LarderError) -> [UInt8]? {
    try engine.typed { try withValue(for: key) { bytes in bytes.copied } }
  }

  /// The fresh value under `key` as text, or nil; a value that is not UTF-8 is a miss that is counted. O(log n).
  public func value(for key: some StoreKey) throws(LarderError) -> String? {
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
    try engine.reader.lend(key, of: handle, in: transaction, recordsAccess: !store.isReadOnly, body)
  }

  /// Whether there is a fresh value under `key`; counts as no read.
  @inlinable
  public func contains(_ key: some StoreKey) throws(LarderError) -> Bool {
    try key.withKeyBytes { key throws(LarderError) in try hasFresh(key) }
  }

  @usableFromInline
  func hasFresh(_ key: Span<UInt8>) throws(LarderError) -> Bool {
    let transaction = try engine.beginRead()
    return try engine.reader.hasFresh(key, of: handle, in: transaction)
  }

  /// The entry under `key`, expired ones included, or nil. Counts as no read.
  public func entry(for key: some StoreKey) throws(LarderError) -> Store.Entry? {
    try key.withKeyBytes { key throws(LarderError) in
      let transaction = try engine.beginRead()
      return try engine.reader.entry(key, of: handle, in: transaction)
    }
  }
}
