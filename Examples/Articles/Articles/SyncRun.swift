/// A sync under way. Any number of tasks can wait for its result or cancel it.
public struct SyncRun: Sendable {
  public typealias Step = (done: Int, total: Int)

  /// The progress, which can be iterated once.
  public let steps: AsyncStream<Step>
  let task: Task<SyncResult, Never>

  public func result() async -> SyncResult { await task.value }

  /// Ends the sync; stored articles stay.
  public func cancel() { task.cancel() }
}

public struct SyncResult: Sendable, Hashable {
  public enum Outcome: String, Sendable {
    case done, partial, failed
    case nothingNew = "nothing new"
  }

  /// The articles that were fetched, or confirmed as unchanged.
  public var stored = 0
  public var skipped = 0
  public var failures: [String] = []
  public var failed: Int { failures.count }
  /// The articles in the service's list, without those that the user archived or deleted meanwhile.
  public var total = 0
  /// Those of them that are stored at the end.
  public var kept = 0
  /// The stored articles that were removed because the service no longer lists them.
  public var removed = 0
  public var images = 0
  /// The listed bookmarks that cannot be decoded, and why.
  public var unreadable: [String] = []
  public var edits = OutboxReport()
  /// Why the sync ended early; nil if it did not.
  public var reason: String?
  /// Whether the service refused the user or the list.
  public var isRefused = false

  public var outcome: Outcome {
    switch (stored > 0, failed > 0 || reason != nil || kept < total) {
    case (true, false): .done
    case (true, true): .partial
    case (false, false): .nothingNew
    case (false, true): .failed
    }
  }

  /// `18 of 20 articles: partial`.
  public var text: String { "\(kept) of \(total) articles: \(outcome.rawValue)" }
}
