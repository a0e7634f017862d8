package import LarderSystem
package import Synchronization

/// One LMDB environment. A process opens each environment only once, even if the environment is requested several times. The
/// parts of this object avoid known problems of LMDB. `Environment+Transactions` uses these parts for each read and write.
@safe package final class Environment: Sendable {
  let handle: EnvironmentHandle
  package let files: OpenFiles
  let mapSize: MapSize
  package let readerTable: ReaderTable
  let writeGuard: WriteGuard
  package let durability: DurabilityLevel
  /// Nil at the levels without the file `recovery`.
  let recovery: Recovery?
  let checkpoints: Checkpoints?
  let scratch: ScratchMark?
  let isReadOnly: Bool
  /// Whether closing must still try to flush. A write may outlive a call of ``close()``, so the call that ends the use flushes.
  let mustFlush = Atomic(true)
  /// Whether closing has flushed as much as the durability level requires of each process.
  let isFlushed = Atomic(false)
  /// The code of the first error that prevented closing from flushing; 0 if there was no error.
  let closingFailure = Atomic<Int32>(0)
  let timer: TimerThread?
  /// The databases, in the order of ``EnvironmentOptions/databases``.
  package let databases: [Database]
  let databaseNames: [String]

  /// An object of the module `Larder`, which uses this module. All users of this environment share the object.
  package let attachment = Mutex<WeakAttachment>(WeakAttachment())

  package struct WeakAttachment: Sendable { package weak var object: (any AnyObject & Sendable)? }

  package static var all: [Environment] { EnvironmentTable.all }

  /// - Precondition: LMDB's `pointer` is open, and nothing else uses it.
  init(
    _ pointer: OpaquePointer, files paths: StoreFiles, locks: StoreLocks, data: DataMap,
    databases: [Database], level: DurabilityLevel, options: EnvironmentOptions
  ) throws(LMDBError) {
    files = try OpenFiles(paths, locks: locks)
    handle = unsafe EnvironmentHandle(
      pointer, files: paths, locks: locks, data: data, options: options)
    recovery =
      try level.hasRecoveryFile
      ? Recovery(
        handle: handle, file: RecoveryFile(opening: paths.recovery, readOnly: !locks.isWritable),
        boot: options.currentBoot) : nil
    mapSize = unsafe MapSize(mappedSize(of: pointer), of: handle)
    self.databases = databases
    databaseNames = options.databases
    writeGuard = WriteGuard(names: options.databases)
    // After this line nothing throws, so the timer thread is always ended by ``close()``.
    let target = WeakReference()
    // If the system allows no further thread, the timer is nil, and the writes themselves make the checkpoints.
    timer = try? TimerThread {
      // This runs at the requested times or earlier, so each part checks whether its time has come.
      let environment = target.environment.withLock { $0.object } as? Environment
      environment?.checkpoints?.makeIfDue()
      environment?.readerTable.sweepIfDue()
    }
    readerTable = ReaderTable(of: handle, timer: timer)
    durability = level
    isReadOnly = options.readOnly
    checkpoints =
      if level == .checkpointed, let recovery {
        Checkpoints(
          recovery, files: files, writeGuard: writeGuard, timer: timer,
          interval: options.checkpointInterval)
      } else { nil }
    scratch = if level == .scratch, let recovery { ScratchMark(recovery) } else { nil }
    target.environment.withLock { $0 = WeakAttachment(object: self) }
    _ = handle.change(ForkState.closed, to: ForkState.open)
  }

  deinit {
    // If a read or a write is still running, its map and its slot stay until the process ends.
    if !close() { _ = unsafe Unmanaged.passRetained(handle.readers) }
  }

  package var path: String { handle.files.directory }

  @inline(__always)
  package var isOpen: Bool { handle.isOpen }

  package var phaseError: LMDBError { handle.phaseError }

  package var isForked: Bool { handle.isForked }

  /// Whether the process may write the files of the environment.
  package var mayWrite: Bool { handle.locks.isWritable }

  /// Whether the calling thread owns the writer lock, as inside ``write(waitingAtMost:ended:_:)``.
  package var isWriting: Bool { handle.writer.isMine }

  private final class WeakReference: Sendable { let environment = Mutex(WeakAttachment()) }
}

package struct EnvironmentOptions: Sendable {
  package var create = true
  /// If true, this process repairs, restores or empties nothing, and needs no permission to write the environment's files.
  package var readOnly = false
  /// The required durability. Nil accepts any durability, and gives a new environment ``DurabilityLevel/standard``.
  package var durability: DurabilityLevel?
  /// If not nil, opening changes the durability of an existing environment, which no other process may have open. The closure
  /// gets the directory before the change, and may refuse the change.
  package var durabilityChange: (@Sendable (String) throws(LMDBError) -> Void)?
  /// At the level checkpointed, the time between a commit and the checkpoint that makes the commit durable.
  package var checkpointInterval = Duration.milliseconds(200)
  /// The current boot of the machine. If nil, the system is asked for the boot.
  package var boot: BootIdentity?

  var currentBoot: BootIdentity {
    get throws(LMDBError) {
      if let boot { return boot }
      return try BootIdentity.current()
    }
  }

  package var databases: [String] = []
  /// The size of the map at opening, if the process has enough address space. The map grows when half of it is used.
  package var mapSize = 16 << 30
  /// How long an opening or a write waits for other processes.
  package var lockTimeout = Duration.seconds(10)
  package var foreignOwner = false
  package var networkFileSystem = false
  /// The key of a record in the main database. Only Larder's files have a record with this key.
  package var signature: [UInt8] = []

  /// Called at opening, while no other process can open the environment. `isAlone` is true if no other process has opened it.
  package var opening: @Sendable (_ environment: Environment, _ isAlone: Bool) -> Void = { _, _ in }

  package init() {}
}
