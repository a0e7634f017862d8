import CLMDB
import LarderSystem
import Synchronization

/// When the next checkpoint of this process is due, at the level checkpointed: a fixed interval after the first commit that
/// the last checkpoint does not cover. `Checkpoints+Making` makes the checkpoints.
final class Checkpoints: Sendable {
  let handle: EnvironmentHandle
  let files: OpenFiles
  let file: RecoveryFile
  let boot: BootIdentity
  let writeGuard: WriteGuard
  /// Nil if the system allowed no further thread.
  let timer: TimerThread?
  /// Milliseconds from a commit to the checkpoint that covers it.
  let interval: Int64
  /// Held by the thread of this process that makes a checkpoint; taken after the environment's writer lock.
  let lock = WriterLock()
  let state = Mutex(State())
  let hasCommitted = Atomic(false)

  /// The number of bytes that causes an early checkpoint: bytes by which the file has grown, or bytes of freed pages. LMDB
  /// cannot reuse these freed pages while the pin stays.
  static let mostUnusable = 16 << 20

  struct State: Sendable {
    /// While a pin exists, no process overwrites the pages of the last checkpoint.
    var pin: Pin?
    /// When this process made the first commit after the last checkpoint.
    var unsavedSince: Int64?
    /// The pages of the file at the last checkpoint; `freedPageCount` is ``WriteGuard/freedPageCount`` at that time.
    var pages = 0
    var freedPageCount = 0
    /// Writes freed many pages or the file has grown, so a checkpoint is due at once.
    var isUrgent = false
  }

  init(
    _ file: RecoveryFile, _ boot: BootIdentity, of handle: EnvironmentHandle, files: OpenFiles,
    writeGuard: WriteGuard, timer: TimerThread?, interval: Duration
  ) {
    self.handle = handle
    self.files = files
    self.file = file
    self.boot = boot
    self.writeGuard = writeGuard
    self.timer = timer
    self.interval = max(1, interval.waitMilliseconds)
  }

  /// A read transaction that is held only for its slot in LMDB's reader table. The slot stays when another process ends.
  @safe struct Pin: Sendable {
    nonisolated(unsafe) let transaction: OpaquePointer
    let id: UInt64

    init(_ transaction: OpaquePointer) {
      unsafe self.transaction = transaction
      id = UInt64(truncatingIfNeeded: unsafe mdb_txn_id(transaction))
    }

    func release() { unsafe mdb_txn_abort(transaction) }
  }

  /// Waits for a checkpoint of another thread. The caller owns the writer lock, so no further checkpoint begins.
  func waitForOther() {
    lock.enter()
    lock.leave()
  }

  func end() {
    waitForOther()
    setPin(nil)
  }

  /// The former pin is released last, so that a pin always exists.
  func setPin(_ pin: Pin?) {
    let former = state.withLock { state in
      let former = state.pin
      state.pin = pin
      return former
    }
    former?.release()
  }

  /// The caller owns the writer lock.
  func noteCommit() {
    hasCommitted.store(true, ordering: .relaxed)
    let delay = state.withLock { state -> Int64? in
      let isFirst = state.unsavedSince == nil
      if isFirst { state.unsavedSince = SystemTime.monotonicMilliseconds }
      if !state.isUrgent, unusableBytes(since: state) > Self.mostUnusable {
        state.isUrgent = true
        return 0
      }
      return isFirst ? interval : nil
    }
    if let delay { timer?.schedule(in: delay) }
  }

  /// The bytes by which the file has grown since the last checkpoint, or the bytes of freed pages if these are more.
  private func unusableBytes(since last: State) -> Int {
    max(handle.meta.pages - last.pages, writeGuard.freedPageCount - last.freedPageCount)
      * handle.meta.pageSize
  }

  /// At opening: schedules a checkpoint for commits that a killed process left unsaved, as if they were made now.
  func noteFormerCommits() {
    // After an error the checkpoint meets the same error, and the next write throws it.
    if let known = try? file.readSynced(), known.boot == boot,
      known.recoveryPoint?.transaction == handle.meta.lastTransaction
    {
      return
    }
    let isFirst = state.withLock { state in
      defer { state.unsavedSince = state.unsavedSince ?? SystemTime.monotonicMilliseconds }
      return state.unsavedSince == nil
    }
    if isFirst { timer?.schedule(in: interval) }
  }

  func makeIfDue() {
    guard handle.isOpen else { return }
    let left = state.withLock { state -> Int64? in
      if state.isUrgent { return 0 }
      return state.unsavedSince.map { $0 + interval - SystemTime.monotonicMilliseconds }
    }
    guard let left else { return }
    if left > 0 {
      timer?.schedule(in: left)
      return
    }
    do throws(LMDBError) {
      // While this checkpoint waits, writers of this process wait, too: at most for their own timeout.
      try make(lockTimeout: min(.milliseconds(interval), handle.lockTimeout))
      releaseIdlePin()
    } catch {
      // The next write tries again and throws the error.
      if handle.isOpen { timer?.schedule(in: error.isBusy ? 1 : interval) }
    }
  }

  /// Releases the pin of a process that stopped writing: the pin would keep LMDB from reusing pages that other processes free.
  private func releaseIdlePin() {
    guard handle.writer.tryEnter() else { return }
    defer { handle.writer.leave() }
    if handle.isOpen, state.withLock({ $0.unsavedSince == nil }) { setPin(nil) }
  }

  var hasOutdatedPin: Bool {
    guard handle.isOpen, let pin = state.withLock({ $0.pin?.id }) else { return false }
    return pin < handle.meta.lastTransaction
  }

  /// How long other processes may take to move or release their pins.
  var timeForOthers: Duration { .milliseconds(3 * interval) }
}
