import CLMDB
import LarderSystem
package import Synchronization

/// One LMDB environment, opened once in this process however many ask for it.
///
/// It answers each item of LMDB's list of hazards in one place: opening in `Environment+Open`, the write locks in
/// `Environment+Write`, the map's size in `Environment+Map`, the end in `Environment+Close`, forks in `ForkGuard`.
@safe package final class Environment: Sendable {
  /// The directory, with links resolved.
  package let path: String
  package let durability: DurabilityLevel
  /// Only at the levels that need them.
  let checkpoints: Checkpoints?
  let isReadOnly: Bool
  let hasCommitted = Atomic(false)
  /// Closing has done what the level asks for, as long as others have it open.
  let isSettled = Atomic(false)
  let files: StoreFiles
  let locks: StoreLocks
  let identity: FileIdentity
  let lockIdentity: FileIdentity
  nonisolated(unsafe) let handle: OpaquePointer
  nonisolated(unsafe) let phase: UnsafeMutablePointer<ForkState>
  let meta: MetaPages
  let readers: ReaderPool
  let writer = WriterLock()
  let growth: MapGrowth
  /// Nil if the system allowed no further thread when the environment was opened.
  let timer: TimerThread?
  let lockTimeout: Duration
  /// In the order of ``EnvironmentOptions/databases``; set once, before the environment is shared.
  package let databases: [Database]
  let databaseNames: [String]

  /// What the layer above shares between all who open this environment.
  package let attachment = Mutex<WeakAttachment>(WeakAttachment())

  package struct WeakAttachment: Sendable {
    package weak var object: (any AnyObject & Sendable)?
  }

  /// The handle is open, with nobody else using it.
  init(
    files: StoreFiles, locks: StoreLocks, handle: OpaquePointer, databases: [Database],
    durability: DurabilityLevel, options: EnvironmentOptions
  ) throws(LMDBError) {
    guard let data = FileStatus.of(files.data), let lock = FileStatus.of(files.lock)
    else { throw .replaced }
    var statistics = MDB_stat()
    var info = unsafe MDB_envinfo()
    try check(unsafe mdb_env_stat(handle, &statistics))
    try check(unsafe mdb_env_info(handle, &info))
    meta = try MetaPages(path: files.data, pageSize: Int(statistics.ms_psize))
    growth = unsafe MapGrowth(mapSize: info.me_mapsize)
    path = files.directory
    self.durability = durability
    checkpoints = try durability.keepsBoot ? Checkpoints(files: files, options: options) : nil
    isReadOnly = options.readOnly
    self.files = files
    self.locks = locks
    unsafe self.handle = handle
    self.databases = databases
    databaseNames = options.databases
    identity = FileIdentity(data)
    lockIdentity = FileIdentity(lock)
    lockTimeout = options.lockTimeout
    readers = ReaderPool(locks: locks)
    unsafe phase = locks.state
    let target = WeakReference()
    timer = Self.startTimer(target)
    target.environment.withLock { $0 = WeakAttachment(object: self) }
    unsafe phase.pointee.phase.store(ForkState.open, ordering: .releasing)
  }

  deinit {
    timer?.stop()
    closeForGood()
  }

  private final class WeakReference: Sendable {
    let environment = Mutex(WeakAttachment())
  }

  private static func startTimer(_ target: WeakReference) -> TimerThread? {
    do throws(LMDBError) {
      return try TimerThread {
        let environment = target.environment.withLock { $0.object }
        (environment as? Environment)?.checkpointIfDue()
      }
    } catch {
      return nil
    }
  }

  package var isOpen: Bool {
    @inline(__always) get {
      unsafe phase.pointee.phase.load(ordering: .relaxed) == ForkState.open
    }
  }

  var isForked: Bool { unsafe phase.pointee.current == ForkState.forked }

  /// Why the environment cannot be used; only asked when it is not open.
  var phaseError: LMDBError {
    switch unsafe phase.pointee.current {
    case ForkState.forked: .forked
    case ForkState.broken: .panic
    default: .closed
    }
  }

  /// Notes that LMDB cannot go on: from now on every call says so, and ``open(at:options:prepare:)`` starts afresh.
  func noteBroken() {
    _ = unsafe phase.pointee.change(ForkState.open, to: ForkState.broken)
  }

  /// Begins a consistent view; no lock, no allocation, no system call once the pool is warm.
  ///
  /// While a read is under way the environment must be kept alive by the caller; a read outlives neither.
  @inline(__always)
  package func beginRead() throws(LMDBError) -> ReadTransaction {
    if !isOpen { throw phaseError }
    if let slot = unsafe readers.acquire() {
      if let transaction = unsafe slot.pointee.transaction, unsafe mdb_txn_renew(transaction) == 0,
        UInt64(unsafe mdb_txn_id(transaction)) <= meta.lastTransaction
      {
        return unsafe ReadTransaction(slot: slot, handle: transaction)
      }
      unsafe readers.abandon(slot)
    }
    return try beginReadSlowly()
  }

  /// The number of the newest commit, by any process; about 2 ns and no transaction. 0 once closed.
  ///
  /// A view that begins after this was read may still be one commit behind it, for as long as it takes a writer to
  /// publish the commit, or until the next write if that writer was killed right there. What was read belongs to
  /// ``ReadTransaction/id``, never to this number.
  package var lastTransaction: UInt64 {
    @inline(__always) get { isOpen ? meta.lastTransaction : 0 }
  }

  /// Runs `body` while the map stays where it is and the environment stays open.
  func withMap<Result>(_ body: () throws(LMDBError) -> Result) throws(LMDBError) -> Result {
    while true {
      if !isOpen { throw phaseError }
      guard let slot = unsafe readers.acquire() else {
        backOff()
        continue
      }
      defer { unsafe ReaderPool.release(slot) }
      if !isOpen { throw phaseError }
      return try body()
    }
  }
}
