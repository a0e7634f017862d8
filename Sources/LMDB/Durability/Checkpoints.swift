import CLMDB
import LarderSystem
import Synchronization

/// What a process remembers of an environment at the levels grouped and scratch, between its writes.
final class Checkpoints: Sendable {
  let boot: BootIdentity
  let file: RecoveryFile
  /// Milliseconds from a commit to the checkpoint that covers it.
  let interval: Int64
  /// Held by the thread of this process that makes a checkpoint; taken after the writer's gate.
  let gate = WriterLock()
  let state = Mutex(State())
  /// Pages that the file may grow by before a checkpoint is made early: with the pin where it is, freed pages are not
  /// used again.
  static let growth = 16 << 20

  struct State: Sendable {
    /// While there is one, no write anywhere touches the pages of the last checkpoint.
    var pin: Pin?
    /// When the first commit behind the last checkpoint was made, by this process.
    var unsavedSince: Int64?
    /// The size of the file at the last checkpoint, in pages.
    var pages = 0
    /// A timer that is to run at once is on its way.
    var isHurried = false
    /// Scratch: how many records the file had when its mark was last seen to stand.
    var markedAt: UInt64?
  }

  init(files: StoreFiles, options: EnvironmentOptions) throws(LMDBError) {
    file = try RecoveryFile(opening: files.boot)
    boot = try options.currentBoot
    interval = max(1, Int64(options.checkpointInterval / .milliseconds(1)))
  }

  /// A read transaction that is never read through: its place in LMDB's reader table is what counts. It is its
  /// process's own, so nobody else's end or clearing of the table takes it away.
  @safe struct Pin: Sendable {
    nonisolated(unsafe) let transaction: OpaquePointer
    let id: UInt64

    init(_ transaction: OpaquePointer) {
      unsafe self.transaction = transaction
      id = UInt64(unsafe mdb_txn_id(transaction))
    }

    func release() { unsafe mdb_txn_abort(transaction) }
  }

  /// Says of a data file that is on the disk that there is nothing to return to.
  func settledRecord(_ level: DurabilityLevel) -> RecoveryRecord {
    RecoveryRecord(level: level, boot: boot, point: nil)
  }

  /// Waits for the checkpoint that another thread is making. Called with the writer's gate held, so that none begins.
  func waitForOther() {
    gate.enter()
    gate.leave()
  }

  /// Before LMDB lets go of the environment.
  func end() {
    waitForOther()
    move(to: nil)
  }

  /// Puts the pin at another commit. The former one goes last, so that there is no moment without.
  func move(to pin: Pin?) {
    let former = state.withLock { state in
      let former = state.pin
      state.pin = pin
      return former
    }
    former?.release()
  }
}
