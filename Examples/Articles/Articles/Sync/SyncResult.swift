import Larder

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
  /// Articles that were not fetched because the store has no room for them.
  public var withoutRoom = 0
  /// Articles in the service's list, without those that the user archived or deleted meanwhile.
  public var total = 0
  /// Of them, those that are stored at the end.
  public var kept = 0
  /// Stored articles that were removed, because the service lists them no more: they were archived or deleted elsewhere.
  public var removed = 0
  /// Images that were fetched.
  public var images = 0
  /// Images that are too large or incomplete, and are not asked for again before a day has passed.
  public var imagesLeftOut: [String] = []
  /// Listed bookmarks that cannot be decoded, and why.
  public var unreadable: [String] = []
  /// The changes of the user that were sent first.
  public var edits = OutboxReport()
  /// The reason for an early end, for articles without room, or for a list that is not whole.
  public var reason: String?
  /// Whether it ended early.
  public var isStopped = false
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

/// The record of the last syncs. A sync whose record is removed ends.
struct SyncRecord: Codable, Sendable, Equatable {
  /// An article for which the store had no room. Under the same conditions it is not fetched again.
  struct Refusal: Codable, Sendable, Equatable {
    var id: String
    var updated: String
    /// Articles that were stored then.
    var articles: Int
    var limits: String
    /// Bytes in the store then.
    var used: Int

    /// Whether an article has no room now either, though it had none then: other things in the store may have left.
    func holds(for now: Refusal) -> Bool {
      var same = now
      same.used = used
      return now.used >= used && same == self
    }
  }

  /// The last one that stored something, or at least missed nothing.
  var moment: Timestamp?
  var refusal: Refusal?
  /// Keeps the room of a refusal in the store, so that one can be recorded when the store is full.
  private var reserve: String?

  init(moment: Timestamp? = nil, refusal: Refusal? = nil) {
    (self.moment, self.refusal) = (moment, refusal)
    reserve = refusal == nil ? String(repeating: "-", count: 200) : nil
  }

  /// The interval of automatic syncs.
  static let interval = Duration.hours(4)

  /// Whether the next one is due. A time in the future comes from a wrong clock: the next one waits until it has passed.
  func isDue(at now: Timestamp) -> Bool {
    moment.map { $0.duration(to: now) > Self.interval } ?? true
  }
}

/// An article that was too large, and why. It is not fetched again before a day has passed.
struct OversizedArticle: Codable, Sendable, Equatable {
  var updated: String
  var limits: String
  var reason: String
}
