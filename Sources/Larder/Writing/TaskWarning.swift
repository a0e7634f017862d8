#if DEBUG
  import LarderSystem
  import Synchronization

  /// Tells the developer of a program, once in a process and only in debug builds, that a task waits for the disk by a
  /// synchronous write. Tasks share a few threads: one that blocks keeps others from running.
  enum TaskWarning {
    private static let isSaid = Atomic(false)
    /// Gets the warning; tests replace it.
    static let report = Mutex<@Sendable (String) -> Void> { warn($0) }

    static func check(_ path: String) {
      guard !isSaid.load(ordering: .relaxed), isInTask,
        isSaid.compareExchange(expected: false, desired: true, ordering: .relaxed).exchanged
      else { return }
      report.withLock { $0 }(
        "Larder: a task writes to \(path) synchronously and blocks a thread that other tasks need. "
          + "In async functions `try await` writes without blocking. This is said once.")
    }

    /// Lets it be said again.
    static func reset() { isSaid.store(false, ordering: .relaxed) }
  }
#endif
