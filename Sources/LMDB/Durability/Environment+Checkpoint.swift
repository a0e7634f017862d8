import CLMDB
import LarderSystem
import Synchronization

/// The level checkpointed. LMDB never syncs; a checkpoint makes one commit durable, as the recovery point:
///
/// 1. Under `lock.write`, begin a read of the newest commit (the pin) and copy the commit's meta page.
/// 2. Sync the data file. Writers continue meanwhile.
/// 3. Write the copied meta page to the file `recovery` and sync it.
/// 4. End the read of the previous checkpoint.
///
/// LMDB reuses a page only if a commit older than the oldest snapshot freed it. A pin at or before the recovery point
/// therefore keeps every page of it, including its free lists, as it was synced. Each writing process has a pin of its own.
/// The recovery point only moves forward, so a valid pin stays valid.
extension Environment {
  /// Makes every commit so far survive a power failure, at the level checkpointed, and lets LMDB reuse the pages that were
  /// freed before. Writers wait only while it begins.
  package func checkpoint() throws(LMDBError) {
    guard durability == .checkpointed, locks.isWritable, let checkpoints else { return }
    let begun: Checkpoint
    do {
      if !isOpen { throw phaseError }
      if writer.isMine { throw LMDBError.insideWrite }
      writer.enter()
      defer { writer.leave() }
      if !isOpen { throw phaseError }
      begun = try begin(checkpoints, lockTimeout: lockTimeout)
    }
    try finish(begun, checkpoints, lockTimeout: lockTimeout)
  }

  /// Before each write: makes sure that there is a pin, and that the promised interval holds even if the timer thread does
  /// not run in time. The caller owns the writer lock and no lock between processes.
  func keepCheckpoint(lockTimeout: Duration) throws(LMDBError) {
    guard durability == .checkpointed, let checkpoints else { return }
    let (hasPin, since, pages) = checkpoints.state.withLock {
      ($0.pin != nil, $0.unsavedSince, $0.pages)
    }
    if hasPin {
      let age = since.map { SystemTime.monotonicMilliseconds - $0 } ?? 0
      // Pages freed since then make no writer wait: they cost nothing but the growth.
      let growth = (meta.pages - pages) * meta.pageSize
      if age <= 2 * checkpoints.interval, growth < 2 * Checkpoints.mostUnusable { return }
    }
    try finish(begin(checkpoints, lockTimeout: lockTimeout), checkpoints, lockTimeout: lockTimeout)
  }

  /// After each write: without a timer thread the write itself makes the checkpoint. The caller owns the writer lock.
  func checkpointWithoutTimer() {
    guard timer == nil, durability == .checkpointed, let checkpoints else { return }
    do throws(LMDBError) {
      try finish(
        begin(checkpoints, lockTimeout: lockTimeout), checkpoints, lockTimeout: lockTimeout)
    } catch {
      // The commit stands. The next write makes the checkpoint first and throws the error.
    }
  }

  /// In ``close()``, for commits of this process after its last checkpoint. The caller owns the writer lock.
  func checkpointForClosing() throws(LMDBError) {
    guard let checkpoints else { return }
    checkpoints.waitForOther()
    guard checkpoints.state.withLock({ $0.unsavedSince != nil }) else { return }
    try finish(begin(checkpoints, lockTimeout: lockTimeout), checkpoints, lockTimeout: lockTimeout)
  }

  private struct Checkpoint {
    let pin: Checkpoints.Pin
    let recoveryPoint: MetaImage
    let unsavedSince: Int64?
  }

  /// Step 1. The caller owns the writer lock; this thread owns the checkpoint lock until ``finish(_:_:lockTimeout:)``.
  private func begin(
    _ checkpoints: Checkpoints, lockTimeout: Duration
  ) throws(LMDBError) -> Checkpoint {
    checkpoints.lock.enter()
    do throws(LMDBError) {
      return try pinNewest(checkpoints, lockTimeout: lockTimeout)
    } catch {
      checkpoints.lock.leave()
      throw error
    }
  }

  private func pinNewest(
    _ checkpoints: Checkpoints, lockTimeout: Duration
  ) throws(LMDBError) -> Checkpoint {
    try locks.write.wait(lockTimeout: lockTimeout)
    defer { locks.write.release() }
    // A recovery point of the former file would damage the one that took its place.
    if let data = FileStatus.of(files.data), FileIdentity(data) != identity { throw .replaced }
    let pin = try beginPin()
    let recoveryPoint = meta.image(of: pin.id)
    guard recoveryPoint.transaction == pin.id else {
      pin.release()
      throw .lockMismatch
    }
    let (pages, freedPages) = (meta.pages, writeGuard.freedPages)
    let since = checkpoints.state.withLock { state in
      let since = state.unsavedSince
      state.unsavedSince = nil
      state.isUrgent = false
      (state.pages, state.freedPages) = (pages, freedPages)
      return since
    }
    return Checkpoint(pin: pin, recoveryPoint: recoveryPoint, unsavedSince: since)
  }

  /// Also clears the pins of killed processes, which would keep pages from being reused. The caller owns the writer lock.
  private func beginPin() throws(LMDBError) -> Checkpoints.Pin {
    // LMDB reads a meta page through its map. Opening with a limit, and a read, may move the map without the writer lock.
    readers.enterWriter()
    defer { readers.leaveWriter() }
    var dead: Int32 = 0
    try locks.whileRegistering(lockTimeout: lockTimeout) { unsafe mdb_reader_check(handle, &dead) }
    var transaction: OpaquePointer?
    try locks.whileRegistering(lockTimeout: lockTimeout) {
      unsafe mdb_txn_begin(handle, nil, UInt32(MDB_RDONLY), &transaction)
    }
    return unsafe Checkpoints.Pin(transaction!)
  }

  /// Steps 2 to 4.
  private func finish(
    _ checkpoint: Checkpoint, _ checkpoints: Checkpoints, lockTimeout: Duration
  ) throws(LMDBError) {
    defer { checkpoints.lock.leave() }
    do throws(LMDBError) {
      if try lockUnlessCovered(checkpoint, checkpoints, lockTimeout: lockTimeout) {
        defer { locks.checkpoint.release() }
        if try !isCovered(checkpoint, checkpoints) {
          if locks.checkpoint.isDeleted { throw LMDBError.replaced }
          try syncData(checkpoints)
          try checkpoints.file.write(
            RecoveryRecord(
              level: .checkpointed, boot: checkpoints.boot,
              recoveryPoint: checkpoint.recoveryPoint))
        }
      }
    } catch {
      checkpoint.pin.release()
      checkpoints.state.withLock { state in
        state.unsavedSince = checkpoint.unsavedSince ?? SystemTime.monotonicMilliseconds
      }
      throw error
    }
    checkpoints.move(to: checkpoint.pin)
  }

  /// Waits for `lock.checkpoint` or until another process's checkpoint covers this one: on a slow disk, other processes
  /// may hold the lock nearly all the time.
  ///
  /// - Returns: whether this process holds the lock.
  private func lockUnlessCovered(
    _ checkpoint: Checkpoint, _ checkpoints: Checkpoints, lockTimeout: Duration
  ) throws(LMDBError) -> Bool {
    let deadline = ContinuousClock.now + lockTimeout
    while try !locks.checkpoint.take() {
      if try isCovered(checkpoint, checkpoints) { return false }
      if ContinuousClock.now > deadline { throw .busy }
      backOff(microseconds: 500)
    }
    return true
  }

  /// Whether the recovery point on the disk is this commit or a later one; this pin protects that one, too.
  private func isCovered(
    _ checkpoint: Checkpoint, _ checkpoints: Checkpoints
  ) throws(LMDBError) -> Bool {
    guard let known = try checkpoints.file.readSynced(), known.boot == checkpoints.boot,
      let point = known.recoveryPoint
    else { return false }
    return point.transaction >= checkpoint.pin.id
  }

  /// After a failed sync, a later successful one proves nothing: the system may have dropped the pages. Only the last
  /// recovery point is certain, so this makes the next opening restore it.
  private func syncData(_ checkpoints: Checkpoints) throws(LMDBError) {
    do throws(LMDBError) {
      try unsafe syncFile(of: handle)
    } catch {
      noteBroken()
      syncFailure.store(error.code, ordering: .relaxed)
      if var record = try checkpoints.file.read() {
        record.boot = RecoveryRecord.noBoot
        try checkpoints.file.write(record)
      }
      throw error
    }
  }
}
