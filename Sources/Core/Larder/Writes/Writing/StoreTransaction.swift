import LMDB
import LarderSystem

/// LMDB's write transaction, whose errors become errors of the store. A failed change may be half done. So after a failure the
/// batch can never be committed, even if its caller catches the error.
struct StoreTransaction: ~Copyable {
  private var lmdb: WriteTransaction
  private let path: String
  /// The first failure. `cause` is LMDB's error if LMDB caused the failure.
  private(set) var failure: (error: LarderError, cause: LMDBError?)?

  init(_ lmdb: consuming WriteTransaction, path: String) {
    self.lmdb = lmdb
    self.path = path
  }

  var id: UInt64 { lmdb.id }

  var serial: UInt64 { lmdb.serial }

  var changes: Int { lmdb.changes }

  var changedPages: Int { lmdb.changedPages }

  consuming func end() -> WriteTransaction { lmdb }

  func checkUsable() throws(LarderError) { if let failure { throw failure.error } }

  /// Prevents the commit of the batch. Returns the error, which the caller throws.
  mutating func fail(_ error: LarderError, cause: LMDBError? = nil) -> LarderError {
    if failure == nil { failure = (error, cause) }
    return error
  }

  private mutating func fail(_ cause: LMDBError) -> LarderError {
    fail(LarderError(cause, path: path), cause: cause)
  }

  mutating func read<Result>(
    _ body: (borrowing WriteTransaction) throws(LMDBError) -> Result
  ) throws(LarderError) -> Result {
    do throws(LMDBError) { return try body(lmdb) } catch { throw fail(error) }
  }

  mutating func change<Result>(
    _ body: (inout WriteTransaction) throws(LMDBError) -> Result
  ) throws(LarderError) -> Result {
    do throws(LMDBError) { return try body(&lmdb) } catch { throw fail(error) }
  }

  mutating func contains(_ key: [UInt8], in database: Database) throws(LarderError) -> Bool {
    try read { lmdb throws(LMDBError) in try lmdb.value(for: key, in: database) != nil }
  }

  mutating func copy(of key: [UInt8], in database: Database) throws(LarderError) -> [UInt8]? {
    try read { lmdb throws(LMDBError) in try lmdb.value(for: key, in: database)?.copied }
  }

  mutating func put(
    _ value: Span<UInt8>, for key: Span<UInt8>, in database: Database
  ) throws(LarderError) {
    do throws(LMDBError) { try lmdb.put(value, for: key, in: database) } catch { throw fail(error) }
  }

  mutating func put(_ value: [UInt8], for key: [UInt8], in database: Database) throws(LarderError) {
    try put(value.span, for: key.span, in: database)
  }

  func usedPages(of databases: [Database]) throws(LMDBError) -> Int {
    try lmdb.usedPages(of: databases)
  }

  mutating func put(
    count: Int, for key: Span<UInt8>, in database: Database,
    _ fill: (inout OutputSpan<UInt8>) -> Void
  ) throws(LarderError) {
    do throws(LMDBError) { try lmdb.put(count: count, for: key, in: database, fill) } catch {
      throw fail(error)
    }
  }

  @discardableResult
  mutating func remove(_ key: Span<UInt8>, from database: Database) throws(LarderError) -> Bool {
    try change { lmdb throws(LMDBError) in try lmdb.remove(key, from: database) }
  }

  @discardableResult
  mutating func remove(_ key: [UInt8], from database: Database) throws(LarderError) -> Bool {
    try remove(key.span, from: database)
  }

  mutating func remove(_ keys: [[UInt8]], from database: Database) throws(LarderError) {
    for key in keys { try remove(key, from: database) }
  }

  /// Up to `limit` keys that begin with `prefix`, in order. If `position` is given, only keys after `position`.
  mutating func keys(
    in database: Database, from prefix: [UInt8], after position: [UInt8]? = nil, limit: Int = .max
  ) throws(LarderError) -> [[UInt8]] {
    let start = position ?? prefix
    return try read { lmdb throws(LMDBError) in
      var keys: [[UInt8]] = []
      var cursor = try lmdb.cursor(in: database)
      var record = try cursor.seek(start.span)
      while let found = record, found.key.starts(with: prefix.span), keys.count < limit {
        let key = found.key.copied
        if key != position { keys.append(key) }
        record = try cursor.next()
      }
      return keys
    }
  }
}
