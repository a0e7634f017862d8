import CLMDB
import CLarderSystem
import LarderSystem

extension Environment {
  /// Opens the environment in `directory`, or returns the one that this process has open there, with the options it was
  /// opened with.
  ///
  /// - Parameter prepare: fills a new environment before any process can see it; not called for an existing one.
  package static func open(
    at directory: String, options: EnvironmentOptions,
    prepare: (inout WriteTransaction) throws(LMDBError) -> Void
  ) throws(OpenError) -> Environment {
    try claimStandardDescriptors(directory)
    larder_ignore_file_size_signal()
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
      if let required = options.durability, required != environment.durability {
        throw OpenError(
          .otherDurability, path: files.directory,
          detail: "it is \(environment.durability), and \(required) is required")
      }
      return environment
    } catch {
      // Removes the directory only if it is empty.
      if isNew { unsafe rmdir(directory) }
      throw error
    }
  }

  private static func claimStandardDescriptors(_ directory: String) throws(OpenError) {
    do throws(LMDBError) {
      try StandardDescriptors.claim()
    } catch {
      throw OpenError(.system, path: directory, cause: error)
    }
  }

  private static func open(
    _ files: StoreFiles, options: EnvironmentOptions,
    prepare: (inout WriteTransaction) throws(LMDBError) -> Void
  ) throws(OpenError) -> Environment {
    let isWritable = try files.inspect(options)
    if !files.hasData {
      if !options.create { throw OpenError(.absent, path: files.directory) }
      if try !files.isEmptyBesidesOwnFiles() { throw OpenError(.notEmpty, path: files.directory) }
    } else if StoreLocks.names.allSatisfy({ FileStatus.of(files.directory + "/" + $0) == nil }),
      FileStatus.of(files.recovery) == nil
    {
      // No Larder process has opened it yet: leave no lock files in another program's directory.
      try quickCheck(files, options: options)
    }
    let locks = try StoreLocks(in: files.directory, isWritable: isWritable)
    if !isWritable { return try openWithoutPermission(files, locks: locks, options: options) }
    return try open(files, locks: locks, options: options, prepare: prepare)
  }

  private static func open(
    _ files: StoreFiles, locks: StoreLocks, options: EnvironmentOptions,
    prepare: (inout WriteTransaction) throws(LMDBError) -> Void
  ) throws(OpenError) -> Environment {
    try waitToOpen(files, locks, lockTimeout: options.lockTimeout)
    defer { locks.opening.release() }
    if try isAlone(locks, files) {
      try prepareAlone(files, locks: locks, options: options, prepare: prepare)
    }
    do throws(LMDBError) {
      let environment = try mapRetrying(files, locks: locks, options: options)
      environment.noteFormerCommits()
      return environment
    } catch {
      if error.code == ENOENT, FileStatus.of(files.recovery) == nil {
        throw OpenError(.damaged, path: files.recovery, detail: "it is missing")
      }
      throw OpenError(.system, path: files.directory, cause: error)
    }
  }

  private static func waitToOpen(
    _ files: StoreFiles, _ locks: StoreLocks, lockTimeout: Duration
  ) throws(OpenError) {
    do throws(LMDBError) {
      try locks.opening.wait(lockTimeout: lockTimeout)
      if locks.opening.isDeleted { throw .replaced }
    } catch {
      throw error == .busy
        ? OpenError(.busy, path: files.directory, detail: StoreLocks.openers(in: files.directory))
        : OpenError(.system, path: files.directory, cause: error)
    }
  }

  /// Creates, recovers and checks the data file while no other process has it open. Holds `lock.write`, because a process
  /// without permission to write may read the file.
  private static func prepareAlone(
    _ files: StoreFiles, locks: StoreLocks, options: EnvironmentOptions,
    prepare: (inout WriteTransaction) throws(LMDBError) -> Void
  ) throws(OpenError) {
    let isLocked = options.readOnly ? false : try waitToWrite(files, locks, options: options)
    defer { if isLocked { locks.write.release() } }
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

  private static func waitToWrite(
    _ files: StoreFiles, _ locks: StoreLocks, options: EnvironmentOptions
  ) throws(OpenError) -> Bool {
    do throws(LMDBError) {
      try locks.write.wait(lockTimeout: options.lockTimeout)
      return true
    } catch {
      throw OpenError(
        error == .busy ? .busy : .system, path: files.directory,
        detail: StoreLocks.writers(in: files.directory), cause: error)
    }
  }

  /// Whether no process has the environment open; this one does not, or this code would not run.
  ///
  /// A process that has it open holds `lock.open` and a lock on lock.mdb, or neither is of use. A process that opened and
  /// closed lock.mdb has lost the latter: the next process to open would clear the reader table, and snapshots would be
  /// overwritten. If `lock.open` was deleted, this process has locked a new file, and would recover or compact the data
  /// beside a writer. A process that is ending loses its locks one after another, so this waits a moment before it decides.
  private static func isAlone(_ locks: StoreLocks, _ files: StoreFiles) throws(OpenError) -> Bool {
    do throws(LMDBError) {
      let deadline = ContinuousClock.now + .seconds(1)
      while ContinuousClock.now < deadline {
        let isFree = try locks.open.take()
        if isFree { locks.open.release() }
        if try isLockedByLMDB(files.lock) != isFree { return isFree }
        backOff(microseconds: 1000)
      }
    } catch {
      throw OpenError(.system, path: files.directory, cause: error)
    }
    throw OpenError(
      .locksLost, path: files.directory, detail: StoreLocks.users(in: files.directory))
  }

  /// Whether a process has LMDB's own lock on lock.mdb. Never called while this process has the environment open: closing
  /// the file would release its lock.
  static func isLockedByLMDB(_ path: String) throws(LMDBError) -> Bool {
    if FileStatus.of(path) == nil { return false }
    let lock = try FileDescriptor(opening: path, O_RDONLY | O_NOFOLLOW)
    let answer = larder_is_locked_before(lock.number, 1)
    if answer < 0 { throw .last }
    return answer == 1
  }

  static func quickCheck(_ files: StoreFiles, options: EnvironmentOptions) throws(OpenError) {
    do throws(RawFile.Finding) {
      let check = try QuickCheck(path: files.data)
      try check.run(databases: options.databases, signature: options.signature)
    } catch {
      throw OpenError(error.kind, path: files.data, detail: error.detail)
    }
  }
}

extension Environment {
  /// Opens the environment for reading in a process that may not write its files: on read-only media, or as another user.
  ///
  /// Without a slot in the reader table no writer would respect this process's snapshots, so no other process may write:
  /// none has the environment open now, and `lock.write` is held shared until this process closes it.
  private static func openWithoutPermission(
    _ files: StoreFiles, locks: StoreLocks, options: EnvironmentOptions
  ) throws(OpenError) -> Environment {
    if !files.hasData { throw OpenError(.absent, path: files.directory) }
    let isHeld: Bool
    do throws(LMDBError) {
      isHeld = try isLockedByLMDB(files.lock) ? false : locks.reading.take(shared: true)
    } catch {
      throw OpenError(.system, path: files.directory, cause: error)
    }
    if !isHeld {
      throw OpenError(.inUse, path: files.directory, detail: StoreLocks.users(in: files.directory))
    }
    try recover(files, options: options) { _ in }
    try quickCheck(files, options: options)
    do throws(LMDBError) {
      return try mapRetrying(files, locks: locks, options: options, isWritable: false)
    } catch {
      throw OpenError(.system, path: files.directory, cause: error)
    }
  }
}
