import CLarderSystem

/// All fork guards of the process. A thread holds the lock of the table only during a call of `update` or `exclusively`, or
/// while that thread forks. So when a thread forks, no other thread holds the lock, and the child can release the lock.
@safe package final class ProcessTable: @unchecked Sendable {
  @safe struct Contents {
    nonisolated(unsafe) var guards: [Unmanaged<ForkGuard>] = unsafe []
  }

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
  package static func exclusively<Result>(_ body: () -> Result) -> Result {
    update { _ in body() }
  }

  /// Disowns the stores of the parent. The fork handler calls this function in the child.
  private func disownAll() {
    for index in unsafe contents.guards.indices {
      unsafe contents.guards[index]._withUnsafeGuaranteedRef { $0.disown() }
    }
    unsafe pthread_mutex_unlock(mutex)
  }
}

/// Runs `action` when the process ends by `exit` or by a return from `main`, on the thread that ends the process. Other threads
/// may still run then. A killed process does not run the action.
package func atProcessExit(_ action: @escaping @convention(c) () -> Void) { atexit(action) }
