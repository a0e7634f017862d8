import LMDB

/// The databases in a snapshot, or in a write with its changes so far.
protocol DatabaseView: ~Copyable {
  @_lifetime(borrow self)
  func cursor(in database: Database) throws(LMDBError) -> Cursor

  /// The value of `key`; nil if the key is absent.
  @_lifetime(borrow self)
  func value(for key: Span<UInt8>, in database: Database) throws(LMDBError) -> Span<UInt8>?
}

extension ReadTransaction: DatabaseView {
  @_lifetime(borrow self)
  func value(for key: Span<UInt8>, in database: Database) throws(LMDBError) -> Span<UInt8>? {
    guard let region = try find(key, in: database) else { return nil }
    return bytes(of: region)
  }
}

extension WriteTransaction: DatabaseView {}
