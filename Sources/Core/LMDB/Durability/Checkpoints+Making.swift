import LarderSystem
import Synchronization

/// At the level checkpointed, LMDB never syncs. Instead, a checkpoint makes one commit durable, the recovery point:
///
/// 1. Under `lock.write`, begin a read of the newest commit (the pin), and copy the meta page of this commit.
/// 2. Sync the data file. Meanwhile writers continue.
/// 3. Write the copied meta page to the file `recovery`, and sync this file.
/// 4. End the pin of the previous checkpoint.
///
/// LMDB reuses a page only if it was freed by a commit that is older than the oldest snapshot. So a pin at the recovery point,
/// or at an earlier commit, keeps every page of the recovery point as it was synced, including the free lists. Each writing
/// process has its own pin. Only a later commit ever replaces the recovery point, so a valid pin stays valid.
extension Checkpoints {
  /// Makes a checkpoint. Writers wait only for step 1. `lockTimeout` limits each of the two waits for other processes.
  func make(lockTimeout: Duration) throws(LMDBError) {
    guard handle.locks.isWritable else { return }
    let begun = try handle.withWriter { () throws(LMDBError) in try begin(lockTimeout: lockTimeout)
    }
    try finish(begun, lockTimeout: lockTimeout)
    if timer == nil { releasePin() }
  }

  /// Makes a checkpoint if there is no pin, the timer is late, or the file grew too much. The caller owns only the writer lock.
  func prepareWrite(lockTimeout: Duration) throws(LMDBError) {
    let (hasPin, since, pages) = state.withLock { ($0.pin != nil, $0.unsavedSince, $0.pages) }
    if hasPin {
      let age = since.map { SystemTime.monotonicMilliseconds - $0 } ?? 0
      // Freed pages do not count here: as long as LMDB cannot reuse these pages, the file grows, and the growth counts.
      let growth = (handle.data.pages - pages) * handle.data.pageSize
      if age <= 2 * interval, growth < 2 * Self.mostUnusable { return }
    }
    try finish(begin(lockTimeout: lockTimeout), lockTimeout: lockTimeout)
  }

  /// Called after each write, also after an error. If there is no timer thread, the write makes the checkpoint, and releases the
  /// pin, which would prevent the reuse of pages while this process is idle. The caller owns the writer lock.
  func makeWithoutTimer(lockTimeout: Duration) {
    guard timer == nil, handle.isOpen else { return }
    // An error is ignored here: the next write first makes the checkpoint and throws the error.
    if state.withLock({ $0.unsavedSince != nil }) {
      try? finish(begin(lockTimeout: lockTimeout), lockTimeout: lockTimeout)
    }
    releaseOwnedPin()
  }

  /// Makes a checkpoint of the commits that this process made after its last checkpoint. The caller owns the writer lock.
  func makeForClosing() throws(LMDBError) {
    guard hasCommitted.load(ordering: .relaxed) else { return }
    waitForOther()
    guard state.withLock({ $0.unsavedSince != nil }) else { return }
    try finish(begin(lockTimeout: handle.lockTimeout), lockTimeout: handle.lockTimeout)
  }

  /// Makes the newest commit durable if no checkpoint covers it. Called in the last process that has the store open.
  func saveNewest() throws(LMDBError) {
    let newest = handle.data.image(of: handle.data.lastTransaction)
    if let known = try recovery.file.readSynced(), !known.isFailed, known.recoveryPoint == newest {
      return
    }
    try recovery.sync(at: .checkpointed, point: newest)
  }

  private struct Checkpoint {
    let pin: Pin
    let recoveryPoint: MetaImage
    let unsavedSince: Int64?
  }

  /// Step 1. The caller owns the writer lock. This thread owns the checkpoint lock until the end of ``finish(_:lockTimeout:)``.
  private func begin(lockTimeout: Duration) throws(LMDBError) -> Checkpoint {
    lock.enter()
    var hasBegun = false
    defer { if !hasBegun { lock.leave() } }
    try handle.locks.write.wait(lockTimeout: lockTimeout)
    defer { handle.locks.write.release() }
    // If the data file was replaced, a recovery point of the old file would damage the new file. So the call throws.
    if let data = FileStatus.of(handle.files.data), FileIdentity(data) != files.identity {
      throw .replaced
    }
    let pin = try beginPin()
    let recoveryPoint = handle.data.image(of: pin.id)
    guard recoveryPoint.transaction == pin.id else {
      pin.release()
      throw .lockMismatch
    }
    let since = state.withLock { state in
      let since = state.unsavedSince
      state.unsavedSince = nil
      state.isUrgent = false
      (state.pages, state.freedPageCount) = (handle.data.pages, writeGuard.freedPageCount)
      return since
    }
    hasBegun = true
    return Checkpoint(pin: pin, recoveryPoint: recoveryPoint, unsavedSince: since)
  }

  /// Begins the read that becomes the pin. First clears the pins of killed processes. The caller owns the writer lock.
  private func beginPin() throws(LMDBError) -> Pin {
    // LMDB reads a meta page through its map. While the writer's slot is taken, no other thread moves the map.
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
          try recovery.sync(at: .checkpointed, point: checkpoint.recoveryPoint)
        }
      }
    } catch {
      checkpoint.pin.release()
      let since = checkpoint.unsavedSince ?? SystemTime.monotonicMilliseconds
      state.withLock { $0.unsavedSince = since }
      timer?.schedule(in: interval)
      throw error
    }
    setPin(checkpoint.pin)
    timer?.schedule(in: interval)
  }

  /// Waits for `lock.checkpoint`. Stops waiting if a checkpoint of another process covers `checkpoint`, because on a slow disk
  /// other processes may hold the lock nearly all the time. Returns whether this process now holds the lock.
  private func lockUnlessCovered(
    _ checkpoint: Checkpoint, lockTimeout: Duration
  ) throws(LMDBError) -> Bool {
    let deadline = SuspendingClock.now + lockTimeout
    while try !handle.locks.checkpoint.take() {
      if try isCovered(checkpoint) { return false }
      if SuspendingClock.now > deadline { throw .checkpointBusy }
      backOff(microseconds: 500)
    }
    return true
  }

  /// Whether the recovery point on the disk is not older than the commit of `checkpoint`. If so, the pin protects both commits.
  private func isCovered(_ checkpoint: Checkpoint) throws(LMDBError) -> Bool {
    guard let known = try recovery.file.readSynced(), known.boot == recovery.boot,
      known.data == handle.data.stamp, let point = known.recoveryPoint
    else { return false }
    // The point of a former data file may be another commit of the same number, or a commit that this file does not have yet.
    return point == checkpoint.recoveryPoint
      || point.transaction > checkpoint.pin.id && point.transaction <= handle.data.lastTransaction
  }
}
