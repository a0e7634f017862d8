import CLMDB
import CLarderSystem
import LarderSystem

/// A new data file that is filled with the records of another one in key order, so that its pages are full.
///
/// No other process uses it until it is renamed: it is written without locks and synced when it is complete.
@safe struct CompactFile: ~Copyable {
  /// A transaction keeps its pages in memory; the copy can be stopped between two transactions.
  private static let bytesPerTransaction = 8 << 20

  private let handle: OpaquePointer

  /// - Parameter used: the used size of the other file in bytes.
  init(at path: String, databases: Int, used: Int) throws(LMDBError) {
    unsafe handle = try Self.open(path, databases: databases, used: used)
  }

  private static func open(
    _ path: String, databases: Int, used: Int
  ) throws(LMDBError) -> OpaquePointer {
    var created: OpaquePointer?
    try check(unsafe mdb_env_create(&created))
    let handle = unsafe created!
    do throws(LMDBError) {
      try check(unsafe mdb_env_set_maxdbs(handle, UInt32(databases)))
      // Enough for the records on pages that are no fuller than those of the other file; this takes only address space.
      try check(unsafe mdb_env_set_mapsize(handle, used * 2 + 64 << 20))
      let flags = UInt32(MDB_NOSUBDIR | MDB_NOLOCK | MDB_NOSYNC)
      try check(unsafe mdb_env_open(handle, path, flags, 0o600))
      return unsafe handle
    } catch {
      unsafe mdb_env_close(handle)
      throw error
    }
  }

  deinit { unsafe mdb_env_close(handle) }

  /// Creates the database `name`.
  func makeDatabase(_ name: String) throws(LMDBError) -> Database {
    var transaction: OpaquePointer?
    try check(unsafe mdb_txn_begin(handle, nil, 0, &transaction))
    var database: MDB_dbi = 0
    let result = unsafe mdb_dbi_open(transaction, name, UInt32(MDB_CREATE), &database)
    if result != 0 {
      unsafe mdb_txn_abort(transaction)
      throw LMDBError(code: result)
    }
    try check(unsafe mdb_txn_commit(transaction))
    return Database(handle: database)
  }

  /// Opens the main database.
  func openMain() throws(LMDBError) {
    var transaction: OpaquePointer?
    try check(unsafe mdb_txn_begin(handle, nil, UInt32(MDB_RDONLY), &transaction))
    var database: MDB_dbi = 0
    let result = unsafe mdb_dbi_open(transaction, nil, 0, &database)
    if result != 0 {
      unsafe mdb_txn_abort(transaction)
      throw LMDBError(code: result)
    }
    try check(unsafe mdb_txn_commit(transaction))
  }

  /// Copies the next records of the cursor, as many as fit into one transaction.
  ///
  /// - Parameter skipped: keys that are not copied.
  /// - Returns: the number of records read; 0 at the end.
  func append(
    from cursor: inout Cursor, to database: Database, leavingOut skipped: [[UInt8]]
  ) throws(LMDBError) -> Int {
    var begun: OpaquePointer?
    try check(unsafe mdb_txn_begin(handle, nil, 0, &begun))
    var transaction = unsafe WriteTransaction(handle: begun!, environment: nil)
    var room = Self.bytesPerTransaction
    var count = 0
    while room > 0, let record = try cursor.next() {
      count += 1
      if skipped.contains(where: { $0.span.elementsEqual(record.key) }) { continue }
      // Keys out of order: the file being read is damaged.
      guard try transaction.append(record.value, for: record.key, in: database) else {
        throw .corrupted
      }
      room -= record.key.count + record.value.count
    }
    try transaction.commit()
    return count
  }

  /// Syncs the file; returns the number of the newest commit.
  func sync() throws(LMDBError) -> UInt64 {
    try unsafe syncFile(of: handle)
    var info = unsafe MDB_envinfo()
    try check(unsafe mdb_env_info(handle, &info))
    return unsafe UInt64(info.me_last_txnid)
  }

  /// Raises the commit numbers of a closed file to at least `number`. A number then still identifies one state of the
  /// store, and later states have higher numbers than those of the file it was copied from.
  ///
  /// Even numbers stay in page 0 and odd ones in page 1.
  static func renumber(
    _ path: String, from newest: UInt64, to number: UInt64
  ) throws(LMDBError) {
    let file = try FileDescriptor(opening: path, O_RDWR | O_NOFOLLOW)
    let pageSize = Int(file.read(at: 0, count: MetaPage.size).u32(MetaPage.Offset.pageSize))
    let shift = number > newest ? (number - newest + 1) / 2 * 2 : 0
    for offset in [MetaPage.Offset.transaction, pageSize + MetaPage.Offset.transaction] {
      let changed = file.read(at: offset, count: 8).u64(0) + shift
      try file.write([UInt8](littleEndian: changed), at: offset)
    }
    let descriptor = file.number
    try checkErrno { fsync(descriptor) }
  }
}
