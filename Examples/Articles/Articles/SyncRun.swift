import Larder

/// The progress of a sync.
public struct SyncProgress: Sendable, Hashable {
  /// Articles that are finished.
  public var done = 0
  public var total = 0
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

/// The result of a sync.
public struct SyncResult: Sendable, Hashable, Codable {
  public enum Outcome: String, Sendable, Codable {
    /// Everything that was missing is stored now.
    case done
    /// Something is still missing.
    case partial
    /// Nothing was missing.
    case nothingNew = "nothing new"
    /// Nothing could be stored.
    case failed
  }

  /// Articles that were fetched, or confirmed as unchanged.
  public var stored = 0
  /// Articles that were stored already.
  public var skipped = 0
  /// Articles that could not be fetched, and why.
  public var failures: [String] = []
  public var failed: Int { failures.count }
  /// Articles in the service's list, without those that the user archived or deleted meanwhile.
  public var total = 0
  /// Of them, those that are stored at the end.
  public var kept = 0
  /// Stored articles that were removed, because the service does not list them any more.
  public var removed = 0
  /// Images that were fetched.
  public var images = 0
  /// Listed bookmarks that cannot be decoded, and why.
  public var unreadable: [String] = []
  /// The changes of the user that were sent first.
  public var edits = OutboxReport()
  /// Whether it ended early, and why.
  public var isStopped = false
  public var reason: String?
  /// Whether the service refused the user or the list.
  public var isRefused = false

  public var outcome: Outcome {
    switch (stored > 0, failed > 0 || isStopped || kept < total) {
    case (true, false): .done
    case (true, true): .partial
    case (false, false): .nothingNew
    case (false, true): .failed
    }
  }

  /// `18 of 20 articles: partial`.
  public var text: String { "\(kept) of \(total) articles: \(outcome.rawValue)" }

  func progress(_ done: Int, of total: Int, _ title: String? = nil) -> SyncProgress {
    SyncProgress(done: done, total: total, title: title, stored: stored, failed: failed)
  }
}

/// The record of the last sync.
struct SyncRecord: Codable, Sendable {
  /// The last one that stored something, or at least missed nothing.
  var moment: Timestamp?
}
