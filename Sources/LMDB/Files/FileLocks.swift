import CLMDB
public import Synchronization

/// Seven small lock files beside the data, held with `flock`, that keep LMDB out of its known hazards.
///
/// - `lock.open` is held while a process opens or closes the environment, so that two never initialise it at once.
/// - `lock.turn` and `lock.write` are held around each write transaction. LMDB's own mutex is then never contended
///   between processes, which it must not be: a waiter that is killed as it wakes can leave the others asleep for
///   ever. Who waits for `lock.write` holds `lock.turn`, so a process that writes one batch after another lets the
///   waiting one in between.
/// - `lock.readers` is held while a slot of LMDB's reader table is made or cleared, for the same reason: the table has
///   a mutex of the same kind.
/// - `lock.checkpoint` is held while a process makes a checkpoint, so that an older one never replaces a newer.
/// - `lock.maps` is held while a file of ``SharedTable`` is made or replaced.
/// - `lock.presence` is held, shared, for as long as the environment is open: who gets it exclusively is alone.
///
/// `flock` and not record locks: those of POSIX are dropped when any descriptor of the file is closed, and those tied
/// to an open file description do not exist on macOS.
@safe final class FileLocks: Sendable {
  enum Name: Int, CaseIterable {
    case open, turn, write, readers, checkpoint, maps, presence

    var file: String {
      switch self {
      case .open: "lock.open"
      case .turn: "lock.turn"
      case .write: "lock.write"
      case .readers: "lock.readers"
      case .checkpoint: "lock.checkpoint"
      case .maps: "lock.maps"
      case .presence: "lock.presence"
      }
    }
  }

  static var names: [String] { Name.allCases.map(\.file) }

  nonisolated(unsafe) let state: UnsafeMutablePointer<SharedState>
  /// `flock` does not keep this process's threads apart: they share the descriptor.
  private let registering = Mutex<Void>(())
  private let replacing = Mutex<Void>(())

  init(in directory: String) throws(OpenError) {
    unsafe state = UnsafeMutablePointer<SharedState>.allocate(capacity: 1)
    unsafe state.initialize(to: SharedState())
    for name in Name.allCases {
      let path = directory + "/" + name.file
      do throws(LMDBError) {
        let flags = O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW
        let descriptor = try checkErrno { unsafe clmdb_open(path, flags, 0o600) }
        unsafe state.pointee.descriptors[name].store(descriptor, ordering: .relaxed)
      } catch {
        throw OpenError(.system, path: path, cause: error)
      }
    }
    guard unsafe ForkGuard.register(state) else { throw OpenError(.tooMany, path: directory) }
  }

  deinit {
    unsafe ForkGuard.unregister(state)
    unsafe state.pointee.closeDescriptors()
    unsafe state.deinitialize(count: 1)
    unsafe state.deallocate()
  }

  /// Takes the lock if that needs no waiting.
  func take(_ name: Name, shared: Bool = false) throws(LMDBError) -> Bool {
    let operation = (shared ? LOCK_SH : LOCK_EX) | LOCK_NB
    while true {
      if clmdb_flock(descriptor(name), operation) == 0 { return true }
      switch clmdb_errno() {
      case EWOULDBLOCK: return false
      case EINTR: continue
      case let code: throw LMDBError(code: code)
      }
    }
  }

  /// Waits for the lock, for at most `lockTimeout`, looking again every 20 us at first and every 1 ms at last.
  func wait(for name: Name, lockTimeout: Duration) throws(LMDBError) {
    if try take(name) { return }
    let deadline = ContinuousClock.now + lockTimeout
    var delay: UInt32 = 20
    while ContinuousClock.now < deadline {
      rest(microseconds: delay)
      if try take(name) { return }
      delay = min(delay * 2, 1000)
    }
    throw .busy
  }

  func release(_ name: Name) {
    _ = clmdb_flock(descriptor(name), LOCK_UN)
  }

  /// Runs one call into LMDB that locks its reader table.
  func whileRegistering(lockTimeout: Duration, _ call: () -> Int32) throws(LMDBError) {
    let failed = registering.withLock { _ -> LMDBError? in
      do throws(LMDBError) {
        try wait(for: .readers, lockTimeout: lockTimeout)
        defer { release(.readers) }
        try check(call())
        return nil
      } catch {
        return error
      }
    }
    if let failed { throw failed }
  }

  /// Runs `body` while no other process or thread makes or replaces a shared map; nil if one does, for longer than that
  /// takes, or if there are no locks any more.
  func whileReplacing<Result>(_ body: () -> Result) -> Result? {
    replacing.withLock { _ in
      do throws(LMDBError) {
        try wait(for: .maps, lockTimeout: .milliseconds(100))
      } catch {
        return nil
      }
      defer { release(.maps) }
      return body()
    }
  }

  private func descriptor(_ name: Name) -> Int32 {
    unsafe state.pointee.descriptors[name].load(ordering: .relaxed)
  }
}

/// What a forked child must find changed: whether the environment may be used, and the lock files' descriptors.
@usableFromInline struct SharedState: ~Copyable {
  @inlinable static var open: UInt32 { 0 }
  static let closed: UInt32 = 1
  /// Closed, and LMDB has let go of everything.
  static let released: UInt32 = 2
  static let forked: UInt32 = 3
  /// LMDB cannot go on until the environment is opened anew.
  static let broken: UInt32 = 4

  struct Descriptors: ~Copyable {
    let open = Atomic<Int32>(-1)
    let turn = Atomic<Int32>(-1)
    let write = Atomic<Int32>(-1)
    let readers = Atomic<Int32>(-1)
    let checkpoint = Atomic<Int32>(-1)
    let maps = Atomic<Int32>(-1)
    let presence = Atomic<Int32>(-1)

    subscript(name: FileLocks.Name) -> Atomic<Int32> {
      _read {
        switch name {
        case .open: yield open
        case .turn: yield turn
        case .write: yield write
        case .readers: yield readers
        case .checkpoint: yield checkpoint
        case .maps: yield maps
        case .presence: yield presence
        }
      }
    }
  }

  @usableFromInline let phase = Atomic<UInt32>(SharedState.closed)
  let descriptors = Descriptors()

  var current: UInt32 { phase.load(ordering: .acquiring) }

  /// - Returns: false if the phase was another one.
  func change(_ old: UInt32, to new: UInt32) -> Bool {
    phase.compareExchange(expected: old, desired: new, ordering: .acquiringAndReleasing).exchanged
  }

  func closeDescriptors() {
    for name in FileLocks.Name.allCases {
      let descriptor = descriptors[name].exchange(-1, ordering: .relaxed)
      if descriptor >= 0 { close(descriptor) }
    }
  }
}
