import CLMDB
import LarderSystem
import Synchronization

/// Decides when this process makes its next checkpoint, at the level checkpointed: a fixed interval after the first commit that
/// the last checkpoint does not cover. `Checkpoints+Making` makes the checkpoints.
final class Checkpoints: Sendable {
  let handle: EnvironmentHandle
  let files: OpenFiles
  let recovery: Recovery
  let writeGuard: WriteGuard
  /// Nil if the system allowed no further thread for the timer.
  let timer: TimerThread?
  /// The time in milliseconds between a commit and the checkpoint that covers the commit.
  let interval: Int64
  /// Owned by the thread of this process that makes a checkpoint. Taken after the writer lock of the environment.
  let lock = WriterLock()
  let state = Mutex(State())
  let hasCommitted = Atomic(false)

  /// If the file has grown by this number of bytes, or if pages with this number of bytes were freed, a checkpoint is made
  /// early. LMDB cannot reuse the freed pages as long as the pin of the previous checkpoint stays.
  static let mostUnusable = 16 << 20

  struct State: Sendable {
    /// The pin of this process. As long as the pin exists, no process overwrites the pages of the last checkpoint.
    var pin: Pin?
    /// The time at which the last pin began or ended.
    var pinnedAt: Int64 = 0
    /// The time of this process's first commit after the last checkpoint.
    var unsavedSince: Int64?
    /// The number of pages at the last checkpoint; `freedPageCount` is ``WriteGuard/freedPageCount`` at that checkpoint.
    var pages = 0
    var freedPageCount = 0
    /// Whether a checkpoint must be made immediately, because writes have freed many pages or the file has grown a lot.
    var isUrgent = false
  }

  init(
    _ recovery: Recovery, files: OpenFiles, writeGuard: WriteGuard, timer: TimerThread?,
    interval: Duration
  ) {
    handle = recovery.handle
    self.files = files
    self.recovery = recovery
    self.writeGuard = writeGuard
    self.timer = timer
    self.interval = max(1, interval.waitMilliseconds)
  }

  /// A read transaction that is used only for its slot in LMDB's reader table. Only this process frees the slot while it runs.
  @safe struct Pin: Sendable {
    nonisolated(unsafe) let transaction: OpaquePointer
    let id: UInt64

    init(_ transaction: OpaquePointer) {
      unsafe self.transaction = transaction
      id = UInt64(truncatingIfNeeded: unsafe mdb_txn_id(transaction))
    }

    func release() { unsafe mdb_txn_abort(transaction) }
  }

  /// Waits until another thread has finished its checkpoint. The caller owns the writer lock, so no new checkpoint begins.
  func waitForOther() {
    lock.enter()
    lock.leave()
  }

  func end() {
    waitForOther()
    setPin(nil)
  }

  /// Replaces the pin. The old pin is released last, so that there is always a pin.
  func setPin(_ pin: Pin?) {
    let former = state.withLock { state in
      let former = state.pin
      (state.pin, state.pinnedAt) = (pin, SystemTime.monotonicMilliseconds)
      return former
    }
    former?.release()
  }

  /// Notes a commit and schedules its checkpoint. The caller owns the writer lock.
  func noteCommit() {
    hasCommitted.store(true, ordering: .relaxed)
    let delay = state.withLock { state -> Int64? in
      let isFirst = state.unsavedSince == nil
      if isFirst { state.unsavedSince = SystemTime.monotonicMilliseconds }
      let grown = handle.data.pages - state.pages
      let freed = writeGuard.freedPageCount - state.freedPageCount
      if !state.isUrgent, max(grown, freed) * handle.data.pageSize > Self.mostUnusable {
        state.isUrgent = true
        return 0
      }
      return isFirst ? interval : nil
    }
    if let delay { timer?.schedule(in: delay) }
  }

  /// Called at opening. Schedules a checkpoint, as for new commits, if a killed process has left commits without a checkpoint.
  func noteFormerCommits() {
    // An error is ignored here: the checkpoint gets the same error, and then the next write throws that error.
    if let known = try? recovery.file.readSynced(), known.boot == recovery.boot,
      known.recoveryPoint?.transaction == handle.data.lastTransaction
    {
      return
    }
    state.withLock { $0.unsavedSince = $0.unsavedSince ?? SystemTime.monotonicMilliseconds }
    timer?.schedule(in: interval)
  }

  func makeIfDue() {
    guard handle.isOpen else { return }
    let left = state.withLock { state -> Int64? in
      if state.isUrgent { return 0 }
      return state.unsavedSince.map { $0 + interval - SystemTime.monotonicMilliseconds }
    }
    guard let left else { return releaseIdlePin() }
    if left > 0 {
      timer?.schedule(in: left)
      return
    }
    do throws(LMDBError) {
      // Writers of this process also wait while this checkpoint waits for a lock, so the wait is at most one interval.
      try make(lockTimeout: min(.milliseconds(interval), handle.lockTimeout))
    } catch {
      // The next write tries again and throws the error.
      if handle.isOpen { timer?.schedule(in: error.isBusy ? 1 : interval) }
    }
  }

  /// Releases the pin after this process has stopped writing: the pin prevents the reuse of pages that other processes free.
  /// The pin stays for the interval, because a write without a pin first makes a checkpoint.
  private func releaseIdlePin() {
    let (hasPin, since) = state.withLock { ($0.pin != nil, $0.pinnedAt) }
    guard hasPin else { return }
    let left = since + interval - SystemTime.monotonicMilliseconds
    if left > 0 || !releasePin() { timer?.schedule(in: left > 0 ? left : interval) }
  }

  /// Returns false during a write or a checkpoint. The pin protects the recovery point until a checkpoint replaces this point.
  @discardableResult
  func releasePin() -> Bool {
    guard handle.writer.tryEnter() else { return false }
    defer { handle.writer.leave() }
    return releaseOwnedPin()
  }

  /// Like ``releasePin()``, for a caller that owns the writer lock.
  @discardableResult
  func releaseOwnedPin() -> Bool {
    guard lock.tryEnter() else { return false }
    defer { lock.leave() }
    if handle.isOpen, state.withLock({ $0.unsavedSince == nil }) { setPin(nil) }
    return true
  }

  var hasOutdatedPin: Bool {
    guard handle.isOpen, let pin = state.withLock({ $0.pin?.id }) else { return false }
    return pin < handle.data.lastTransaction
  }
}
