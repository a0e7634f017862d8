import LMDB
import LarderSystem

/// The databases in the state of a snapshot, or in the state of a write with its changes so far.
protocol DatabaseView: ~Copyable {
  @_lifetime(borrow self)
  func cursor(in database: Database) throws(LMDBError) -> Cursor

  @_lifetime(borrow self)
  func value(for key: Span<UInt8>, in database: Database) throws(LMDBError) -> Span<UInt8>?
}

extension DatabaseView where Self: ~Copyable {
  /// Visits the records whose keys begin with `prefix`, in key order.
  func forEach(
    in database: Database, from prefix: [UInt8] = [],
    _ visit: (_ key: Span<UInt8>, _ value: Span<UInt8>) throws(LMDBError) -> Void
  ) throws(LMDBError) {
    var cursor = try cursor(in: database)
    var record = try cursor.seek(prefix.span)
    while let found = record, found.key.starts(with: prefix.span) {
      try visit(found.key, found.value)
      record = try cursor.next()
    }
  }
}

extension ReadTransaction: DatabaseView {
  @_lifetime(borrow self)
  func value(for key: Span<UInt8>, in database: Database) throws(LMDBError) -> Span<UInt8>? {
    guard let region = try find(key, in: database) else { return nil }
    return bytes(of: region)
  }
}

extension WriteTransaction: DatabaseView {}
