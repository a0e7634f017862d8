import CLMDB
import LarderSystem

/// A position in a database, in the order of the keys. A write transaction cannot change anything while a cursor exists.
@safe package struct Cursor: ~Copyable, ~Escapable {
  /// LMDB's cursor; nil in a read transaction.
  private let handle: OpaquePointer?
  private var pages: TreeCursor?
  /// Nil in a read transaction, because reads check their pages themselves.
  private let writeGuard: WriteGuard?
  private let database: Database
  /// The key of the record at LMDB's cursor.
  private var current = unsafe MDB_val()

  /// A record. Its bytes are valid until the transaction ends or changes something.
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
  init(
    database: Database, transaction: OpaquePointer, guarded writeGuard: WriteGuard? = nil
  ) throws(LMDBError) {
    var cursor: OpaquePointer?
    try check(unsafe mdb_cursor_open(transaction, database.handle, &cursor))
    unsafe handle = cursor!
    pages = nil
    self.writeGuard = writeGuard
    self.database = database
  }

  @unsafe @_lifetime(immortal)
  init(_ pages: consuming TreeCursor) {
    unsafe handle = nil
    self.pages = .some(pages)
    writeGuard = nil
    database = .main
  }

  deinit { if let handle = unsafe handle { unsafe mdb_cursor_close(handle) } }

  /// After a move beyond an end, the operation that moves back: LMDB's cursor stays on the outermost record and would skip it.
  private var beyond: MDB_cursor_op?

  @_lifetime(copy self)
  package mutating func seek(_ key: Span<UInt8>) throws(LMDBError) -> Record? {
    if key.isEmpty { return try first() }
    if pages != nil { return try lend(unsafe pages!.seek(SearchKey(key))) }
    return try unsafe move(MDB_SET_RANGE, from: MDB_val(key), end: MDB_LAST)
  }

  @_lifetime(copy self)
  package mutating func first() throws(LMDBError) -> Record? {
    if pages != nil { return try lend(pages!.first()) }
    return try unsafe move(MDB_FIRST, from: MDB_val(), end: MDB_LAST)
  }

  @_lifetime(copy self)
  package mutating func last() throws(LMDBError) -> Record? {
    if pages != nil { return try lend(pages!.last()) }
    return try unsafe move(MDB_LAST, from: MDB_val(), end: MDB_FIRST)
  }

  /// The record after the last returned record; at the beginning, the first record. After the end nil, also in later calls.
  @_lifetime(copy self)
  @inline(__always)
  package mutating func next() throws(LMDBError) -> Record? {
    if pages != nil { return try lend(pages!.next()) }
    if beyond == MDB_LAST { return nil }
    return try unsafe move(beyond ?? MDB_NEXT, from: MDB_val(), end: MDB_LAST)
  }

  /// The record before the last returned record. At the beginning, or after a seek or move beyond the end, the last record.
  @_lifetime(copy self)
  package mutating func previous() throws(LMDBError) -> Record? {
    if pages != nil { return try lend(pages!.previous()) }
    if beyond == MDB_FIRST { return nil }
    return try unsafe move(beyond ?? MDB_PREV, from: MDB_val(), end: MDB_FIRST)
  }

  /// - Parameter end: the operation for a following move back, if this move finds no record.
  @_lifetime(copy self)
  private mutating func move(
    _ operation: MDB_cursor_op, from start: MDB_val, end: MDB_cursor_op
  ) throws(LMDBError) -> Record? {
    try unsafe checkPages(operation, from: start)
    var key = unsafe start
    var value = unsafe MDB_val()
    let result = unsafe mdb_cursor_get(handle!, &key, &value, operation)
    beyond = result == MDB_NOTFOUND ? end : nil
    if result == MDB_NOTFOUND { return nil }
    try check(result)
    unsafe current = key
    let record = unsafe Record(key: Span(key), value: Span(value))
    return unsafe _overrideLifetime(record, copying: self)
  }

  private func checkPages(_ operation: MDB_cursor_op, from start: MDB_val) throws(LMDBError) {
    guard let writeGuard else { return }
    let (start, current, database) = unsafe (start, current, database)
    try writeGuard.checking { () throws(PageDamage) in
      let isBack = operation == MDB_PREV || operation == MDB_LAST
      let from = unsafe operation == MDB_NEXT || operation == MDB_PREV ? current : start
      guard let address = unsafe from.mv_data, unsafe from.mv_size > 0 else {
        // LMDB moves to the first or last record, also if its cursor is on no record. So the leaf of that record is checked.
        return try writeGuard.willMove(toLast: isBack, in: database)
      }
      let key = unsafe SearchKey(UnsafeRawPointer(address), count: from.mv_size)
      try unsafe writeGuard.willMove(from: key, forward: !isBack, in: database)
    }
  }

  @inline(__always)
  @_lifetime(copy self)
  private func lend(_ found: TreeCursor.Record?) -> Record? {
    guard let found else { return nil }
    let record = Record(key: found.keyBytes, value: found.valueBytes)
    return unsafe _overrideLifetime(record, copying: self)
  }
}
