import CLMDB
import CLarderSystem
import LarderSystem
import Synchronization

extension Environment {
  /// Ends this process's use of the environment: waits for the running write, flushes what the durability level requires, waits
  /// for the running reads, and releases memory, files and locks. A second call has nothing left to release.
  ///
  /// Every later call throws ``LMDBError/closed``. In a forked child, does nothing, because the parent owns the environment.
  ///
  /// - Returns: false if a read or a write did not end within the environment's lock timeout. Then the environment stays
  ///   mapped. The next call that closes or opens the environment finishes the work, or fails if the read or write still runs.
  @discardableResult
  package func close() -> Bool {
    if handle.isForked { return true }
    // `fatalError` is used because a failed precondition prints no message in a release build.
    if handle.writer.isMine { fatalError("closing a store inside one of its own writes") }
    _ = handle.change(ForkState.open, to: ForkState.closed)
    endBroken()
    timer?.stop()
    // Another write of this process may wait for this thread, so the wait for that write has a limit.
    guard handle.writer.enter(lockTimeout: handle.writerTimeout, perOwner: true) else {
      return false
    }
    defer { handle.writer.leave() }
    return release(lockTimeout: handle.lockTimeout)
  }

  /// Finishes ``close()`` if no read and no write still runs. Also closes an environment that LMDB cannot use any more.
  func finishClosing() -> Bool {
    endBroken()
    guard handle.writer.tryEnter() else { return false }
    defer { handle.writer.leave() }
    return release(lockTimeout: .zero)
  }

  private func endBroken() {
    let isUnsynced = handle.change(ForkState.unsynced, to: ForkState.closed)
    if isUnsynced { note(.syncFailed) }
    if isUnsynced || handle.change(ForkState.broken, to: ForkState.closed) {
      mustFlush.store(false, ordering: .relaxed)
    }
  }

  /// Returns, at the first call, the error that prevented closing from making all commits durable; otherwise nil.
  package func takeClosingFailure() -> LMDBError? {
    let code = closingFailure.exchange(0, ordering: .relaxed)
    return code == 0 ? nil : LMDBError(code: code)
  }

  private func note(_ error: LMDBError) {
    _ = closingFailure.compareExchange(expected: 0, desired: error.code, ordering: .relaxed)
  }

  /// Flushes while other processes may continue. The caller owns the writer lock, and LMDB could continue until now.
  private func flush() {
    do throws(LMDBError) {
      if !isReadOnly || writeGuard.ownCommit.id > 0 {
        try recovery?.file.checkSynced()
        try checkpoints?.makeForClosing()
      }
      isFlushed.store(true, ordering: .relaxed)
    } catch { note(error) }
  }

  /// Returns whether everything is released now. The caller owns the writer lock.
  private func release(lockTimeout: Duration) -> Bool {
    if !handle.isClosed { return true }
    if mustFlush.exchange(false, ordering: .relaxed) { flush() }
    return handle.readers.withAllIdle(lockTimeout: lockTimeout) {
      guard handle.change(ForkState.closed, to: ForkState.released) else { return }
      handle.readers.abortAll()
      checkpoints?.end()
      closeAlone()
      EnvironmentTable.forget(files.identity)
    }
  }

  /// Closes LMDB while no process opens the environment. If `lock.opening` stays busy, closes anyway: closing must not fail. But
  /// at the level scratch nobody then knows whether this process had to flush as the last process.
  private func closeAlone() {
    let locks = handle.locks
    let isLocked = (try? locks.opening.wait(lockTimeout: handle.lockTimeout)) != nil
    if isLocked, isFlushed.load(ordering: .relaxed) { flushIfAlone() }
    if !isLocked, scratch?.isDirty == true, locks.isWritable { note(.openingBusy) }
    unsafe mdb_env_close(handle.pointer)
    locks.open.release()
    if isLocked { locks.opening.release() }
  }

  /// Flushes if no other process uses the environment. This may release the shared lock, but no process can open it now.
  private func flushIfAlone() {
    do throws(LMDBError) {
      guard try handle.locks.open.take(), handle.locks.isWritable else { return }
      // A read-only process flushes, too: while it had the environment open, the writers closed without this flush.
      try scratch?.flush()
      if !isReadOnly || writeGuard.ownCommit.id > 0 { try checkpoints?.saveNewest() }
    } catch { note(error) }
  }

  /// Replaces the data file by the complete new file. The caller owns the writer lock and `lock.opening`, and is alone.
  func replaceData() throws(LMDBError) {
    let paths = files.paths
    let isDone = try handle.readers.withAllIdle(lockTimeout: handle.lockTimeout) {
      () throws(LMDBError) in
      guard handle.change(ForkState.open, to: ForkState.released) else { throw handle.phaseError }
      handle.readers.abortAll()
      checkpoints?.end()
      try flushAndClose()
      try checkErrno { unsafe rename(paths.newData, paths.data) }
      try FileStatus.syncDirectory(paths.directory)
    }
    if !isDone { throw .mapHeld }
  }

  /// Flushes before another data file, which is already on the disk, replaces this file. So after a power failure one of the
  /// two files is complete. No write is possible any more.
  private func flushAndClose() throws(LMDBError) {
    defer {
      unsafe mdb_env_close(handle.pointer)
      EnvironmentTable.forget(files.identity)
    }
    if durability == .temporary { return }
    guard let recovery else { return try unsafe syncFile(of: handle.pointer) }
    // With this record a recovery has nothing to restore.
    try recovery.sync(at: durability)
  }
}
