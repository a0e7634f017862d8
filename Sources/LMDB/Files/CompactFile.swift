import CLMDB
import CLarderSystem
import LarderSystem

/// A data file in the making, filled with the records of another in their order, so that its pages are full.
///
/// It is nobody's until it is moved into place: it is written without locks, and put on the disk when it is whole.
@safe struct CompactFile: ~Copyable {
  /// A transaction holds the pages it writes in memory; between two of them the copy can be stopped.
  private static let bytesPerTransaction = 8 << 20

  private let handle: OpaquePointer

  /// - Parameter used: the bytes that the other file uses.
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
      // Room for the other file's records on pages that are no fuller; only address space is taken.
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

  /// The database of that name, which is made.
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

  /// Opens the main database, which every file has.
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

  /// Copies records from the cursor on, as many as fit one transaction.
  ///
  /// - Parameter skipped: keys that are left out.
  /// - Returns: how many there were; 0 at the end.
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
      // Out of order: the file that is read is damaged.
      guard try transaction.append(record.value, for: record.key, in: database) else {
        throw .corrupted
      }
      room -= record.key.count + record.value.count
    }
    try transaction.commit()
    return count
  }

  /// Puts everything on the disk; returns the number of the newest commit.
  func sync() throws(LMDBError) -> UInt64 {
    try check(unsafe mdb_env_sync(handle, 1))
    var info = unsafe MDB_envinfo()
    try check(unsafe mdb_env_info(handle, &info))
    return unsafe UInt64(info.me_last_txnid)
  }

  /// Gives the commits of a closed file numbers that are not below `number`, so that what was noted with the numbers of
  /// the file it was copied from stays true: a number names one state of the store, and later states have higher ones.
  ///
  /// Even and odd ones lie in page 0 and 1 by turns, which stays so.
  static func renumber(
    _ path: String, from newest: UInt64, to number: UInt64
  ) throws(LMDBError) {
    let file = try FileDescriptor(opening: path, O_RDWR | O_NOFOLLOW)
    let pageSize = Int(file.read(at: 0, count: 44).u32(40))
    let shift = number > newest ? (number - newest + 1) / 2 * 2 : 0
    for offset in [MetaPages.transaction, pageSize + MetaPages.transaction] {
      let changed = file.read(at: offset, count: 8).u64(0) + shift
      try file.write([UInt8](littleEndian: changed), at: offset)
    }
    let descriptor = file.number
    try checkErrno { fsync(descriptor) }
  }
}
