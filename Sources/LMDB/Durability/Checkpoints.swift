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

  /// How many bytes the file may grow before a checkpoint is made early: while the pin stays, freed pages are not reused.
  static let growth = 16 << 20

  struct State: Sendable {
    /// While a pin exists, no process overwrites the pages of the last checkpoint.
    var pin: Pin?
    /// When this process made the first commit after the last checkpoint.
    var unsavedSince: Int64?
    /// The pages of the file at the last checkpoint.
    var pages = 0
    /// A checkpoint is requested at once, because the file has grown.
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
