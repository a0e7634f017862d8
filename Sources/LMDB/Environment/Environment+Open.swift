import CLMDB
import CLarderSystem
import LarderSystem

extension Environment {
  /// Opens the environment in `directory`, or returns the one this process already has open there, with the options it
  /// was opened with.
  ///
  /// - Parameter prepare: fills a new environment before anybody can see it; an existing one is never handed to it.
  package static func open(
    at directory: String, options: EnvironmentOptions,
    prepare: (inout WriteTransaction) throws(LMDBError) -> Void
  ) throws(OpenError) -> Environment {
    let isNew = options.create && FileStatus.of(directory) == nil
    if isNew { try StoreFiles.makeDirectory(directory) }
    do throws(OpenError) {
      let files = try StoreFiles(resolving: directory)
      let environment = try EnvironmentTable.environment(
        in: files, lockTimeout: options.lockTimeout
      ) {
        () throws(OpenError) in
        try open(files, options: options, prepare: prepare)
      }
      if let asked = options.durability, asked != environment.durability {
        throw OpenError(
          .otherDurability, path: files.directory,
          detail: "it is \(environment.durability), and \(asked) was asked for")
      }
      return environment
    } catch {
      // Only an empty directory goes.
      if isNew { unsafe rmdir(directory) }
      throw error
    }
  }

  private static func open(
    _ files: StoreFiles, options: EnvironmentOptions,
    prepare: (inout WriteTransaction) throws(LMDBError) -> Void
  ) throws(OpenError) -> Environment {
    try files.inspect(allowing: options)
    if !files.hasData {
      if !options.create { throw OpenError(.absent, path: files.directory) }
      if try !files.isEmptyBesidesLocks() { throw OpenError(.notEmpty, path: files.directory) }
    } else if FileStatus.of(files.directory + "/" + StoreLocks.names[0]) == nil,
      FileStatus.of(files.boot) == nil
    {
      // Never touched by us: leave no lock files in somebody else's directory.
      try quickCheck(files, options: options)
    }

    let locks = try StoreLocks(in: files.directory)
    do throws(LMDBError) {
      try locks.opening.wait(lockTimeout: options.lockTimeout)
    } catch {
      throw error == .busy
        ? OpenError(.busy, path: files.directory)
        : OpenError(.system, path: files.directory, cause: error)
    }
    defer { locks.opening.release() }
    if try isAlone(locks, files) {
      if !options.readOnly { try removeUnfinished(files) }
      if !files.hasData {
        if !options.create { throw OpenError(.absent, path: files.directory) }
        try create(
          files, options: options, durability: options.durability ?? .standard, prepare: prepare)
      } else {
        try recover(files, options: options, prepare: prepare)
      }
      try quickCheck(files, options: options)
      if options.changesDurability, let level = options.durability {
        try changeLevel(files, options: options, to: level)
      }
    }
    do throws(LMDBError) {
      let environment = try mapRetrying(files, locks: locks, options: options)
      environment.noteFormerCommits()
      return environment
    } catch {
      if error.code == ENOENT, FileStatus.of(files.boot) == nil {
        throw OpenError(.damaged, path: files.boot, detail: "it is missing")
      }
      throw OpenError(.system, path: files.directory, cause: error)
    }
  }

  /// Whether no process has the environment open; ours does not, or we would not be here.
  ///
  /// If one has, its lock on lock.mdb must stand. A process that opened and closed lock.mdb behind LMDB's back has lost
  /// it; the next to open would then wipe the reader table under it, and its snapshots would silently be overwritten.
  /// A process that is just ending loses its locks one after another, so a moment passes before the verdict.
  private static func isAlone(_ locks: StoreLocks, _ files: StoreFiles) throws(OpenError) -> Bool {
    do throws(LMDBError) {
      let deadline = ContinuousClock.now + .seconds(1)
      while ContinuousClock.now < deadline {
        if try locks.open.take() {
          locks.open.release()
          return true
        }
        if try isLocked(files.lock) { return false }
        backOff(microseconds: 1000)
      }
    } catch {
      throw OpenError(.system, path: files.directory, cause: error)
    }
    throw OpenError(.locksLost, path: files.directory)
  }

  private static func isLocked(_ path: String) throws(LMDBError) -> Bool {
    if FileStatus.of(path) == nil { return false }
    let lock = try FileDescriptor(opening: path, O_RDWR | O_NOFOLLOW)
    let answer = larder_is_first_byte_locked(lock.number)
    if answer < 0 { throw .last }
    return answer == 1
  }

  private static func quickCheck(_ files: StoreFiles, options: EnvironmentOptions) throws(OpenError)
  {
    do throws(RawFile.Finding) {
      let check = try QuickCheck(path: files.data)
      try check.run(databases: options.databases, signature: options.signature)
    } catch {
      throw OpenError(error.kind, path: files.data, detail: error.detail)
    }
  }

  /// A signal, or a process that ends just now, can make LMDB's opening fail. A handle that failed is of no more use.
  private static func mapRetrying(
    _ files: StoreFiles, locks: StoreLocks, options: EnvironmentOptions
  ) throws(LMDBError) -> Environment {
    for _ in 0..<100 {
      do throws(LMDBError) {
        return try map(files, locks: locks, options: options)
      } catch {
        if error.code != EINTR, error.code != EAGAIN { throw error }
        backOff(microseconds: 1000)
      }
    }
    return try map(files, locks: locks, options: options)
  }

  /// LMDB's own opening, with the lock files held and the data file checked.
  private static func map(
    _ files: StoreFiles, locks: StoreLocks, options: EnvironmentOptions
  ) throws(LMDBError) -> Environment {
    try allocateLockFile(files)
    var created: OpaquePointer?
    try check(unsafe mdb_env_create(&created))
    let handle = unsafe created!
    do throws(LMDBError) {
      try unsafe configure(handle, files: files, options: options)
      try check(unsafe mdb_env_open(handle, files.directory, UInt32(MDB_NOTLS), 0o600))
      let descriptor = try unsafe descriptor(of: handle)
      guard larder_close_on_exec(descriptor) == 0 else { throw .last }
      _ = try locks.open.take(shared: true)
      var dead: Int32 = 0
      try locks.whileRegistering(lockTimeout: options.lockTimeout) {
        unsafe mdb_reader_check(handle, &dead)
      }
      var databases: [Database] = []
      try locks.whileRegistering(lockTimeout: options.lockTimeout) {
        unsafe openDatabases(handle, names: options.databases, create: false, &databases)
      }
      var durability = DurabilityLevel.durable
      try locks.whileRegistering(lockTimeout: options.lockTimeout) {
        unsafe readLevel(handle, &durability)
      }
      try check(unsafe mdb_env_set_flags(handle, durability.flags, 1))
      return try unsafe Environment(
        files: files, locks: locks, handle: handle, databases: databases, durability: durability,
        options: options)
    } catch {
      unsafe mdb_env_close(handle)
      locks.open.release()
      throw error
    }
  }

  static func configure(
    _ handle: OpaquePointer, files: StoreFiles, options: EnvironmentOptions
  ) throws(LMDBError) {
    let size = FileStatus.of(files.data).map { Int($0.st_size) } ?? 0
    // More than 64 TB of address space no process has; a sparse file may claim to be larger.
    let wanted = max(options.mapSize, min(size, 1 << 45) * 2)
    let unit = 1 << 16
    try check(unsafe mdb_env_set_maxreaders(handle, UInt32(maximumReaders)))
    try check(unsafe mdb_env_set_maxdbs(handle, UInt32(options.databases.count)))
    try check(unsafe mdb_env_set_mapsize(handle, (wanted + unit - 1) / unit * unit))
  }

  private static func descriptor(of handle: OpaquePointer) throws(LMDBError) -> Int32 {
    var descriptor: Int32 = -1
    try check(unsafe mdb_env_get_fd(handle, &descriptor))
    return descriptor
  }

  /// Handles made in a transaction are lost unless it commits, a reading one too.
  static func openDatabases(
    _ handle: OpaquePointer, names: [String], create: Bool, _ databases: inout [Database]
  ) -> Int32 {
    var transaction: OpaquePointer?
    let begun = unsafe mdb_txn_begin(handle, nil, create ? 0 : UInt32(MDB_RDONLY), &transaction)
    if begun != 0 { return begun }
    if !create, unsafe !isOfDataFile(transaction) {
      unsafe mdb_txn_abort(transaction)
      return LMDBError.lockMismatch.code
    }
    for name in [nil] + names.map(Optional.some) {
      var database: MDB_dbi = 0
      let flags = name != nil && create ? UInt32(MDB_CREATE) : 0
      let result = unsafe mdb_dbi_open(transaction, name, flags, &database)
      if result != 0 {
        unsafe mdb_txn_abort(transaction)
        return result
      }
      if name != nil { databases.append(Database(handle: database)) }
    }
    return unsafe mdb_txn_commit(transaction)
  }

  /// No: the data file was replaced by another under a process that has it open, or lock.mdb was changed.
  private static func isOfDataFile(_ transaction: OpaquePointer?) -> Bool {
    var info = unsafe MDB_envinfo()
    unsafe mdb_env_info(mdb_txn_env(transaction), &info)
    return unsafe mdb_txn_id(transaction) <= info.me_last_txnid
  }

  static let maximumReaders = 1022

  /// LMDB writes lock.mdb through a map; with holes in it on a full disk that would raise SIGBUS.
  private static func allocateLockFile(_ files: StoreFiles) throws(LMDBError) {
    let length = off_t(64 * (maximumReaders + 2))
    if let status = FileStatus.of(files.lock), status.st_size >= length,
      status.st_blocks * 512 >= status.st_size
    {
      return
    }
    let lock = try FileDescriptor(opening: files.lock, O_RDWR | O_CREAT | O_NOFOLLOW)
    try check(larder_allocate(lock.number, max(length, off_t(lock.size))))
  }
}
