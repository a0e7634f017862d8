import CLMDB
import CLarderSystem
import LarderSystem
import Synchronization

/// LMDB's handle of an environment, with the objects that each use of the handle needs.
@safe struct EnvironmentHandle: Sendable {
  nonisolated(unsafe) let pointer: OpaquePointer
  nonisolated(unsafe) private let phase: UnsafeMutablePointer<ForkState>
  let files: StoreFiles
  let locks: StoreLocks
  let data: DataMap
  /// The read transactions. While a slot of this pool is taken, the map does not move.
  let readers: ReaderPool
  let writer = WriterLock()
  let lockTimeout: Duration

  init(
    _ pointer: OpaquePointer, files: StoreFiles, locks: StoreLocks, data: DataMap,
    options: EnvironmentOptions
  ) {
    unsafe self.pointer = pointer
    unsafe phase = locks.owner.state
    self.files = files
    self.locks = locks
    self.data = data
    readers = ReaderPool(owner: locks.owner, names: options.databases.map { Array($0.utf8) })
    lockTimeout = options.lockTimeout
  }

  @inline(__always)
  var isOpen: Bool { unsafe phase.pointee.phase.load(ordering: .relaxed) == ForkState.open }

  var isForked: Bool { unsafe phase.pointee.current == ForkState.forked }
  var isClosed: Bool { unsafe phase.pointee.current == ForkState.closed }

  var phaseError: LMDBError {
    switch unsafe phase.pointee.current {
    case ForkState.forked: .forked
    case ForkState.broken: .panic
    case ForkState.unsynced: .syncFailed
    default: .closed
    }
  }

  func change(_ old: UInt32, to new: UInt32) -> Bool { unsafe phase.pointee.change(old, to: new) }

  /// Notes that LMDB cannot continue. Every later call throws until the environment is closed and opened again.
  func noteBroken() { _ = change(ForkState.open, to: ForkState.broken) }

  /// Runs `body` while the map does not move and the environment is not closed.
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

  /// Runs `body` while no other thread writes. Throws inside a write of the same thread.
  func withWriter<Result>(_ body: () throws(LMDBError) -> Result) throws(LMDBError) -> Result {
    try enterWriter()
    defer { writer.leave() }
    if !isOpen { throw phaseError }
    return try body()
  }

  /// Takes the writer lock. Throws ``LMDBError/busy`` after `bound`. Without `bound`, throws ``LMDBError/writerKept`` when a thread
  /// has kept the lock for ``writerTimeout``.
  func enterWriter(waitingAtMost bound: Duration? = nil) throws(LMDBError) {
    if !isOpen { throw phaseError }
    if writer.isMine { throw .insideWrite }
    guard writer.enter(lockTimeout: bound ?? writerTimeout, perOwner: bound == nil) else {
      throw bound == nil ? LMDBError.writerKept : LMDBError.busy
    }
  }

  /// How long a write may keep other writes waiting: the lock timeout, but at least 100 ms, so that threads can take turns.
  var writerTimeout: Duration { max(lockTimeout, .milliseconds(100)) }

  func beginReading() throws(LMDBError) -> OpaquePointer {
    try unsafe locks.readers.withLock(lockTimeout: lockTimeout) { () throws(LMDBError) in
      try unsafe beginTransaction(in: pointer, UInt32(MDB_RDONLY))
    }
  }

  /// See ``ReaderTable/clearDead()``.
  @discardableResult
  func clearDeadReaders() throws(LMDBError) -> Int {
    var dead: Int32 = 0
    try locks.readers.withLock(lockTimeout: lockTimeout) { () throws(LMDBError) in
      try check(unsafe mdb_reader_check(pointer, &dead))
    }
    return Int(dead)
  }

  /// Notes that a sync failed, so that nothing counts as synced. Every later call throws, as after ``noteBroken()``.
  func noteSyncFailure() { _ = change(ForkState.open, to: ForkState.unsynced) }
}

func beginTransaction(
  in handle: OpaquePointer, _ flags: UInt32 = 0
) throws(LMDBError) -> OpaquePointer {
  var transaction: OpaquePointer?
  try check(unsafe mdb_txn_begin(handle, nil, flags, &transaction))
  return unsafe transaction!
}

/// The size of LMDB's map. LMDB only copies this number, so the call cannot fail.
func mappedSize(of handle: OpaquePointer) -> Int {
  var info = unsafe MDB_envinfo()
  unsafe mdb_env_info(handle, &info)
  return unsafe info.me_mapsize
}

/// LMDB's descriptor of the data file. LMDB only copies this number, so the call cannot fail.
func dataDescriptor(of handle: OpaquePointer) -> Int32 {
  var descriptor: Int32 = -1
  unsafe mdb_env_get_fd(handle, &descriptor)
  return descriptor
}

/// Syncs the file. `mdb_env_sync` is not used, because on macOS it leaves the pages in the cache of the disk.
func syncFile(of handle: OpaquePointer) throws(LMDBError) {
  let descriptor = unsafe dataDescriptor(of: handle)
  // If a signal interrupts a sync, nothing is lost, so `checkErrno` repeats the sync.
  try checkErrno { larder_sync(descriptor) }
}
