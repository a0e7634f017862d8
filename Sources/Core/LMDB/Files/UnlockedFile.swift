import CLMDB
import CLarderSystem
import LarderSystem

/// LMDB's environment for a data file that no other process uses. The file is written without locks.
@safe struct UnlockedFile: ~Copyable {
  /// About the largest number of bytes of records in one transaction. LMDB keeps the pages of a transaction in memory, and a
  /// copy can be stopped only between two transactions. So a transaction must not be too large.
  private static let bytesPerTransaction = 8 << 20

  let handle: OpaquePointer

  init(_ path: String, databases: Int, mapSize: Int, flags: Int32 = 0) throws(LMDBError) {
    var created: OpaquePointer?
    try check(unsafe mdb_env_create(&created))
    let handle = unsafe created!
    do throws(LMDBError) {
      try check(unsafe mdb_env_set_maxdbs(handle, UInt32(databases)))
      try check(unsafe mdb_env_set_mapsize(handle, mapSize))
      let flags = UInt32(MDB_NOSUBDIR | MDB_NOLOCK | flags)
      try check(unsafe mdb_env_open(handle, path, flags, 0o600))
    } catch {
      unsafe mdb_env_close(handle)
      throw error
    }
    unsafe self.handle = unsafe handle
  }

  deinit { unsafe mdb_env_close(handle) }

  /// Commits the changes of `body`, or rolls them back after an error. LMDB can write to the main database only after
  /// ``open(_:)`` or after a transaction that has opened the main database.
  func write(_ body: (inout WriteTransaction) throws(LMDBError) -> Void) throws(LMDBError) {
    var transaction = try unsafe WriteTransaction(
      handle: beginTransaction(in: handle), environment: nil)
    try body(&transaction)
    try transaction.commit()
  }

  func open(_ name: String?) throws(LMDBError) -> Database {
    let names = name.map { [$0] } ?? []
    return try unsafe Opening.openDatabases(handle, names: names, create: name != nil).first
      ?? .main
  }

  /// Copies the next records that fit into one transaction, but skips the keys `skipped`. Returns the number of read records.
  func append(
    from cursor: inout Cursor, to database: Database, leavingOut skipped: [[UInt8]]
  ) throws(LMDBError) -> Int {
    let transaction = try unsafe WriteTransaction(
      handle: beginTransaction(in: handle), environment: nil)
    var room = Self.bytesPerTransaction
    var count = 0
    while room > 0, let record = try cursor.next() {
      count += 1
      if skipped.contains(where: { $0.span.elementsEqual(record.key) }) { continue }
      // The keys of the cursor ascend, so LMDB appends each record without a search.
      var (key, value) = unsafe (MDB_val(record.key), MDB_val(record.value))
      try check(unsafe mdb_put(transaction.live, database.handle, &key, &value, UInt32(MDB_APPEND)))
      room -= record.key.count + record.value.count
    }
    try transaction.commit()
    return count
  }

  /// Raises the commit numbers of a closed file to at least `number`, so that each number identifies only one state of the
  /// store. Even commit numbers stay in page 0, and odd commit numbers stay in page 1.
  static func renumber(_ path: String, to number: UInt64) throws(LMDBError) {
    let newest = try MetaImage.newest(of: path)
    let file = try FileDescriptor(opening: path, O_RDWR | O_NOFOLLOW)
    let shift = number > newest.transaction ? (number - newest.transaction + 1) / 2 * 2 : 0
    for offset in [MetaPage.Offset.transaction, newest.pageSize + MetaPage.Offset.transaction] {
      let known = try file.contents(at: offset, count: 8)
      guard known.count == 8 else { throw .inputOutput }
      try file.write([UInt8](littleEndian: known.u64(0) + shift), at: offset)
    }
    try checkErrno { fsync(file.number) }
  }
}
