import Synchronization

/// A sync under way, which any number of tasks can observe and cancel.
///
/// The sequence is its progress: at once, then every change until the end. Each observer gets its own; a slow one skips to the
/// newest.
public final class SyncRun: AsyncSequence, Sendable {
  public typealias Element = SyncProgress

  private struct Watching {
    var last = SyncProgress.begun
    var watchers: [AsyncStream<SyncProgress>.Continuation] = []
    var isOver = false
  }

  private let watching: Mutex<Watching>
  private let task: Mutex<Task<SyncResult, Never>?>
  let priority: TaskPriority

  private init(priority: TaskPriority) {
    self.priority = priority
    watching = Mutex(Watching())
    task = Mutex(nil)
  }

  /// - Parameter work: reports its progress, and ends early when it is cancelled.
  static func begin(
    priority: TaskPriority,
    _ work: @escaping @Sendable (@escaping @Sendable (SyncProgress) -> Void) async -> SyncResult
  ) -> SyncRun {
    let run = SyncRun(priority: priority)
    run.task.withLock {
      $0 = Task(priority: priority) {
        let result = await work { run.tell($0) }
        run.end()
        return result
      }
    }
    return run
  }

  public func makeAsyncIterator() -> AsyncStream<SyncProgress>.Iterator {
    let (stream, continuation) = AsyncStream<SyncProgress>.makeStream(
      bufferingPolicy: .bufferingNewest(1))
    watching.withLock { watching in
      continuation.yield(watching.last)
      if watching.isOver { continuation.finish() } else { watching.watchers.append(continuation) }
    }
    return stream.makeAsyncIterator()
  }

  /// Waits for the end.
  public func result() async -> SyncResult {
    guard let task = task.withLock({ $0 }) else { preconditionFailure("a run that was not begun") }
    return await task.value
  }

  /// Ends it; stored articles stay.
  public func cancel() { task.withLock { $0?.cancel() } }

  /// Whether it has ended.
  public var isFinished: Bool { watching.withLock { $0.isOver } }

  private func tell(_ progress: SyncProgress) {
    watching.withLock { watching in
      watching.last = progress
      for watcher in watching.watchers { watcher.yield(progress) }
    }
  }

  private func end() {
    watching.withLock { watching in
      watching.isOver = true
      for watcher in watching.watchers { watcher.finish() }
      watching.watchers = []
    }
  }
}
