import CLMDB

/// The one write transaction of the environment: all of its changes become visible at once, or none does.
///
/// Going out of scope without ``commit()`` takes everything back. It belongs to the thread that began it.
@safe package struct WriteTransaction: ~Copyable {
  private var handle: OpaquePointer?

  /// The number this transaction will have once committed.
  package let id: UInt64

  /// Nil while the environment is being made.
  let environment: Environment?

  /// How often something was to be stored or removed.
  package private(set) var changes = 0

  init(handle: OpaquePointer, environment: Environment?) {
    unsafe self.handle = handle
    self.environment = environment
    id = UInt64(unsafe mdb_txn_id(handle))
  }

  deinit {
    if let handle = unsafe handle { unsafe mdb_txn_abort(handle) }
  }

  var live: OpaquePointer { unsafe handle! }

  /// The bytes stored under `key`, lent until the next change, or nil.
  @_lifetime(borrow self)
  package func value(for key: Span<UInt8>, in database: Database) throws(LMDBError) -> Span<UInt8>?
  {
    guard let value = try unsafe lookUp(key, in: database, of: live) else { return nil }
    return unsafe _overrideLifetime(Span(value), borrowing: self)
  }

  /// Stores `value` under `key`, replacing what is there.
  package mutating func put(
    _ value: Span<UInt8>, for key: Span<UInt8>, in database: Database
  ) throws(LMDBError) {
    changes &+= 1
    var name = unsafe MDB_val(key)
    var bytes = unsafe MDB_val(value)
    try check(unsafe mdb_put(live, database.handle, &name, &bytes, 0))
  }

  /// Stores `value` under a key greater than every key there, which spares the search.
  ///
  /// - Returns: false if a key there is not smaller; nothing is stored then.
  package mutating func append(
    _ value: Span<UInt8>, for key: Span<UInt8>, in database: Database
  ) throws(LMDBError) -> Bool {
    changes &+= 1
    var name = unsafe MDB_val(key)
    var bytes = unsafe MDB_val(value)
    let result = unsafe mdb_put(live, database.handle, &name, &bytes, UInt32(MDB_APPEND))
    if result == MDB_KEYEXIST { return false }
    try check(result)
    return true
  }

  /// Makes room for `count` bytes under `key` and lets `fill` write them in place, without a copy in between.
  ///
  /// - Precondition: `fill` writes exactly `count` bytes.
  package mutating func put(
    count: Int, for key: Span<UInt8>, in database: Database,
    _ fill: (inout OutputSpan<UInt8>) -> Void
  ) throws(LMDBError) {
    changes &+= 1
    var name = unsafe MDB_val(key)
    var room = unsafe MDB_val(mv_size: count, mv_data: nil)
    try check(unsafe mdb_put(live, database.handle, &name, &room, UInt32(MDB_RESERVE)))
    let buffer = unsafe UnsafeMutableBufferPointer(
      start: room.mv_data?.assumingMemoryBound(to: UInt8.self), count: count)
    var output = unsafe OutputSpan(buffer: buffer, initializedCount: 0)
    fill(&output)
    let written = unsafe output.finalize(for: buffer)
    precondition(written == count, "a value of another length than was reserved")
  }

  /// Removes `key`; false if it was not there.
  @discardableResult
  package mutating func remove(_ key: Span<UInt8>, from database: Database) throws(LMDBError)
    -> Bool
  {
    changes &+= 1
    var name = unsafe MDB_val(key)
    let result = unsafe mdb_del(live, database.handle, &name, nil)
    if result == MDB_NOTFOUND { return false }
    try check(result)
    return true
  }

  package func statistics(of database: Database) throws(LMDBError) -> DatabaseStatistics {
    try unsafe readStatistics(of: database, in: live)
  }

  @_lifetime(borrow self)
  package func cursor(in database: Database) throws(LMDBError) -> Cursor {
    let cursor = try unsafe Cursor(database: database, transaction: live)
    return unsafe _overrideLifetime(cursor, borrowing: self)
  }

  /// Makes the changes last. Whatever the outcome, the transaction is over.
  consuming func commit() throws(LMDBError) {
    let handle = unsafe live
    unsafe self.handle = nil
    try check(unsafe mdb_txn_commit(handle))
  }
}
