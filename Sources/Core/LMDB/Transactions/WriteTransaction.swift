import CLMDB
import LarderSystem

/// The only write transaction of the environment. Either all of its changes become visible together, or none does. Without
/// ``commit()``, the transaction is rolled back at the end of its scope. The transaction belongs to the thread that began it.
@safe package struct WriteTransaction: ~Copyable {
  private var handle: OpaquePointer?

  /// The number of the commit that this transaction makes.
  package let id: UInt64

  /// The number of this write among all writes of this process, including failed writes; 0 while the environment is created.
  package let serial: UInt64

  /// The serial number of the write that made the last commit. Nil if another process made that commit.
  package let formerSerial: UInt64?

  /// The environment of the transaction; nil while the environment is created.
  let environment: Environment?

  let guarding: WriteGuard?

  /// The number of calls that have stored or removed a record.
  package private(set) var changes = 0

  /// On how many pages of the last commit this transaction has changed records. LMDB also copies the pages above these pages.
  package var changedPages: Int { guarding?.checkedPages.changed ?? changes }

  /// The addresses of the cursors with which this write changes its databases, each at the index that is its database's handle;
  /// 0 for a database without a cursor. The handles of a store are 1 to 6. A vector needs no allocation; an array would need one.
  ///
  /// With a cursor on the right leaf, LMDB need not search from the root. A cursor stays valid after changes by other calls. The
  /// end of the transaction closes the cursor.
  private var cursors = SIMD8<UInt>()

  var largestStored = 0

  init(handle: OpaquePointer, environment: Environment?) {
    unsafe self.handle = handle
    self.environment = environment
    guarding = environment?.writeGuard
    id = UInt64(truncatingIfNeeded: unsafe mdb_txn_id(handle))
    serial = environment?.writeGuard.nextSerial() ?? 0
    formerSerial = environment.flatMap { [id] in
      $0.writeGuard.ownCommit.id == id &- 1 ? $0.writeGuard.ownCommit.serial : nil
    }
  }

  deinit { if let handle = unsafe handle { unsafe mdb_txn_abort(handle) } }

  var live: OpaquePointer { unsafe handle! }

  /// The value of `key`, which is valid until the next change. Nil if there is no record.
  @_lifetime(borrow self)
  package func value(for key: Span<UInt8>, in database: Database) throws(LMDBError) -> Span<UInt8>?
  {
    if let known = try willRead(key, in: database) {
      guard let region = known.region else { return nil }
      return unsafe _overrideLifetime(Span(region), borrowing: self)
    }
    guard let value = try unsafe lookUp(key, in: database, of: live) else { return nil }
    return unsafe _overrideLifetime(Span(value), borrowing: self)
  }

  /// Like ``value(for:in:)``. A lookup by LMDB moves the cursor for changes to the record, so a change needs no search.
  @_lifetime(&self)
  package mutating func locate(
    _ key: Span<UInt8>, in database: Database
  ) throws(LMDBError) -> Span<UInt8>? {
    if key.isEmpty || key.count > 511 { return nil }
    if let known = try willRead(key, in: database) {
      guard let region = known.region else { return nil }
      return unsafe _overrideLifetime(Span(region), mutating: &self)
    }
    let cursor = try unsafe cursor(forChanging: database)
    var name = unsafe MDB_val(key)
    var value = unsafe MDB_val()
    let result = unsafe mdb_cursor_get(cursor, &name, &value, MDB_SET)
    if result == MDB_NOTFOUND { return nil }
    try check(result)
    return unsafe _overrideLifetime(Span(value), mutating: &self)
  }

  /// The cursor for changes of a database, which is opened at its first use.
  private mutating func cursor(forChanging database: Database) throws(LMDBError) -> OpaquePointer {
    let index = Int(database.handle)
    if let known = unsafe OpaquePointer(bitPattern: cursors[index]) { return unsafe known }
    var cursor: OpaquePointer?
    try check(unsafe mdb_cursor_open(live, database.handle, &cursor))
    cursors[index] = UInt(bitPattern: cursor)
    return unsafe cursor!
  }

  package mutating func put(
    _ value: Span<UInt8>, for key: Span<UInt8>, in database: Database
  ) throws(LMDBError) {
    try put(count: value.count, for: key, in: database) { $0.append(contentsOf: value) }
  }

  /// Stores a value under `key`. `fill` must write exactly `count` bytes, and writes these bytes directly into LMDB's page.
  package mutating func put(
    count: Int, for key: Span<UInt8>, in database: Database,
    _ fill: (inout OutputSpan<UInt8>) -> Void
  ) throws(LMDBError) {
    try checking(key) { (guarding) throws(PageDamage) in
      try unsafe guarding.willStore(SearchKey(key), count: count, in: database)
    }
    try removeLonger(key, count: count, in: database)
    changes &+= 1
    let cursor = try unsafe cursor(forChanging: database)
    var name = unsafe MDB_val(key)
    var room = unsafe MDB_val(mv_size: count, mv_data: nil)
    try check(unsafe mdb_cursor_put(cursor, &name, &room, UInt32(MDB_RESERVE)))
    let buffer = unsafe UnsafeMutableBufferPointer(
      start: room.mv_data?.assumingMemoryBound(to: UInt8.self), count: count)
    var output = unsafe OutputSpan(buffer: buffer, initializedCount: 0)
    fill(&output)
    let written = unsafe output.finalize(for: buffer)
    precondition(written == count, "a value of another length than was reserved")
  }

  /// Removes `key`. Returns whether the key existed.
  @discardableResult
  package mutating func remove(_ key: Span<UInt8>, from database: Database) throws(LMDBError)
    -> Bool
  {
    try checking(key) { (guarding) throws(PageDamage) in
      try unsafe guarding.willRemove(SearchKey(key), in: database)
    }
    changes &+= 1
    if key.count > 511 { return false }
    var name = unsafe MDB_val(key)
    var value = unsafe MDB_val()
    let cursor = try unsafe cursor(forChanging: database)
    var result = unsafe mdb_cursor_get(cursor, &name, &value, MDB_SET)
    if result == 0 { result = unsafe mdb_cursor_del(cursor, 0) }
    if result == MDB_NOTFOUND { return false }
    try check(result)
    return true
  }

  @_lifetime(borrow self)
  package func cursor(in database: Database) throws(LMDBError) -> Cursor {
    try willOpen(database)
    let cursor = try unsafe Cursor(database: database, transaction: live, guarded: guarding)
    return unsafe _overrideLifetime(cursor, borrowing: self)
  }

  /// Commits the changes. Even if this call throws, the transaction ends.
  consuming func commit() throws(LMDBError) {
    let handle = unsafe live
    unsafe self.handle = nil
    try check(unsafe mdb_txn_commit(handle))
  }
}
