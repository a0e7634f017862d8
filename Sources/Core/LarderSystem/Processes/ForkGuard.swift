import CLarderSystem
public import Synchronization

/// The phase and the lock files of one open store.
///
/// If a forked child used LMDB, LMDB would free the parent's reader slots and share the parent's write lock. So a fork handler
/// marks the store as forked in the child and closes its lock files, because an open lock file would keep the parent's locks.
/// A fork handler may call only few functions, so this handler only stores to atomics and closes descriptors.
@safe package final class ForkGuard: Sendable {
  package nonisolated(unsafe) let state: UnsafeMutablePointer<ForkState>
  nonisolated(unsafe) private let descriptors: UnsafeMutablePointer<Atomic<Int32>>
  private let count = Atomic(0)
  private static let capacity = 8

  package init() {
    unsafe state = UnsafeMutablePointer<ForkState>.allocate(capacity: 1)
    unsafe state.initialize(to: ForkState())
    unsafe descriptors = UnsafeMutablePointer<Atomic<Int32>>.allocate(capacity: Self.capacity)
    for index in 0..<Self.capacity { unsafe (descriptors + index).initialize(to: Atomic(-1)) }
    let reference = unsafe Unmanaged.passUnretained(self)
    ProcessTable.update { unsafe $0.guards.append(reference) }
  }

  deinit {
    let address = unsafe Unmanaged.passUnretained(self).toOpaque()
    ProcessTable.update { unsafe $0.guards.removeAll { unsafe $0.toOpaque() == address } }
    closeDescriptors()
    unsafe descriptors.deallocate()
    unsafe state.deinitialize(count: 1)
    unsafe state.deallocate()
  }

  package var isForked: Bool { unsafe state.pointee.current == ForkState.forked }

  /// Takes over a file and returns its index. The file is closed in a forked child, and when this object is deinitialized.
  func adopt(_ file: consuming FileDescriptor) -> Int {
    let index = count.add(1, ordering: .relaxed).oldValue
    precondition(index < Self.capacity)
    unsafe descriptors[index].store(file.release(), ordering: .relaxed)
    return index
  }

  /// The descriptor of the file with this index; -1 in a forked child.
  func descriptor(_ index: Int) -> Int32 {
    precondition(index >= 0 && index < Self.capacity)
    return unsafe descriptors[index].load(ordering: .relaxed)
  }

  /// Marks the store as forked and closes its lock files. Only the handler in a forked child calls this function.
  func disown() {
    unsafe state.pointee.phase.store(ForkState.forked, ordering: .relaxed)
    closeDescriptors()
  }

  private func closeDescriptors() {
    for index in 0..<Self.capacity {
      let descriptor = unsafe descriptors[index].exchange(-1, ordering: .relaxed)
      if descriptor >= 0 { close(descriptor) }
    }
  }
}

/// The phase of an open store, in memory that a forked child's handler may change.
@usableFromInline package struct ForkState: ~Copyable {
  @inlinable package static var open: UInt32 { 0 }
  package static let closed: UInt32 = 1
  /// The store is closed, and LMDB has released its files, memory and locks.
  package static let released: UInt32 = 2
  /// A forked child inherited the store and must not use it.
  package static let forked: UInt32 = 3
  /// After an error LMDB cannot continue. The store works only after it is closed and opened again.
  package static let broken: UInt32 = 4
  /// Like ``broken``, after a failed sync: pages that were already written may be lost.
  package static let unsynced: UInt32 = 5

  @usableFromInline package let phase = Atomic<UInt32>(ForkState.closed)

  package var current: UInt32 { phase.load(ordering: .acquiring) }

  /// - Returns: false if the phase was not `old` and therefore stays.
  package func change(_ old: UInt32, to new: UInt32) -> Bool {
    phase.compareExchange(expected: old, desired: new, ordering: .acquiringAndReleasing).exchanged
  }
}

/// All fork guards of the process. A thread holds the lock of the table only during a call of `update` or `exclusively`, or
/// while that thread forks. So when a thread forks, no other thread holds the lock, and the child can release the lock.
@safe package final class ProcessTable: @unchecked Sendable {
  @safe struct Contents { nonisolated(unsafe) var guards: [Unmanaged<ForkGuard>] = unsafe [] }

  private static let shared = ProcessTable()
  nonisolated(unsafe) private let mutex: UnsafeMutablePointer<pthread_mutex_t>
  private var contents = Contents()

  private init() {
    unsafe mutex = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)
    unsafe pthread_mutex_init(mutex, nil)
    pthread_atfork(
      { unsafe pthread_mutex_lock(ProcessTable.shared.mutex) },
      { unsafe pthread_mutex_unlock(ProcessTable.shared.mutex) },
      { ProcessTable.shared.disownAll() })
  }

  static func update<Result>(_ body: (inout Contents) -> Result) -> Result {
    let table = shared
    unsafe pthread_mutex_lock(table.mutex)
    defer { unsafe pthread_mutex_unlock(table.mutex) }
    return body(&table.contents)
  }

  /// Runs `body` while no other thread uses the table or forks. `body` must neither wait nor fork.
  package static func exclusively<Result>(_ body: () -> Result) -> Result { update { _ in body() } }

  /// Disowns the stores of the parent. The fork handler calls this function in the child. At the first use of a generic type,
  /// Swift takes a lock that a child may wait for without end, so this function has only types that `ForkGuard.init` has used.
  private func disownAll() {
    for index in unsafe 0..<contents.guards.count {
      unsafe contents.guards[index]._withUnsafeGuaranteedRef { $0.disown() }
    }
    unsafe pthread_mutex_unlock(mutex)
  }
}

/// Runs `action` when the process ends by `exit` or by a return from `main`. Other threads may still run at that time.
package func atProcessExit(_ action: @escaping @convention(c) () -> Void) { atexit(action) }

package var ownProcess: Int32 { getpid() }

/// The value of a variable in the environment of this process; nil if the variable is not set.
package func environmentVariable(_ name: String) -> String? {
  guard let text = unsafe getenv(name) else { return nil }
  return unsafe String(cString: text)
}
