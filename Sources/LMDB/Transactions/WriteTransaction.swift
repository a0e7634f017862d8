import CLMDB
import LarderSystem

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

  /// The cursor of ``locate(_:in:)``, and whether it still stands on what that found.
  private var locator: (cursor: OpaquePointer, database: Database)?
  private var isLocated = false

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

  /// As ``value(for:in:)``; what follows in place of the value found is stored without another search.
  @_lifetime(&self)
  package mutating func locate(
    _ key: Span<UInt8>, in database: Database
  ) throws(LMDBError) -> Span<UInt8>? {
    isLocated = false
    if key.isEmpty || key.count > 511 { return nil }
    let cursor = try unsafe locator(in: database)
    var name = unsafe MDB_val(key)
    var value = unsafe MDB_val()
    let result = unsafe mdb_cursor_get(cursor, &name, &value, MDB_SET)
    if result == MDB_NOTFOUND { return nil }
    try check(result)
    isLocated = true
    return unsafe _overrideLifetime(Span(value), mutating: &self)
  }

  /// The one cursor that locates, moved to another database where it has to be. LMDB closes it with the transaction.
  private mutating func locator(in database: Database) throws(LMDBError) -> OpaquePointer {
    if let locator = unsafe locator {
      if unsafe locator.database == database { return unsafe locator.cursor }
      unsafe mdb_cursor_close(locator.cursor)
      unsafe self.locator = nil
    }
    var cursor: OpaquePointer?
    try check(unsafe mdb_cursor_open(live, database.handle, &cursor))
    unsafe locator = (cursor!, database)
    return unsafe cursor!
  }

  /// The locator, if it stands on that key.
  private func standing(on key: Span<UInt8>, in database: Database) -> OpaquePointer? {
    guard isLocated, let locator = unsafe locator, unsafe locator.database == database else {
      return nil
    }
    var name = unsafe MDB_val()
    var value = unsafe MDB_val()
    guard unsafe mdb_cursor_get(locator.cursor, &name, &value, MDB_GET_CURRENT) == 0,
      unsafe Span(name).elementsEqual(key)
    else { return nil }
    return unsafe locator.cursor
  }

  /// Counts a change, after which only a search finds a record of that database.
  private mutating func changing(_ database: Database) {
    changes &+= 1
    if unsafe locator?.database == database { isLocated = false }
  }

  /// Stores `value` under `key`, replacing what is there.
  package mutating func put(
    _ value: Span<UInt8>, for key: Span<UInt8>, in database: Database
  ) throws(LMDBError) {
    changing(database)
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
    changing(database)
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
    let place = unsafe standing(on: key, in: database)
    changing(database)
    var name = unsafe MDB_val(key)
    var room = unsafe MDB_val(mv_size: count, mv_data: nil)
    if let place = unsafe place {
      try check(unsafe mdb_cursor_put(place, &name, &room, UInt32(MDB_CURRENT | MDB_RESERVE)))
    } else {
      try check(unsafe mdb_put(live, database.handle, &name, &room, UInt32(MDB_RESERVE)))
    }
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
    let place = unsafe standing(on: key, in: database)
    changing(database)
    if let place = unsafe place {
      try check(unsafe mdb_cursor_del(place, 0))
      return true
    }
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
