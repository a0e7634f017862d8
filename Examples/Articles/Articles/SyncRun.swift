import Larder

public struct SyncProgress: Sendable, Hashable {
  public var done = 0
  public var total = 0
}

/// A sync under way. Any number of tasks can wait for its result or cancel it.
///
/// The sequence gives the progress of the sync. Iterate over it once, or never: the sync runs without an iteration, too.
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

  public func result() async -> SyncResult { await task.value }

  /// Ends the sync; stored articles stay.
  public func cancel() { task.cancel() }
}

public struct SyncResult: Sendable, Hashable, Codable {
  public enum Outcome: String, Sendable, Codable {
    /// All missing articles are stored now.
    case done
    /// Articles are stored, and the sync ended early or articles are still missing.
    case partial
    case nothingNew = "nothing new"
    /// No article was stored, and the sync ended early or articles are missing.
    case failed
  }

  /// The number of articles that were fetched, or confirmed as unchanged.
  public var stored = 0
  /// The number of articles that were stored already.
  public var skipped = 0
  public var failures: [String] = []
  public var failed: Int { failures.count }
  /// The number of articles in the service's list, without those that the user archived or deleted meanwhile.
  public var total = 0
  /// The number of these articles that are stored at the end.
  public var kept = 0
  /// The number of stored articles that were removed because the service no longer lists them.
  public var removed = 0
  public var images = 0
  /// The listed bookmarks that cannot be decoded, and why.
  public var unreadable: [String] = []
  public var edits = OutboxReport()
  /// Whether the sync ended early, and why.
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
}

struct SyncRecord: Codable, Sendable {
  /// The last sync that stored an article or found that none was missing; nil if there was none.
  var moment: Timestamp?
}
