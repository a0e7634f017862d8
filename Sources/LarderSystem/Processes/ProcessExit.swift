import CLarderSystem
import Synchronization

/// Actions for the end of the process: by `exit`, or by returning from `main`. A process that is killed runs none.
package enum ProcessExit {
  private static let actions = Mutex<[@Sendable () -> Void]>([])
  private static let registration: Void = { _ = atexit { ProcessExit.run() } }()

  /// Runs `action` at the end of the process, on the thread that ends it, while other threads may still run.
  package static func add(_ action: @escaping @Sendable () -> Void) {
    actions.withLock { $0.append(action) }
    registration
  }

  private static func run() {
    for action in actions.withLock({ $0 }) { action() }
  }
}
