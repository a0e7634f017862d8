import CLMDB
import CLarderSystem
import LarderSystem
import Synchronization

/// The part of an opening that uses LMDB. Before this part, the lock files were locked and the data file was checked.
extension Opening {
  /// Opens LMDB's handle. If a signal or the end of another process has disturbed the opening, tries again with a new handle.
  func openHandle() throws(LMDBError) -> Environment {
    for _ in 0..<100 {
      do throws(LMDBError) { return try openHandleOnce() } catch {
        if error.code != EINTR, error.code != EAGAIN { throw error }
        backOff(microseconds: 1000)
      }
    }
    return try openHandleOnce()
  }

  private func openHandleOnce() throws(LMDBError) -> Environment {
    let isWritable = locks.isWritable
    if isWritable { try allocateLockFile() }
    var created: OpaquePointer?
    try check(unsafe mdb_env_create(&created))
    let handle = unsafe created!
    do throws(LMDBError) {
      let size = Environment.fileSize(at: files.directory)
      try check(unsafe mdb_env_set_maxreaders(handle, UInt32(ReaderTable.size)))
      try check(unsafe mdb_env_set_maxdbs(handle, UInt32(options.databases.count)))
      try check(
        unsafe mdb_env_set_mapsize(handle, MapSize.initial(options.mapSize, fileSize: size)))
      let flags = isWritable ? MDB_NOTLS : MDB_NOTLS | MDB_NOLOCK | MDB_RDONLY
      try check(unsafe mdb_env_open(handle, files.directory, UInt32(flags), 0o600))
      guard unsafe larder_close_on_exec(dataDescriptor(of: handle)) == 0 else { throw .last }
      if isWritable { _ = try locks.open.take(shared: true) }
      var statistics = MDB_stat()
      try check(unsafe mdb_env_stat(handle, &statistics))
      guard let data = try DataMap(path: files.data, pageSize: Int(statistics.ms_psize)) else {
        throw LMDBError.damagedPage
      }
      // The steps take or clear slots of LMDB's reader table, so this process holds `lock.readers` while the closure runs.
      let (databases, level) = try locks.readers.withLock(lockTimeout: options.lockTimeout) {
        () throws(LMDBError) in
        try check(unsafe mdb_reader_check(handle, nil))
        let level = try unsafe checkPaths(handle, data)
        let databases = try unsafe Self.openDatabases(
          handle, names: options.databases, create: false)
        return (databases, level)
      }
      if isWritable { try check(unsafe mdb_env_set_flags(handle, level.flags, 1)) }
      return try unsafe Environment(
        handle, files: files, locks: locks, data: data, databases: databases, level: level,
        options: options)
    } catch {
      unsafe mdb_env_close(handle)
      locks.open.release()
      throw error
    }
  }

  /// Checks the pages on the paths to the records that LMDB itself reads, and to the record of the durability level. Returns
  /// this level: `durable` if there is no record. If the process is alone, ``QuickCheck`` has already checked more pages.
  private func checkPaths(
    _ handle: OpaquePointer, _ data: DataMap
  ) throws(LMDBError) -> DurabilityLevel {
    let transaction = try unsafe beginTransaction(in: handle, UInt32(MDB_RDONLY))
    defer { unsafe mdb_txn_abort(transaction) }
    let pages = try unsafe data.pages(of: transaction)
    let guarding = WriteGuard(names: options.databases)
    let found = try guarding.checking { () throws(PageDamage) -> PageLookup? in
      try guarding.begin(pages)
      for index in options.databases.indices {
        _ = try guarding.tree(of: Database(handle: UInt32(index) + 2))
      }
      let record = DurabilityLevel.record
      return try unsafe guarding.willRead(SearchKey(record.span), in: .main)
    }
    guard let region = found?.region else { return .durable }
    let bytes = unsafe Span<UInt8>(region)
    guard bytes.count == 1, let level = DurabilityLevel(rawValue: bytes[0]) else {
      throw .damagedPage
    }
    return level
  }

  /// Opens the databases in a transaction. Even a reading transaction must commit, because otherwise the handles are lost.
  static func openDatabases(
    _ handle: OpaquePointer, names: [String], create: Bool
  ) throws(LMDBError) -> [Database] {
    let transaction = try unsafe beginTransaction(in: handle, create ? 0 : UInt32(MDB_RDONLY))
    var databases: [Database] = []
    do throws(LMDBError) {
      // As in `beginReadOnce`, the number of the snapshot must be read first.
      atomicMemoryFence(ordering: .acquiring)
      var info = unsafe MDB_envinfo()
      unsafe mdb_env_info(handle, &info)
      // If the commit is newer than the data file, another program has replaced the open data file or changed lock.mdb.
      if !create, unsafe mdb_txn_id(transaction) > info.me_last_txnid { throw .lockMismatch }
      for name in [nil] + names.map(Optional.some) {
        var database: MDB_dbi = 0
        let flags = name != nil && create ? UInt32(MDB_CREATE) : 0
        try check(unsafe mdb_dbi_open(transaction, name, flags, &database))
        if name != nil { databases.append(Database(handle: database)) }
      }
    } catch {
      unsafe mdb_txn_abort(transaction)
      throw error
    }
    try check(unsafe mdb_txn_commit(transaction))
    return databases
  }

  /// Allocates the blocks of lock.mdb for the reader table. On a full disk, LMDB's writes through a map could raise SIGBUS.
  private func allocateLockFile() throws(LMDBError) {
    let length = ReaderTable.fileSize
    if let status = FileStatus.of(files.lock), status.st_size == length,
      status.st_blocks * 512 >= length
    {
      return
    }
    let lock = try FileDescriptor(opening: files.lock, O_RDWR | O_CREAT | O_NOFOLLOW)
    try lock.allocate(length)
  }
}
