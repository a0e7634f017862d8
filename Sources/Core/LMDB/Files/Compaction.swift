import CLMDB
import CLarderSystem
import LarderSystem

/// Writes a snapshot of an environment's records into a new data file without free pages.
struct Compaction {
  /// Called with the number of copied records and the number of all records; false stops the copy with ``LMDBError/stopped``.
  typealias Progress = (_ done: Int, _ all: Int) -> Bool

  let environment: Environment

  /// Creates a directory `path` with the new data file. Other threads and processes may read and write meanwhile.
  func copy(to path: String, _ shouldContinue: Progress) throws(OpenError) {
    let unfinished = try UnfinishedStore(for: path)
    let data = unfinished.path + "/data.mdb"
    do throws(LMDBError) {
      try write(to: data, shouldContinue)
      if let record = environment.syncing.cleanRecord(of: try DataStamp(of: data)) {
        try RecoveryFile.create(unfinished.path + "/recovery", record)
      }
    } catch {
      let cause = error.explained(writing: data)
      unfinished.remove()
      throw OpenError(.notCreated, path: unfinished.place, cause: cause)
    }
    do throws(OpenError) {
      try unfinished.finish()
    } catch {
      unfinished.remove()
      throw error
    }
  }

  /// Replaces the data file by a new, compact file and closes the environment; see ``Environment/closeCompacting(_:)``.
  func replace(_ shouldContinue: Progress) throws(LMDBError) {
    let handle = environment.handle
    let (files, locks) = (handle.files, handle.locks)
    try handle.withWriter { () throws(LMDBError) in
      try locks.opening.wait(lockTimeout: handle.lockTimeout)
      defer { locks.opening.release() }
      try becomeAlone(locks)
      do throws(LMDBError) {
        try unsafe environment.files.check(handle.pointer)
        try write(to: files.newData, shouldContinue)
        try environment.closing.replaceData()
      } catch {
        let cause = error.explained(writing: files.newData)
        unsafe unlink(files.newData)
        // No other process can take `lock.open` while this process holds `lock.opening`.
        if handle.isOpen { _ = try locks.open.take(shared: true) } else { locks.open.release() }
        throw cause
      }
      locks.open.release()
    }
  }

  /// Turns the shared `lock.open` into an exclusive lock, which no other process takes: the caller holds `lock.opening`.
  private func becomeAlone(_ locks: StoreLocks) throws(LMDBError) {
    if try locks.open.take() { return }
    _ = try locks.open.take(shared: true)
    throw .occupied
  }

  private func write(to path: String, _ shouldContinue: Progress) throws(LMDBError) {
    try environment.syncing.checkSynced()
    try FileStatus.remove(path)
    let snapshot = try environment.beginRead()
    let newest = try copyRecords(of: snapshot, to: path, shouldContinue)
    try environment.handle.meta.stamp.renewed.write(to: path)
    try CompactFile.renumber(path, from: newest, to: snapshot.id)
    do throws(QuickCheck.Finding) {
      let check = try QuickCheck(path: path)
      try check.run(databases: environment.databaseNames, signature: [])
    } catch {
      throw error.cause ?? .corrupted
    }
  }

  private func copyRecords(
    of snapshot: borrowing ReadTransaction, to path: String, _ shouldContinue: Progress
  ) throws(LMDBError) -> UInt64 {
    let (databases, names) = (environment.databases, environment.databaseNames)
    let meta = environment.handle.meta
    let file = try CompactFile(
      at: path, databases: names.count, used: meta.pages * meta.pageSize)
    var all = try snapshot.statistics(of: .main).records
    for database in databases { all += try snapshot.statistics(of: database).records }
    var done = 0
    // LMDB itself creates the records with the names of the databases.
    let nameKeys = names.map { Array($0.utf8) }
    let named: [(Database, String?)] = zip(databases, names).map { ($0, $1) }
    for (source, name) in [(.main, nil)] + named {
      let target = try file.open(name)
      var cursor = try snapshot.cursor(in: source)
      while case let count = try file.append(
        from: &cursor, to: target, leavingOut: name == nil ? nameKeys : []), count > 0
      {
        done += count
        if !shouldContinue(done, all) { throw .stopped }
      }
    }
    guard done == all else { throw .corrupted }
    return try file.sync()
  }
}

/// A new data file. It gets the records of another file in key order, so its pages are full.
///
/// No other process uses the file before it is renamed, so it is written without locks and synced when it is complete.
@safe private struct CompactFile: ~Copyable {
  /// The bytes of the records in one transaction: LMDB keeps its pages in memory. The copy can be stopped between transactions.
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
      // Enough room for the records if pages are no fuller than in the other file; the map takes only address space.
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

  /// Opens the main database, or creates the database `name`.
  func open(_ name: String?) throws(LMDBError) -> Database {
    var transaction: OpaquePointer?
    let flags = name == nil ? UInt32(MDB_RDONLY) : 0
    try check(unsafe mdb_txn_begin(handle, nil, flags, &transaction))
    var database: MDB_dbi = 0
    let creation = name == nil ? 0 : UInt32(MDB_CREATE)
    let result = unsafe mdb_dbi_open(transaction, name, creation, &database)
    if result != 0 {
      unsafe mdb_txn_abort(transaction)
      throw LMDBError(code: result)
    }
    try check(unsafe mdb_txn_commit(transaction))
    return Database(handle: database)
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
      // Keys out of order show that the source file is damaged.
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

  /// Raises the commit numbers of a closed file to at least `number`. Then a number still identifies one state of the store,
  /// and later states have higher numbers than the states of the source file.
  ///
  /// Even numbers stay in page 0 and odd numbers in page 1.
  static func renumber(
    _ path: String, from newest: UInt64, to number: UInt64
  ) throws(LMDBError) {
    let file = try FileDescriptor(opening: path, O_RDWR | O_NOFOLLOW)
    let first = try file.contents(at: 0, count: MetaPage.size)
    guard first.count == MetaPage.size else { throw .inputOutput }
    let pageSize = Int(first.u32(MetaPage.Offset.pageSize))
    let shift = number > newest ? (number - newest + 1) / 2 * 2 : 0
    for offset in [MetaPage.Offset.transaction, pageSize + MetaPage.Offset.transaction] {
      let known = try file.contents(at: offset, count: 8)
      guard known.count == 8 else { throw .inputOutput }
      try file.write([UInt8](littleEndian: known.u64(0) + shift), at: offset)
    }
    let descriptor = file.number
    try checkErrno { fsync(descriptor) }
  }
}
