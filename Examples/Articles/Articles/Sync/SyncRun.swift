/// The progress of a sync.
public struct SyncProgress: Sendable, Hashable {
  /// Whether the user's changes are sent, before the articles are fetched; `done` and `total` count them then.
  public var isSending = false
  /// Articles that are finished.
  public var done = 0
  /// Articles in the list; nil until the service has sent it.
  public var total: Int?
  /// The article that is being fetched.
  public var title: String?
  public var stored = 0
  public var failed = 0
}

/// A sync under way: any number of tasks can wait for its result, or cancel it.
///
/// The sequence is its progress. It can be iterated once; the sync runs whether or not it is.
public final class SyncRun: AsyncSequence, Sendable {
  private let steps: AsyncStream<SyncProgress>
  private let task: Task<SyncResult, Never>

  /// - Parameter work: reports its progress, and ends early when it is cancelled.
  init(
    priority: TaskPriority,
    _ work: @escaping @Sendable (@escaping @Sendable (SyncProgress) -> Void) async -> SyncResult
  ) {
    let (steps, reports) = AsyncStream<SyncProgress>.makeStream()
    self.steps = steps
    task = Task(priority: priority) {
      defer { reports.finish() }
      return await work { reports.yield($0) }
    }
  }

  public func makeAsyncIterator() -> AsyncStream<SyncProgress>.Iterator {
    steps.makeAsyncIterator()
  }

  /// Waits for the end.
  public func result() async -> SyncResult { await task.value }

  /// Ends it; stored articles stay.
  public func cancel() { task.cancel() }
}
