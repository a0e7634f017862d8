import CLMDB
package import LarderSystem
package import Synchronization

/// One LMDB environment, opened once in this process however often it is requested.
///
/// It protects LMDB from its known hazards: opening in `Opening`, the locks of a write in `Environment+Write`, the
/// size of the map in `Environment+Map`, closing in `Environment+Close`, forked children in `ForkGuard`.
@safe package final class Environment: Sendable {
  /// The directory, with links resolved.
  package let path: String
  package let durability: DurabilityLevel
  /// Nil at levels without checkpoints or a recovery record.
  let checkpoints: Checkpoints?
  let isReadOnly: Bool
  let hasCommitted = Atomic(false)
  /// Why a sync failed, so that the next opening restores the last checkpoint; 0 if none did.
  let syncFailure = Atomic<Int32>(0)
  /// Closing has flushed what the durability level requires of each process.
  let isFlushed = Atomic(false)
  let files: StoreFiles
  let locks: StoreLocks
  let identity: FileIdentity
  let lockIdentity: FileIdentity
  /// Nil if the process only reads or had no descriptor left.
  let directory: FileDescriptor?
  let directoryStamp = DirectoryStamp()
  nonisolated(unsafe) let handle: OpaquePointer
  nonisolated(unsafe) let phase: UnsafeMutablePointer<ForkState>
  let meta: MetaPages
  /// Nil for a page size that only LMDB itself can read.
  let dataMap: DataMap?
  let readers: ReaderPool
  let writeGuard: WriteGuard
  let writer = WriterLock()
  let growth: MapGrowth
  /// Nil if the system allowed no further thread when the environment was opened.
  let timer: TimerThread?
  /// When to release idle reader slots, in milliseconds of the monotonic clock; 0 if no slot is idle.
  let nextSweep = Atomic<Int64>(0)
  let lockTimeout: Duration
  /// In the order of ``EnvironmentOptions/databases``.
  package let databases: [Database]
  let databaseNames: [String]

  /// An object that the layer above shares between all users of this environment.
  package let attachment = Mutex<WeakAttachment>(WeakAttachment())

  package struct WeakAttachment: Sendable {
    package weak var object: (any AnyObject & Sendable)?
  }

  /// Opens the environment in `directory`, or returns the one that this process has open there, with the options it was
  /// opened with.
  ///
  /// - Parameter fill: fills a new environment before any process can see it; not called for an existing one.
  package static func open(
    at directory: String, options: EnvironmentOptions,
    fill: (inout WriteTransaction) throws(LMDBError) -> Void
  ) throws(OpenError) -> Environment {
    try Opening.environment(at: directory, options: options, fill: fill)
  }

  /// `handle` is open and not used elsewhere.
  init(
    files: StoreFiles, locks: StoreLocks, handle: OpaquePointer, databases: [Database],
    durability: DurabilityLevel, options: EnvironmentOptions
  ) throws(LMDBError) {
    guard let data = FileStatus.of(files.data) else { throw .replaced }
    var statistics = MDB_stat()
    var info = unsafe MDB_envinfo()
    try check(unsafe mdb_env_stat(handle, &statistics))
    try check(unsafe mdb_env_info(handle, &info))
    meta = try MetaPages(path: files.data, pageSize: Int(statistics.ms_psize))
    dataMap = try DataMap(path: files.data, pageSize: Int(statistics.ms_psize))
    growth = unsafe MapGrowth(mapSize: info.me_mapsize)
    path = files.directory
    self.durability = durability
    checkpoints =
      try durability.hasRecoveryFile ? Checkpoints(files: files, options: options) : nil
    isReadOnly = options.readOnly
    self.files = files
    self.locks = locks
    unsafe self.handle = handle
    self.databases = databases
    databaseNames = options.databases
    identity = FileIdentity(data)
    // A reader without permission to write needs no lock.mdb.
    lockIdentity = FileIdentity(FileStatus.of(files.lock) ?? data)
    directory = locks.isWritable ? FileDescriptor.reading(files.directory) : nil
    lockTimeout = options.lockTimeout
    readers = ReaderPool(owner: locks.owner, names: options.databases)
    writeGuard = WriteGuard(names: options.databases)
    unsafe phase = locks.state
    let target = WeakReference()
    timer = Self.startTimer(target)
    target.environment.withLock { $0 = WeakAttachment(object: self) }
    unsafe phase.pointee.phase.store(ForkState.open, ordering: .releasing)
  }

  deinit { closeForGood() }

  package var isOpen: Bool {
    @inline(__always) get {
      unsafe phase.pointee.phase.load(ordering: .relaxed) == ForkState.open
    }
  }

  package var isForked: Bool { unsafe phase.pointee.current == ForkState.forked }

  /// Why the environment is unusable; only valid when it is not open.
  var phaseError: LMDBError {
    switch unsafe phase.pointee.current {
    case ForkState.forked: .forked
    case ForkState.broken: .panic
    default: .closed
    }
  }

  /// Records that LMDB cannot continue: every later call throws, and ``open(at:options:fill:)`` opens it again.
  func noteBroken() {
    _ = unsafe phase.pointee.change(ForkState.open, to: ForkState.broken)
  }
}

extension Environment {
  private final class WeakReference: Sendable {
    let environment = Mutex(WeakAttachment())
  }

  private static func startTimer(_ target: WeakReference) -> TimerThread? {
    do throws(LMDBError) {
      return try TimerThread {
        let environment = target.environment.withLock { $0.object }
        (environment as? Environment)?.runTimer()
      }
    } catch {
      return nil
    }
  }

  /// Called by the timer thread, at the requested times or earlier.
  private func runTimer() {
    checkpointIfDue()
    sweepReadersIfDue()
  }
}

/// How an environment is opened.
package struct EnvironmentOptions: Sendable {
  /// Creates the environment if it does not exist.
  package var create = true
  /// Never repairs, restores or empties the environment, and needs no permission to write its files.
  package var readOnly = false
  /// The required durability; nil accepts that of the environment, and means ``DurabilityLevel/standard`` for a new one.
  package var durability: DurabilityLevel?
  /// Changes the durability of an existing environment, which no process may have open.
  package var changesDurability = false
  /// At the level checkpointed, the time from a commit to the checkpoint that covers it.
  package var checkpointInterval = Duration.milliseconds(200)
  /// The current boot of the machine; nil asks the system.
  package var boot: BootIdentity?

  var currentBoot: BootIdentity {
    get throws(LMDBError) {
      if let boot { return boot }
      return try BootIdentity.current()
    }
  }

  /// The named databases that the environment must have.
  package var databases: [String] = []
  /// The size of the map at first, if the process has that much address space; the map grows when half of it is used.
  package var mapSize = 16 << 30
  /// How long an open or a write waits for other processes.
  package var lockTimeout = Duration.seconds(10)
  /// Opens an environment that belongs to another user.
  package var foreignOwner = false
  /// Opens an environment on a network file system.
  package var networkFileSystem = false
  /// The key of a record in the main database that only Larder's files have.
  package var signature: [UInt8] = []

  package init() {}
}
