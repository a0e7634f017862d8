import CLMDB
import LarderSystem
import Synchronization

/// The level grouped. LMDB never syncs; a checkpoint makes one commit last, as a point to return to:
///
/// 1. Under `lock.write`, begin a read at the newest commit (the pin) and note that commit's meta page.
/// 2. Sync the data file. Writers go on meanwhile.
/// 3. Put the noted meta page on the disk, in the file `boot`.
/// 4. End the read of the checkpoint before.
///
/// LMDB uses a page again only if it was freed by a commit before the oldest view, so a pin at or before the commit that
/// `boot` names keeps every page of it, its free list's included, as it was synced. Each process that writes has a pin
/// of its own; the commit that `boot` names only ever moves on, so a pin that was good stays good.
extension Environment {
  private struct Checkpoint {
    let pin: Checkpoints.Pin
    let point: MetaImage
    let unsavedSince: Int64?
  }

  /// Before each write, with the writer's gate held and no lock between processes: sees that there is a pin, and that a
  /// timer that does not run (a starved or a stopped process) does not make more than is promised depend on it.
  func keepCheckpoint(lockTimeout: Duration) throws(LMDBError) {
    guard durability == .checkpointed, let checkpoints else { return }
    let (hasPin, since, pages) = checkpoints.state.withLock {
      ($0.pin != nil, $0.unsavedSince, $0.pages)
    }
    if hasPin {
      let isLate =
        since.map {
          SystemTime.monotonicMilliseconds - $0 > 2 * checkpoints.interval
        } ?? false
      let growth = (meta.pages - pages) * meta.pageSize
      if !isLate, growth < 2 * Checkpoints.growth { return }
    }
    try finish(begin(checkpoints, lockTimeout: lockTimeout), checkpoints, lockTimeout: lockTimeout)
  }

  /// After each commit, with the writer's gate held.
  func noteCommit() {
    hasCommitted.store(true, ordering: .relaxed)
    guard durability == .checkpointed, let checkpoints else { return }
    let growth = meta.pages * meta.pageSize
    let delay = checkpoints.state.withLock { state -> Int64? in
      let isFirst = state.unsavedSince == nil
      if isFirst { state.unsavedSince = SystemTime.monotonicMilliseconds }
      if !state.isHurried, growth - state.pages * meta.pageSize > Checkpoints.growth {
        state.isHurried = true
        return 0
      }
      return isFirst ? checkpoints.interval : nil
    }
    if let delay { timer?.schedule(in: delay) }
  }

  /// After each write, with only the writer's gate held: without a timer thread the write itself makes the checkpoint.
  func checkpointWithoutTimer() {
    guard timer == nil, durability == .checkpointed, let checkpoints else { return }
    do throws(LMDBError) {
      try finish(
        begin(checkpoints, lockTimeout: lockTimeout), checkpoints, lockTimeout: lockTimeout)
    } catch {
      // The commit stands. The next write makes the checkpoint first and throws the error.
    }
  }

  /// When an environment is opened for writing: commits of a process that was killed before their checkpoint get one as
  /// if they were made now.
  func noteFormerCommits() {
    guard durability == .checkpointed, !isReadOnly, let checkpoints else { return }
    do throws(LMDBError) {
      if try isNewestSaved(checkpoints) { return }
    } catch {
      // The checkpoint meets the same error, and who writes hears of it.
    }
    let isFirst = checkpoints.state.withLock { state in
      defer { state.unsavedSince = state.unsavedSince ?? SystemTime.monotonicMilliseconds }
      return state.unsavedSince == nil
    }
    if isFirst { timer?.schedule(in: checkpoints.interval) }
  }

  private func isNewestSaved(_ checkpoints: Checkpoints) throws(LMDBError) -> Bool {
    guard let known = try checkpoints.file.readSynced(), known.boot == checkpoints.boot else {
      return false
    }
    return known.point?.transaction == meta.lastTransaction
  }

  /// Called by the timer thread, at the requested times or earlier.
  func checkpointIfDue() {
    guard durability == .checkpointed, let checkpoints else { return }
    let isDue = checkpoints.state.withLock { state in
      if state.isHurried { return true }
      guard let since = state.unsavedSince else { return false }
      return SystemTime.monotonicMilliseconds - since >= checkpoints.interval
    }
    guard isDue, isOpen else { return }
    do throws(LMDBError) {
      try checkpoint()
      releaseIdlePin(checkpoints)
    } catch {
      // What was to be saved still is; the next write tries it too, and answers with its error.
      if isOpen { timer?.schedule(in: checkpoints.interval) }
    }
  }

  /// A process that writes no more does not keep the pages of others' commits.
  private func releaseIdlePin(_ checkpoints: Checkpoints) {
    guard writer.tryEnter() else { return }
    defer { writer.leave() }
    if isOpen, checkpoints.state.withLock({ $0.unsavedSince == nil }) { checkpoints.move(to: nil) }
  }

  /// Whether this process itself keeps pages from being used again that were freed since its last checkpoint.
  package var hasOutdatedPin: Bool {
    guard let pin = checkpoints?.state.withLock({ $0.pin?.id }) else { return false }
    return pin < meta.lastTransaction
  }

  /// How long other processes may take to move or end their pins.
  var timeForCheckpoints: Duration {
    guard durability == .checkpointed, let checkpoints else { return .zero }
    return .milliseconds(3 * checkpoints.interval)
  }

  /// At the level grouped, makes everything committed so far survive a power cut, and the pages used again that were
  /// freed before. Writers wait only while it begins.
  package func checkpoint() throws(LMDBError) {
    guard durability == .checkpointed, let checkpoints else { return }
    let begun: Checkpoint
    do {
      writer.enter()
      defer { writer.leave() }
      if !isOpen { throw phaseError }
      begun = try begin(checkpoints, lockTimeout: lockTimeout)
    }
    try finish(begun, checkpoints, lockTimeout: lockTimeout)
  }

  /// The same in ``close()``, which holds the gate, of an environment that is no longer open to others.
  func checkpointForClosing() throws(LMDBError) {
    guard let checkpoints else { return }
    checkpoints.waitForOther()
    guard checkpoints.state.withLock({ $0.unsavedSince != nil }) else { return }
    try finish(begin(checkpoints, lockTimeout: lockTimeout), checkpoints, lockTimeout: lockTimeout)
  }

  /// Step 1: with the writer's gate held. Whoever gets here has the right to finish, until ``finish(_:_:lockTimeout:)``.
  private func begin(
    _ checkpoints: Checkpoints, lockTimeout: Duration
  ) throws(LMDBError) -> Checkpoint {
    checkpoints.gate.enter()
    do throws(LMDBError) {
      return try pinNewest(checkpoints, lockTimeout: lockTimeout)
    } catch {
      checkpoints.gate.leave()
      throw error
    }
  }

  private func pinNewest(
    _ checkpoints: Checkpoints, lockTimeout: Duration
  ) throws(LMDBError) -> Checkpoint {
    try locks.queue.wait(lockTimeout: lockTimeout)
    do {
      defer { locks.queue.release() }
      try locks.write.wait(lockTimeout: lockTimeout)
    }
    defer { locks.write.release() }
    let pin = try beginPin()
    let point = meta.image(of: pin.id)
    guard point.transaction == pin.id else {
      pin.release()
      throw .lockMismatch
    }
    let pages = meta.pages
    let since = checkpoints.state.withLock { state in
      let since = state.unsavedSince
      state.unsavedSince = nil
      state.isHurried = false
      state.pages = pages
      return since
    }
    return Checkpoint(pin: pin, point: point, unsavedSince: since)
  }

  /// A process that was killed leaves its pin in the table; what it keeps is let go of here.
  private func beginPin() throws(LMDBError) -> Checkpoints.Pin {
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
    defer { checkpoints.gate.leave() }
    do throws(LMDBError) {
      if try lockUnlessCovered(checkpoint, checkpoints, lockTimeout: lockTimeout) {
        defer { locks.checkpoint.release() }
        if try !isCovered(checkpoint, checkpoints) {
          try syncData(checkpoints)
          try checkpoints.file.write(
            RecoveryRecord(level: .checkpointed, boot: checkpoints.boot, point: checkpoint.point))
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

  /// Takes `lock.checkpoint`, or waits until another process's checkpoint covers this one, whichever comes first: with
  /// a slow disk others may hold the lock nearly all the time.
  ///
  /// - Returns: whether the lock is held.
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

  /// Whether the file `boot` names this commit or a later one, on the disk. The pin is then as good for that.
  private func isCovered(
    _ checkpoint: Checkpoint, _ checkpoints: Checkpoints
  ) throws(LMDBError) -> Bool {
    guard let known = try checkpoints.file.readSynced(), known.boot == checkpoints.boot,
      let point = known.point
    else { return false }
    return point.transaction >= checkpoint.pin.id
  }

  /// A sync that failed is not made good by one that does not: the system may have dropped the pages. From then on the
  /// point of the last checkpoint is all that is certain, and the next opening is made to return to it.
  private func syncData(_ checkpoints: Checkpoints) throws(LMDBError) {
    do throws(LMDBError) {
      try check(unsafe mdb_env_sync(handle, 1))
    } catch {
      noteBroken()
      if var record = try checkpoints.file.read() {
        record.boot = RecoveryRecord.noBoot
        try checkpoints.file.write(record)
      }
      throw error
    }
  }
}
