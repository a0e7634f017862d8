import Larder

/// What a sync came to.
public struct SyncResult: Sendable, Hashable, Codable {
  public enum Outcome: String, Sendable, Codable {
    /// Everything that was missing is there now.
    case done
    /// Something is still missing.
    case partial
    /// Nothing was missing.
    case nothingNew = "nothing new"
    /// Nothing came.
    case failed
  }

  /// Articles whose HTML came, or was found to be as it is.
  public var stored = 0
  /// Articles that were there already.
  public var skipped = 0
  /// Articles that could not be had.
  public var failed = 0
  /// Articles that the sync was about.
  public var total = 0
  /// Images that came.
  public var images = 0
  /// Why it ended early, or why the first of those that failed did.
  public var reason: String?
  /// Whether it ended before all articles had had their turn.
  public var isStopped = false

  /// How many of ``total`` can be read without a network.
  public var present: Int { stored + skipped }

  public var outcome: Outcome {
    switch (stored > 0, failed > 0 || isStopped) {
    case (true, false): .done
    case (true, true): .partial
    case (false, false): .nothingNew
    case (false, true): .failed
    }
  }

  /// `18 of 20 articles: partial`.
  public var text: String { "\(present) of \(total) articles: \(outcome.rawValue)" }
}

/// How far a sync is.
public struct SyncProgress: Sendable, Hashable {
  /// Articles that have had their turn.
  public var done: Int
  /// Articles that it is about; nil until the service has listed them.
  public var total: Int?
  /// What is being fetched.
  public var title: String?
  public var stored: Int
  public var failed: Int

  static let begun = SyncProgress(done: 0, total: nil, title: nil, stored: 0, failed: 0)
}

/// The last sync that brought something, or at least lost nothing.
struct SyncMark: Codable, Sendable, Equatable {
  var moment: Timestamp

  /// Automatic syncs are so far apart.
  static let interval = Duration.hours(4)

  /// Whether the next one is due. A moment in the future says that a clock was wrong: not before it has passed.
  func isDue(at now: Timestamp) -> Bool { moment.duration(to: now) > Self.interval }
}
