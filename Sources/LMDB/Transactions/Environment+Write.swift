import CLMDB
import CLarderSystem
import LarderSystem
import Synchronization

extension Environment {
  /// Runs `body` in the only write transaction and commits it; an error from `body` rolls it back.
  ///
  /// Waits for this process's other writers, then for those of other processes, at most for the environment's lock
  /// timeout. The same thread may read meanwhile; a write there throws ``LMDBError/insideWrite``. After
  /// ``LMDBError/mapFull`` the same write may succeed when repeated, because each write first adapts the map's size.
  ///
  /// - Parameter bound: a lock timeout for this write, which also applies to this process's other writers.
  package func write<Result>(
    waitingAtMost bound: Duration? = nil, _ body: (inout WriteTransaction) throws -> Result
  ) throws -> Result {
    if !isOpen { throw phaseError }
    if writer.isMine { throw LMDBError.insideWrite }
    if let bound {
      guard writer.enter(lockTimeout: bound) else { throw LMDBError.busy }
    } else {
      writer.enter()
    }
    defer { writer.leave() }
    let result = try writeLocked(lockTimeout: bound ?? lockTimeout, body)
    checkpointWithoutTimer()
    return result
  }

  /// The caller owns the writer lock.
  private func writeLocked<Result>(
    lockTimeout: Duration, _ body: (inout WriteTransaction) throws -> Result
  ) throws -> Result {
    if !isOpen { throw phaseError }
    if writeGuard.damage != nil { throw LMDBError.damagedPage }
    try prepareMap()
    try keepCheckpoint(lockTimeout: lockTimeout)
    try locks.write.wait(lockTimeout: lockTimeout)
    defer { locks.write.release() }
    let fileSize = try checkIdentity()
    try fitMap()
    try markDirty()
    readers.enterWriter()
    defer { readers.leaveWriter() }
    do {
      let result = try commitTransaction(fileSize: fileSize, body)
      noteCommit()
      return result
    } catch let error as LMDBError {
      if error == .mapFull { growth.isWanted.store(true, ordering: .relaxed) }
      if error == .panic { noteBroken() }
      throw error
    }
  }

  private func commitTransaction<Result>(
    fileSize: Int, _ body: (inout WriteTransaction) throws -> Result
  ) throws -> Result {
    var transaction = try beginWrite()
    let (id, serial) = (transaction.id, transaction.serial)
    try beginGuarding(id, fileSize: fileSize)
    let result = try body(&transaction)
    // A child that `body` forked also returns here and must not commit.
    if isForked { throw LMDBError.forked }
    // `body` may have caught the error.
    if writeGuard.damage != nil { throw LMDBError.damagedPage }
    do throws(LMDBError) {
      try transaction.commit()
    } catch {
      throw error.explained(writing: files.data)
    }
    // A transaction without changes makes no commit: another process may then make the one with this number.
    if meta.lastTransaction == id { writeGuard.noteCommit(id, serial: serial) }
    return result
  }

  private func beginWrite() throws(LMDBError) -> WriteTransaction {
    // Only damage since the opening makes it so large.
    guard meta.lastTransaction <= Int64.max else { throw .damagedPage }
    let expected = meta.lastTransaction + 1
    var transaction: OpaquePointer?
    let code = unsafe mdb_txn_begin(handle, nil, 0, &transaction)
    // The map was adapted to the file, which no other process makes larger now.
    if code == MDB_MAP_RESIZED { throw .damagedPage }
    try check(code)
    let begun = unsafe WriteTransaction(handle: transaction!, environment: self)
    // No other process commits while this one holds `lock.write`. Any other number means that the lock file lost its
    // contents or that a program writes without our locks. (If a writer was killed before it published its commit, LMDB
    // notices its death and takes the number from the data file.)
    if begun.id != expected { throw .lockMismatch }
    return begun
  }

  /// The open files must still be those at the path. The caller owns the writer lock.
  ///
  /// - Returns: the size of the data file.
  @discardableResult
  func checkIdentity() throws(LMDBError) -> Int {
    guard let data = FileStatus.of(dataDescriptor), data.st_nlink == 1,
      directoryStamp.check(directoryChange, at: .now, { isAtPath })
    else { throw .replaced }
    return Int(data.st_size)
  }

  private var isAtPath: Bool {
    guard let data = FileStatus.of(files.data), FileIdentity(data) == identity,
      let lock = FileStatus.of(files.lock), FileIdentity(lock) == lockIdentity
    else { return false }
    return !locks.areDeleted
  }

  /// Nil if the process had no descriptor left for the directory.
  private var directoryChange: DirectoryStamp.Change? {
    switch directory {
    case .some(let directory): directory.status.map(DirectoryStamp.Change.init)
    case .none: nil
    }
  }

  /// LMDB's own, which it closes with the environment.
  private var dataDescriptor: Int32 {
    var descriptor: Int32 = -1
    unsafe mdb_env_get_fd(handle, &descriptor)
    return descriptor
  }

  /// Whether the calling thread is inside ``write(waitingAtMost:_:)``.
  package var isWriting: Bool { writer.isMine }
}
