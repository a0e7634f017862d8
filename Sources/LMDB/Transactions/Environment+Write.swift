import CLMDB
import CLarderSystem
import LarderSystem
import Synchronization

extension Environment {
  /// Runs `body` in the one write transaction and commits it; an error from `body` takes everything back.
  ///
  /// Waits for this process's other writers, then for those of other processes for at most the environment's lockTimeout.
  /// Reading on the same thread meanwhile is fine; writing there is a programming error and traps. After
  /// ``LMDBError/mapFull`` the same write may succeed when it is tried again, because each write first sees to the
  /// map's size.
  ///
  /// - Parameter bound: how long to wait for other writers instead, those of this process included.
  package func write<Result>(
    waitingAtMost bound: Duration? = nil, _ body: (inout WriteTransaction) throws -> Result
  ) throws -> Result {
    let lockTimeout = bound ?? lockTimeout
    if let bound {
      guard writer.enter(lockTimeout: bound) else { throw LMDBError.busy }
    } else {
      writer.enter()
    }
    defer { writer.leave() }
    let result = try writeLocked(lockTimeout: lockTimeout, body)
    checkpointWithoutTimer()
    return result
  }

  /// With the writer's gate held.
  private func writeLocked<Result>(
    lockTimeout: Duration, _ body: (inout WriteTransaction) throws -> Result
  ) throws -> Result {
    if !isOpen { throw phaseError }
    try prepareMap()
    try keepCheckpoint(lockTimeout: lockTimeout)
    try locks.queue.wait(lockTimeout: lockTimeout)
    do {
      defer { locks.queue.release() }
      try locks.write.wait(lockTimeout: lockTimeout)
    }
    defer { locks.write.release() }
    try checkIdentity()
    try fitMap()
    try markDirty()
    readers.enterWriter()
    defer { readers.leaveWriter() }
    do {
      let result = try writeAlone(body)
      noteCommit()
      return result
    } catch let error as LMDBError {
      if error == .mapFull { growth.isWanted.store(true, ordering: .relaxed) }
      if error == .panic { noteBroken() }
      throw error
    }
  }

  private func writeAlone<Result>(_ body: (inout WriteTransaction) throws -> Result) throws
    -> Result
  {
    var transaction = try beginWrite()
    let result = try body(&transaction)
    // `body` may have returned twice: here and in a child that it forked, which must not commit.
    if isForked { throw LMDBError.forked }
    do throws(LMDBError) {
      try transaction.commit()
    } catch {
      throw explained(error, at: path)
    }
    return result
  }

  private func beginWrite() throws(LMDBError) -> WriteTransaction {
    let expected = meta.lastTransaction + 1
    var transaction: OpaquePointer?
    try check(unsafe mdb_txn_begin(handle, nil, 0, &transaction))
    let begun = unsafe WriteTransaction(handle: transaction!, environment: self)
    // Under the guard lock nobody else can have committed in between, so any other number means that the lock file
    // lost its memory or that somebody writes without our locks. (A writer killed before it published its commit is
    // no such case: LMDB then learns of its death and takes the number from the data file.)
    if begun.id != expected { throw .lockMismatch }
    return begun
  }

  /// The files behind the open descriptors must still be the ones that the path names.
  func checkIdentity() throws(LMDBError) {
    guard let data = FileStatus.of(files.data), FileIdentity(data) == identity,
      data.st_nlink == 1,
      let lock = FileStatus.of(files.lock), FileIdentity(lock) == lockIdentity
    else { throw .replaced }
  }

  /// LMDB reports a full disk as an I/O error, because it sees only a short write.
  func explained(_ error: LMDBError, at place: String) -> LMDBError {
    guard error == .inputOutput else { return error }
    var system = statvfs()
    guard unsafe statvfs(place, &system) == 0 else { return error }
    return UInt64(system.f_bavail) * UInt64(system.f_frsize) < 4 << 20 ? .diskFull : error
  }
}

extension Environment {
  /// Whether the calling thread is inside ``write(_:)``.
  package var isWriting: Bool { writer.isMine }
}
