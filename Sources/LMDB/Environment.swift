import CLMDB
package import Synchronization

/// One LMDB environment, opened once in this process however many ask for it.
///
/// It answers each item of LMDB's list of hazards in one place: opening in `Environment+Open`, the write locks in
/// `Environment+Write`, closing and the map's size in `Environment+Map`, forks in `ForkGuard`.
@safe package final class Environment: Sendable {
  /// The directory, with links resolved.
  package let path: String
  package let flush: EnvironmentOptions.Flush
  let files: StoreFiles
  let locks: GuardLocks
  let identity: FileIdentity
  let lockIdentity: FileIdentity
  nonisolated(unsafe) let handle: OpaquePointer
  nonisolated(unsafe) let phase: UnsafeMutablePointer<SharedState>
  let readers = ReaderPool()
  let writer: WriterGate
  let patience: Duration
  /// In the order of ``EnvironmentOptions/databases``; set once, before the environment is shared.
  package let databases: [Database]

  /// What the layer above shares between all who open this environment.
  package let attachment = Mutex<WeakAttachment>(WeakAttachment())

  package struct WeakAttachment: Sendable {
    package weak var object: (any AnyObject & Sendable)?
  }

  init(
    files: StoreFiles, locks: GuardLocks, handle: OpaquePointer, databases: [Database],
    identity: FileIdentity, lockIdentity: FileIdentity, options: EnvironmentOptions
  ) {
    path = files.directory
    flush = options.flush
    self.files = files
    self.locks = locks
    unsafe self.handle = handle
    self.databases = databases
    self.identity = identity
    self.lockIdentity = lockIdentity
    patience = options.patience
    writer = WriterGate()
    unsafe phase = locks.state
    unsafe phase.pointee.phase.store(SharedState.open, ordering: .releasing)
  }

  deinit { close() }

  package var isOpen: Bool {
    @inline(__always) get {
      unsafe phase.pointee.phase.load(ordering: .relaxed) == SharedState.open
    }
  }

  var isForked: Bool { unsafe phase.pointee.phase.load(ordering: .relaxed) == SharedState.forked }

  /// Begins a consistent view; no lock, no allocation, no system call once the pool is warm.
  @inline(__always)
  package func beginRead() throws(LMDBError) -> ReadTransaction {
    if !isOpen { throw phaseError }
    if let slot = unsafe readers.acquire() {
      if let transaction = unsafe slot.pointee.transaction, unsafe mdb_txn_renew(transaction) == 0 {
        return unsafe ReadTransaction(slot: slot, handle: transaction)
      }
      unsafe ReaderPool.release(slot)
    }
    return try beginReadSlowly()
  }

  var phaseError: LMDBError {
    isForked ? .forked : .closed
  }

  /// The number of the newest commit, by any process; about 2 ns and no transaction.
  package var lastTransaction: UInt64 {
    @inline(__always) get {
      if !isOpen { return 0 }
      var info = unsafe MDB_envinfo()
      unsafe mdb_env_info(handle, &info)
      return UInt64(unsafe info.me_last_txnid)
    }
  }
}
