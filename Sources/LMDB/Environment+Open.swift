import CLMDB

extension Environment {
  /// Opens the environment in `directory`, or returns the one this process already has open there.
  ///
  /// - Parameter prepare: fills a new environment before anybody can see it; an existing one is never handed to it.
  package static func open(
    at directory: String, options: EnvironmentOptions,
    prepare: (inout WriteTransaction) throws(LMDBError) -> Void
  ) throws(OpenError) -> Environment {
    if options.create, StoreFiles.status(of: directory) == nil {
      try StoreFiles.makeDirectory(directory)
    }
    let files = try StoreFiles(resolving: directory)
    return try EnvironmentTable.environment(
      identity: { StoreFiles.status(of: files.data).map(FileIdentity.init) },
      open: { () throws(OpenError) in try open(files, options: options, prepare: prepare) })
  }

  private static func open(
    _ files: StoreFiles, options: EnvironmentOptions,
    prepare: (inout WriteTransaction) throws(LMDBError) -> Void
  ) throws(OpenError) -> Environment {
    try files.inspect(allowing: options)
    if !files.hasData {
      if !options.create { throw OpenError(.absent, path: files.directory) }
      if try !files.isEmptyBesidesLocks() { throw OpenError(.notEmpty, path: files.directory) }
    } else if StoreFiles.status(of: files.directory + "/" + GuardLocks.Name.open.file) == nil {
      // Never touched by us: leave no lock files in somebody else's directory.
      try quickCheck(files, options: options)
    }

    let locks = try GuardLocks(in: files.directory)
    do throws(LMDBError) {
      try locks.wait(for: .open, patience: options.patience)
    } catch {
      throw error == .busy
        ? OpenError(.busy, path: files.directory)
        : OpenError(.system, path: files.directory, cause: error)
    }
    defer { locks.release(.open) }
    if try isAlone(locks, files) {
      if !files.hasData { try create(files, options: options, prepare: prepare) }
      try quickCheck(files, options: options)
    } else {
      try checkPeersLocks(files)
    }
    do throws(LMDBError) {
      return try map(files, locks: locks, options: options)
    } catch {
      throw OpenError(.system, path: files.directory, cause: error)
    }
  }

  /// Whether no process has the environment open; ours does not, or we would not be here.
  private static func isAlone(_ locks: GuardLocks, _ files: StoreFiles) throws(OpenError) -> Bool {
    do throws(LMDBError) {
      guard try locks.take(.presence) else { return false }
      locks.release(.presence)
      return true
    } catch {
      throw OpenError(.system, path: files.directory, cause: error)
    }
  }

  private static func quickCheck(_ files: StoreFiles, options: EnvironmentOptions) throws(OpenError)
  {
    do throws(RawFile.Finding) {
      let check = try QuickCheck(path: files.data)
      if try check.value(for: options.signature) == nil { throw .init(kind: .foreign, detail: "") }
      try check.run(databases: options.databases)
    } catch {
      throw OpenError(error.kind, path: files.data, detail: error.detail)
    }
  }

  /// A process that opened and closed lock.mdb behind LMDB's back has lost LMDB's lock on it; the next to open would
  /// then wipe the reader table under it, and its snapshots would silently be overwritten.
  private static func checkPeersLocks(_ files: StoreFiles) throws(OpenError) {
    do throws(LMDBError) {
      let lock = try FileDescriptor(opening: files.lock, O_RDWR | O_NOFOLLOW)
      if clmdb_is_locked(lock.number) != 0 { return }
    } catch {
      if error != LMDBError(code: ENOENT) {
        throw OpenError(.system, path: files.lock, cause: error)
      }
    }
    throw OpenError(.locksLost, path: files.directory)
  }

  /// LMDB's own opening, with the lock files held and the data file checked.
  private static func map(
    _ files: StoreFiles, locks: GuardLocks, options: EnvironmentOptions
  ) throws(LMDBError) -> Environment {
    try allocateLockFile(files)
    var created: OpaquePointer?
    try check(unsafe mdb_env_create(&created))
    let handle = unsafe created!
    do throws(LMDBError) {
      try unsafe configure(handle, files: files, options: options)
      try unsafe openRetrying(
        handle, files.directory, flags: UInt32(MDB_NOTLS | options.flush.flag))
      let descriptor = try unsafe descriptor(of: handle)
      guard clmdb_close_on_exec(descriptor) == 0 else { throw LMDBError(code: clmdb_errno()) }
      _ = try locks.take(.presence, shared: true)
      var dead: Int32 = 0
      try check(unsafe mdb_reader_check(handle, &dead))
      let databases = try unsafe openDatabases(handle, names: options.databases, create: false)
      guard let data = StoreFiles.status(of: files.data),
        let lock = StoreFiles.status(of: files.lock)
      else { throw .replaced }
      return unsafe Environment(
        files: files, locks: locks, handle: handle, databases: databases,
        identity: FileIdentity(data), lockIdentity: FileIdentity(lock), options: options)
    } catch {
      unsafe mdb_env_close(handle)
      throw error
    }
  }

  private static func configure(
    _ handle: OpaquePointer, files: StoreFiles, options: EnvironmentOptions
  ) throws(LMDBError) {
    let size = StoreFiles.status(of: files.data).map { Int($0.st_size) } ?? 0
    try check(unsafe mdb_env_set_maxreaders(handle, UInt32(maximumReaders)))
    try check(unsafe mdb_env_set_maxdbs(handle, UInt32(options.databases.count)))
    try check(unsafe mdb_env_set_mapsize(handle, max(options.mapSize, size * 4)))
  }

  private static func openRetrying(
    _ handle: OpaquePointer, _ path: String, flags: UInt32
  ) throws(LMDBError) {
    for attempt in 0... {
      let result = unsafe mdb_env_open(handle, path, flags, 0o600)
      if result == 0 { return }
      guard result == EINTR || result == EAGAIN, attempt < 100 else {
        throw LMDBError(code: result)
      }
      pause(microseconds: 1000)
    }
  }

  private static func descriptor(of handle: OpaquePointer) throws(LMDBError) -> Int32 {
    var descriptor: Int32 = -1
    try check(unsafe mdb_env_get_fd(handle, &descriptor))
    return descriptor
  }

  /// Handles made in a transaction are lost unless it commits, a reading one too.
  static func openDatabases(
    _ handle: OpaquePointer, names: [String], create: Bool
  ) throws(LMDBError) -> [Database] {
    var transaction: OpaquePointer?
    try check(unsafe mdb_txn_begin(handle, nil, create ? 0 : UInt32(MDB_RDONLY), &transaction))
    var databases: [Database] = []
    for name in [nil] + names.map(Optional.some) {
      var database: MDB_dbi = 0
      let flags = name != nil && create ? UInt32(MDB_CREATE) : 0
      let result = unsafe mdb_dbi_open(transaction, name, flags, &database)
      if result != 0 {
        unsafe mdb_txn_abort(transaction)
        throw LMDBError(code: result)
      }
      if name != nil { databases.append(Database(handle: database)) }
    }
    try check(unsafe mdb_txn_commit(transaction))
    return databases
  }

  static let maximumReaders = 1022

  /// LMDB writes lock.mdb through a map; as a sparse file on a full disk that would raise SIGBUS.
  private static func allocateLockFile(_ files: StoreFiles) throws(LMDBError) {
    let length = off_t(64 * (maximumReaders + 2))
    if let status = StoreFiles.status(of: files.lock), status.st_size >= length { return }
    let lock = try FileDescriptor(opening: files.lock, O_RDWR | O_CREAT | O_NOFOLLOW)
    try check(clmdb_allocate(lock.number, length))
  }
}

extension EnvironmentOptions.Flush {
  fileprivate var flag: Int32 {
    switch self {
    case .everyCommit: 0
    case .dataOnly: MDB_NOMETASYNC
    case .never: MDB_NOSYNC
    }
  }
}
