import CLMDB
import LarderSystem
import Synchronization

/// The state of a process between its writes, at the levels checkpointed and scratch.
final class Checkpoints: Sendable {
  let boot: BootIdentity
  let file: RecoveryFile
  /// Milliseconds from a commit to the checkpoint that covers it.
  let interval: Int64
  /// Held by the thread of this process that makes a checkpoint; taken after the environment's writer lock.
  let lock = WriterLock()
  let state = Mutex(State())

  /// How many bytes of pages may be freed, or how much the file may grow, before a checkpoint is made early. While the pin stays,
  /// pages that were freed after it cannot be reused, so small entries that change all the time would fill a large file.
  static let mostUnusable = 16 << 20

  struct State: Sendable {
    /// While a pin exists, no process overwrites the pages of the last checkpoint.
    var pin: Pin?
    /// When this process made the first commit after the last checkpoint.
    var unsavedSince: Int64?
    /// The pages of the file, and ``WriteGuard/freedPages``, at the last checkpoint.
    var pages = 0
    var freedPages = 0
    /// A checkpoint is requested at once, because pages were freed or the file has grown.
    var isUrgent = false
    /// Scratch: the number of recovery records when the environment was last seen marked as dirty.
    var markedAt: UInt64?
  }

  init(files: StoreFiles, options: EnvironmentOptions) throws(LMDBError) {
    file = try RecoveryFile(opening: files.recovery, readOnly: options.readOnly)
    boot = try options.currentBoot
    interval = max(1, options.checkpointInterval.waitMilliseconds)
  }

  /// A read transaction that is only held for its slot in LMDB's reader table. The slot belongs to this process, so the
  /// end of another process does not remove it.
  @safe struct Pin: Sendable {
    nonisolated(unsafe) let transaction: OpaquePointer
    let id: UInt64

    init(_ transaction: OpaquePointer) {
      unsafe self.transaction = transaction
      id = UInt64(truncatingIfNeeded: unsafe mdb_txn_id(transaction))
    }

    func release() { unsafe mdb_txn_abort(transaction) }
  }

  /// A record for a data file that is completely on the disk: there is nothing to restore.
  func cleanRecord(_ level: DurabilityLevel) -> RecoveryRecord {
    RecoveryRecord(level: level, boot: boot, recoveryPoint: nil)
  }

  /// Waits for a checkpoint of another thread. The caller owns the writer lock, so no further one begins.
  func waitForOther() {
    lock.enter()
    lock.leave()
  }

  /// Called before LMDB releases the environment.
  func end() {
    waitForOther()
    move(to: nil)
  }

  /// Replaces the pin. The former pin is released last, so that there is always one.
  func move(to pin: Pin?) {
    let former = state.withLock { state in
      let former = state.pin
      state.pin = pin
      return former
    }
    former?.release()
  }
}

/// When checkpoints are made: a fixed interval after the first commit that the last one does not cover.
extension Environment {
  /// After each commit. The caller owns the writer lock.
  func noteCommit() {
    hasCommitted.store(true, ordering: .relaxed)
    guard durability == .checkpointed, let checkpoints else { return }
    let delay = checkpoints.state.withLock { state -> Int64? in
      let isFirst = state.unsavedSince == nil
      if isFirst { state.unsavedSince = SystemTime.monotonicMilliseconds }
      if !state.isUrgent, unusableBytes(since: state) > Checkpoints.mostUnusable {
        state.isUrgent = true
        return 0
      }
      return isFirst ? checkpoints.interval : nil
    }
    if let delay { timer?.schedule(in: delay) }
  }

  /// The bytes by which the file has grown since the last checkpoint, or those of the pages that were freed. The caller owns the
  /// writer lock.
  func unusableBytes(since last: Checkpoints.State) -> Int {
    max(meta.pages - last.pages, writeGuard.freedPages - last.freedPages) * meta.pageSize
  }

  /// At opening: commits of a process that was killed before their checkpoint get one as if they were made now.
  func noteFormerCommits() {
    guard durability == .checkpointed, !isReadOnly, let checkpoints else { return }
    do throws(LMDBError) {
      if try isNewestSaved(checkpoints) { return }
    } catch {
      // The checkpoint meets the same error, and the next write throws it.
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
    return known.recoveryPoint?.transaction == meta.lastTransaction
  }

  /// Called by the timer thread, at the requested times or earlier.
  func checkpointIfDue() {
    guard isOpen, durability == .checkpointed, let checkpoints else { return }
    let left = checkpoints.state.withLock { state -> Int64? in
      if state.isUrgent { return 0 }
      return state.unsavedSince.map { $0 + checkpoints.interval - SystemTime.monotonicMilliseconds }
    }
    guard let left else { return }
    if left > 0 {
      timer?.schedule(in: left)
      return
    }
    do throws(LMDBError) {
      try checkpoint()
      releaseIdlePin(checkpoints)
    } catch {
      // The commits stay unsaved. The next write tries again and throws the error.
      if isOpen { timer?.schedule(in: checkpoints.interval) }
    }
  }

  /// A process that stops writing does not keep the pages of other processes' commits from being reused.
  private func releaseIdlePin(_ checkpoints: Checkpoints) {
    guard writer.tryEnter() else { return }
    defer { writer.leave() }
    if isOpen, checkpoints.state.withLock({ $0.unsavedSince == nil }) { checkpoints.move(to: nil) }
  }

  /// Whether this process's pin keeps pages from being reused that were freed since its last checkpoint.
  package var hasOutdatedPin: Bool {
    guard isOpen, let pin = checkpoints?.state.withLock({ $0.pin?.id }) else { return false }
    return pin < meta.lastTransaction
  }

  /// How long other processes may take to move or release their pins.
  var timeForCheckpoints: Duration {
    guard durability == .checkpointed, let checkpoints else { return .zero }
    return .milliseconds(3 * checkpoints.interval)
  }
}
