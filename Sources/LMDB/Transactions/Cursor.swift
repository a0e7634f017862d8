import CLMDB
import LarderSystem

/// A place in a database's order of keys.
///
/// A cursor cannot outlive its transaction, and a write transaction cannot change anything while one is open.
@safe package struct Cursor: ~Copyable, ~Escapable {
  private let handle: OpaquePointer

  /// One record; its bytes are lent until the transaction ends or changes something.
  package struct Record: ~Escapable {
    package let key: Span<UInt8>
    package let value: Span<UInt8>

    @_lifetime(copy key, copy value)
    init(key: Span<UInt8>, value: Span<UInt8>) {
      self.key = key
      self.value = value
    }
  }

  @unsafe @_lifetime(immortal)
  init(database: Database, transaction: OpaquePointer) throws(LMDBError) {
    var cursor: OpaquePointer?
    try check(unsafe mdb_cursor_open(transaction, database.handle, &cursor))
    unsafe handle = cursor!
  }

  deinit { unsafe mdb_cursor_close(handle) }

  /// Set when a move led beyond the first or the last record. LMDB itself stays on the record it was on, so that the
  /// way back would leave that record out.
  private var beyond: MDB_cursor_op?

  /// The first record whose key is not before `key`.
  @_lifetime(copy self)
  package mutating func seek(_ key: Span<UInt8>) throws(LMDBError) -> Record? {
    if key.isEmpty { return try first() }
    return try unsafe move(MDB_SET_RANGE, from: MDB_val(key), end: MDB_LAST)
  }

  @_lifetime(copy self)
  package mutating func first() throws(LMDBError) -> Record? {
    try unsafe move(MDB_FIRST, from: MDB_val(), end: MDB_LAST)
  }

  @_lifetime(copy self)
  package mutating func last() throws(LMDBError) -> Record? {
    try unsafe move(MDB_LAST, from: MDB_val(), end: MDB_FIRST)
  }

  /// The record after the one last returned; the first at the beginning, nil at the end however often it is asked.
  @_lifetime(copy self)
  package mutating func next() throws(LMDBError) -> Record? {
    if beyond == MDB_LAST { return nil }
    return try unsafe move(beyond ?? MDB_NEXT, from: MDB_val(), end: MDB_LAST)
  }

  /// The record before the one last returned; the last at the beginning, and after a seek or a move beyond the end.
  @_lifetime(copy self)
  package mutating func previous() throws(LMDBError) -> Record? {
    if beyond == MDB_FIRST { return nil }
    return try unsafe move(beyond ?? MDB_PREV, from: MDB_val(), end: MDB_FIRST)
  }

  /// - Parameter end: the record next to the place that the cursor is in when there is none to return.
  @_lifetime(copy self)
  private mutating func move(
    _ operation: MDB_cursor_op, from start: MDB_val, end: MDB_cursor_op
  ) throws(LMDBError) -> Record? {
    var key = unsafe start
    var value = unsafe MDB_val()
    let result = unsafe mdb_cursor_get(handle, &key, &value, operation)
    beyond = result == MDB_NOTFOUND ? end : nil
    if result == MDB_NOTFOUND { return nil }
    try check(result)
    let record = unsafe Record(key: Span(key), value: Span(value))
    return unsafe _overrideLifetime(record, copying: self)
  }
}
