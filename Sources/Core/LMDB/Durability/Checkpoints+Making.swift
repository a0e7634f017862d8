import CLMDB
import LarderSystem
import Synchronization

/// LMDB never syncs at the level checkpointed; a checkpoint makes one commit durable, as the recovery point:
///
/// 1. Under `lock.write`, begin a read of the newest commit (the pin) and copy the commit's meta page.
/// 2. Sync the data file. Writers continue meanwhile.
/// 3. Write the copied meta page to the file `recovery` and sync it.
/// 4. End the read of the previous checkpoint.
///
/// LMDB reuses a page only if a commit older than the oldest snapshot freed it. So a pin at or before the recovery point keeps
/// every page of the recovery point as it was synced, with the free lists. Each writing process has a pin of its own. The
/// recovery point only moves forward, so a valid pin stays valid.
extension Checkpoints {
  /// Writers wait only while the checkpoint begins.
  ///
  /// - Parameter lockTimeout: how long this call waits for other processes: at most once as it begins, and once as it ends.
  func make(lockTimeout: Duration) throws(LMDBError) {
    guard handle.locks.isWritable else { return }
    let begun = try handle.withWriter { () throws(LMDBError) in
      try begin(lockTimeout: lockTimeout)
    }
    try finish(begun, lockTimeout: lockTimeout)
  }

  /// Before each write: ensures a pin, and the interval if the timer thread is late. The caller owns only the writer lock.
  func prepareWrite(lockTimeout: Duration) throws(LMDBError) {
    let (hasPin, since, pages) = state.withLock { ($0.pin != nil, $0.unsavedSince, $0.pages) }
    if hasPin {
      let age = since.map { SystemTime.monotonicMilliseconds - $0 } ?? 0
      // Pages freed since the last checkpoint make no writer wait: they only let the file grow.
      let growth = (handle.meta.pages - pages) * handle.meta.pageSize
      if age <= 2 * interval, growth < 2 * Self.mostUnusable { return }
    }
    try finish(begin(lockTimeout: lockTimeout), lockTimeout: lockTimeout)
  }

  /// After each write: without a timer thread the write itself makes the checkpoint. The caller owns the writer lock.
  func makeWithoutTimer() {
    guard timer == nil else { return }
    // After an error the next write makes the checkpoint first and throws the error.
    try? finish(begin(lockTimeout: handle.lockTimeout), lockTimeout: handle.lockTimeout)
  }

  /// Makes a checkpoint of this process's commits since its last checkpoint. The caller owns the writer lock.
  func makeForClosing() throws(LMDBError) {
    guard hasCommitted.load(ordering: .relaxed) else { return }
    waitForOther()
    guard state.withLock({ $0.unsavedSince != nil }) else { return }
    try finish(begin(lockTimeout: handle.lockTimeout), lockTimeout: handle.lockTimeout)
  }

  /// In the last process, which is alone. Work is left only if a process was killed before its last checkpoint.
  func saveNewest() throws(LMDBError) {
    let newest = handle.meta.image(of: handle.meta.lastTransaction)
    if let known = try file.readSynced(), !known.isFailed, known.recoveryPoint == newest { return }
    try handle.sync(file)
    try record(newest)
  }

  private func record(_ point: MetaImage) throws(LMDBError) {
    try file.write(
      RecoveryRecord(
        level: .checkpointed, boot: boot, data: handle.meta.stamp, recoveryPoint: point))
  }

  private struct Checkpoint {
    let pin: Pin
    let recoveryPoint: MetaImage
    let unsavedSince: Int64?
  }

  /// Step 1. The caller owns the writer lock; this thread owns the checkpoint lock until ``finish(_:lockTimeout:)``.
  private func begin(lockTimeout: Duration) throws(LMDBError) -> Checkpoint {
    lock.enter()
    do throws(LMDBError) {
      return try pinNewest(lockTimeout: lockTimeout)
    } catch {
      lock.leave()
      throw error
    }
  }

  private func pinNewest(lockTimeout: Duration) throws(LMDBError) -> Checkpoint {
    try handle.locks.write.wait(lockTimeout: lockTimeout)
    defer { handle.locks.write.release() }
    // A recovery point of the former file would damage the file that replaced it.
    if files.isDataReplaced { throw .replaced }
    let pin = try beginPin()
    let recoveryPoint = handle.meta.image(of: pin.id)
    guard recoveryPoint.transaction == pin.id else {
      pin.release()
      throw .lockMismatch
    }
    let (pages, freedPageCount) = (handle.meta.pages, writeGuard.freedPageCount)
    let since = state.withLock { state in
      let since = state.unsavedSince
      state.unsavedSince = nil
      state.isUrgent = false
      (state.pages, state.freedPageCount) = (pages, freedPageCount)
      return since
    }
    return Checkpoint(pin: pin, recoveryPoint: recoveryPoint, unsavedSince: since)
  }

  /// Also clears the pins of killed processes. The caller owns the writer lock.
  private func beginPin() throws(LMDBError) -> Pin {
    // LMDB reads a meta page through its map. An opening with a limit, or a read, may move the map without the writer lock.
    handle.readers.enterWriter()
    defer { handle.readers.leaveWriter() }
    try handle.clearDeadReaders()
    return try unsafe Pin(handle.beginReading())
  }

  /// Makes steps 2 to 4 of the checkpoint.
  private func finish(_ checkpoint: Checkpoint, lockTimeout: Duration) throws(LMDBError) {
    defer { lock.leave() }
    do throws(LMDBError) {
      if try lockUnlessCovered(checkpoint, lockTimeout: lockTimeout) {
        defer { handle.locks.checkpoint.release() }
        if try !isCovered(checkpoint) {
          if handle.locks.checkpoint.isDeleted { throw LMDBError.replaced }
          try handle.sync(file)
          try record(checkpoint.recoveryPoint)
        }
      }
    } catch {
      checkpoint.pin.release()
      state.withLock { state in
        state.unsavedSince = checkpoint.unsavedSince ?? SystemTime.monotonicMilliseconds
      }
      throw error
    }
    setPin(checkpoint.pin)
  }

  /// Waits for `lock.checkpoint`, or until a checkpoint of another process covers `checkpoint`: on a slow disk, other
  /// processes may hold the lock nearly all the time. Returns whether this process holds the lock.
  private func lockUnlessCovered(
    _ checkpoint: Checkpoint, lockTimeout: Duration
  ) throws(LMDBError) -> Bool {
    let deadline = ContinuousClock.now + lockTimeout
    while try !handle.locks.checkpoint.take() {
      if try isCovered(checkpoint) { return false }
      if ContinuousClock.now > deadline { throw .checkpointBusy }
      backOff(microseconds: 500)
    }
    return true
  }

  /// Whether the recovery point on the disk is this commit or a later commit. The pin of `checkpoint` protects both.
  private func isCovered(_ checkpoint: Checkpoint) throws(LMDBError) -> Bool {
    guard let known = try file.readSynced(), known.boot == boot,
      let point = known.recoveryPoint
    else { return false }
    return point.transaction >= checkpoint.pin.id
  }
}
