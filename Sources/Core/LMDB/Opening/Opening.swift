import CLarderSystem
import LarderSystem

/// The steps before LMDB maps the files, in this order: inspect and lock the files, recover or create them, check them.
struct Opening {
  typealias Filling = (inout WriteTransaction) throws(LMDBError) -> Void

  let files: StoreFiles
  let options: EnvironmentOptions
  let locks: StoreLocks

  fileprivate init(of files: StoreFiles, options: EnvironmentOptions) throws(OpenError) {
    self.files = files
    self.options = options
    let isWritable = try files.inspect(options)
    if try !files.hasData {
      if !options.create {
        let isUnfinished = try files.isUnfinished()
        throw OpenError(
          .absent, path: files.directory,
          detail: isUnfinished ? "a process was killed while it made one" : "")
      }
      if try !files.isEmptyBesidesOwnFiles() { throw OpenError(.notEmpty, path: files.directory) }
    } else if StoreLocks.names.allSatisfy({ FileStatus.of(files.directory + "/" + $0) == nil }),
      FileStatus.of(files.recovery) == nil
    {
      // Without lock files, the file may belong to another program. So it is checked before lock files are made beside it.
      try QuickCheck.run(files, options)
    }
    locks = try StoreLocks(in: files.directory, isWritable: isWritable)
  }

  fileprivate func run(_ fill: Filling) throws(OpenError) -> Environment {
    try system { () throws(LMDBError) in
      try locks.opening.wait(lockTimeout: options.lockTimeout)
      if locks.opening.isDeleted { throw LMDBError.replaced }
    }
    defer { locks.opening.release() }
    let isAlone = try isAlone()
    if isAlone {
      try prepareAlone(fill)
    } else {
      try checkSynced()
      try joinOthers()
    }
    do throws(LMDBError) {
      let environment = try openHandle()
      if !options.readOnly { environment.checkpoints?.noteFormerCommits() }
      options.opening(environment, isAlone)
      return environment
    } catch {
      if error.code == ENOENT, FileStatus.of(files.recovery) == nil {
        throw OpenError(.damaged, path: files.recovery, detail: "it is missing")
      }
      throw OpenError(error, in: files.directory)
    }
  }

  /// Recovers or creates the environment. A read-only process takes no writer lock, because it may lack permission to write.
  private func prepareAlone(_ fill: Filling) throws(OpenError) {
    defer { if !options.readOnly { locks.write.release() } }
    if !options.readOnly {
      try system { () throws(LMDBError) in try locks.write.wait(lockTimeout: options.lockTimeout) }
      // Removes the file `newData` of a process that was killed while it created or compacted the store.
      try OpenError.wrapping(path: files.newData) { () throws(LMDBError) in
        try FileStatus.remove(files.newData)
      }
    }
    try cutLockFile()
    if try !files.hasData {
      if !options.create { throw OpenError(.absent, path: files.directory) }
      try createData(at: options.durability ?? .standard, fill)
    } else {
      try recover(fill)
    }
    try QuickCheck.run(files, options)
    if let check = options.durabilityChange, let level = options.durability {
      try system { () throws(LMDBError) in try check(files.directory) }
      try changeLevel(to: level)
    }
  }

  /// Throws if a sync has failed, because only a process that is alone can then recover the environment.
  private func checkSynced() throws(OpenError) {
    if FileStatus.of(files.recovery) == nil { return }
    let record = try OpenError.wrapping(path: files.recovery) { () throws(LMDBError) in
      try RecoveryFile(opening: files.recovery, readOnly: true).read()
    }
    guard let record, record.isFailed else { return }
    // A store at the level durable does not use this file, so the file may belong to another store.
    let data = try system { () throws(LMDBError) in try DataStamp(of: files.data) }
    if data.store != record.data.store { return }
    let cause = record.failure == 0 ? nil : LMDBError(code: record.failure)
    throw OpenError(
      .unsynced, path: files.directory, detail: StoreLocks.users(in: files.directory), cause: cause)
  }

  func system<Result: ~Copyable>(
    _ body: () throws(LMDBError) -> Result
  ) throws(OpenError) -> Result { try OpenError.wrapping(path: files.directory, body) }

  /// Whether no process has the environment open. If this process itself had the environment open, this code would not run.
  ///
  /// A process that has the environment open holds `lock.open` and LMDB's lock on lock.mdb. This function checks both locks,
  /// because either lock may be lost: a process loses LMDB's lock if it opens and closes lock.mdb once more, and if another
  /// program has deleted `lock.open`, this process locks a new file. An ending process loses its locks one after another, so
  /// this function tries again until both locks give the same answer.
  private func isAlone() throws(OpenError) -> Bool {
    let deadline = SuspendingClock.now + .seconds(1)
    while SuspendingClock.now < deadline {
      let (isFree, isLocked) = try system { () throws(LMDBError) in
        let isFree = try locks.open.take()
        if isFree { locks.open.release() }
        return (isFree, try isLockedByLMDB)
      }
      if isLocked != isFree { return isFree }
      backOff(microseconds: 1000)
    }
    throw OpenError(
      .locksLost, path: files.directory, detail: StoreLocks.users(in: files.directory))
  }

  /// Whether LMDB's lock is held. Must not be called with the environment open: closing lock.mdb would release LMDB's lock.
  private var isLockedByLMDB: Bool {
    get throws(LMDBError) {
      if FileStatus.of(files.lock) == nil { return false }
      let lock = try FileDescriptor(opening: files.lock, O_RDONLY | O_NOFOLLOW)
      return try checkErrno { larder_is_locked(lock.number, 0, 1) } == 1
    }
  }

  /// Opens the files for a process without permission to write them, for example on read-only media. The process has no slot in
  /// the reader table, so writers could overwrite the pages that it reads. So it holds `lock.write` shared until it closes.
  fileprivate func runWithoutPermission() throws(OpenError) -> Environment {
    if try !files.hasData { throw OpenError(.absent, path: files.directory) }
    let isHeld = try system { () throws(LMDBError) in
      try isLockedByLMDB ? false : locks.reading.take(shared: true)
    }
    if !isHeld {
      throw OpenError(.inUse, path: files.directory, detail: StoreLocks.users(in: files.directory))
    }
    try recover { _ in }
    try QuickCheck.run(files, options)
    return try system { () throws(LMDBError) in try openHandle() }
  }
}

extension Environment {
  /// Opens the environment in `directory`. If this process has it open, returns the open object, which keeps its options.
  ///
  /// - Parameter fill: writes the first records of a new environment, before any process can see them; not called otherwise.
  package static func open(
    at directory: String, options: EnvironmentOptions,
    fill: (inout WriteTransaction) throws(LMDBError) -> Void
  ) throws(OpenError) -> Environment {
    try OpenError.wrapping(path: directory) { () throws(LMDBError) in try claimStandardDescriptors()
    }
    larder_ignore_file_size_signal()
    let isNew = options.create && FileStatus.of(directory) == nil
    if isNew { try StoreFiles.makeDirectory(directory) }
    do throws(OpenError) {
      let files = try StoreFiles(resolving: directory)
      let environment = try EnvironmentTable.environment(
        in: files, lockTimeout: options.lockTimeout
      ) {
        () throws(OpenError) in
        let opening = try Opening(of: files, options: options)
        return opening.locks.isWritable ? try opening.run(fill) : try opening.runWithoutPermission()
      }
      if let required = options.durability, required != environment.durability {
        throw OpenError(
          .otherDurability, path: files.directory,
          detail: "it is \(environment.durability), and \(required) is required")
      }
      return environment
    } catch {
      // If the directory is not empty, this call fails, so the directory stays.
      if isNew { unsafe rmdir(directory) }
      throw error
    }
  }
}
