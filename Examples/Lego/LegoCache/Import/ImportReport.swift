/// Rows that cannot be read, have the key of a row before them, repeat the names of the columns, or refer to a row of another
/// table which does not exist; fields that are left out, because they are of a wrong form; and what follows the end of
/// compressed data.
public struct SkippedRows: Sendable, Equatable, Codable {
  public var count = 0
  /// Place and reason of the first ``longestList`` of them: `elements.csv:3: no part "9999"`.
  public var list: [String] = []

  /// Whether some cannot be read: the key of such a row is not known, so nothing is removed.
  public var areUnreadable = false

  public static let longestList = 100

  public mutating func add(_ reason: String, isUnreadable: Bool = false) {
    count += 1
    areUnreadable = areUnreadable || isUnreadable
    if list.count < Self.longestList { list.append(reason) }
  }
}

/// What an import or a refresh changed, kind by kind.
public struct ImportReport: Sendable, Equatable, Codable {
  /// What happened to the entities of one kind. The first four together are those that the source has.
  public struct Tally: Sendable, Equatable, Codable {
    /// Not stored before, or expired.
    public var added = 0
    /// Stored with other contents before.
    public var changed = 0
    /// Stored with the same contents; the lifetime restarted.
    public var renewed = 0
    /// Stored with the same contents, not written.
    public var unchanged = 0
    /// Stored before and no longer in the source.
    public var removed = 0

    public var read: Int { added + changed + renewed + unchanged }
  }

  /// Why a kind was not imported.
  public enum Omission: String, Sendable, Codable {
    /// The source does not have it in full.
    case absent
    /// The preset switches it off.
    case off
    /// An earlier kind failed.
    case notBegun = "not begun"
  }

  /// Where an import stopped.
  public struct Failure: Sendable, Equatable, Codable {
    public var kind: EntityKind
    /// Entities of this kind that are in the store now; nothing of it was removed.
    public var imported: Int
    public var reason: String
  }

  public internal(set) var tallies: [EntityKind: Tally] = [:]
  public internal(set) var omissions: [EntityKind: Omission] = [:]
  public internal(set) var skipped: [EntityKind: SkippedRows] = [:]
  public internal(set) var failure: Failure?

  init() {}
  init(omitting kind: EntityKind, because reason: Omission) { omissions = [kind: reason] }

  /// The report of one kind.
  init(
    of kind: EntityKind, _ tally: Tally?, _ skipped: SkippedRows,
    stoppedBy error: (any Error)? = nil
  ) {
    let tally = tally ?? Tally()
    tallies = [kind: tally]
    if skipped.count > 0 { self.skipped = [kind: skipped] }
    failure = error.map { Failure(kind: kind, imported: tally.read, reason: "\($0)") }
  }

  static func += (report: inout Self, other: Self) {
    report.tallies.merge(other.tallies) { $1 }
    report.omissions.merge(other.omissions) { $1 }
    report.skipped.merge(other.skipped) { $1 }
    report.failure = report.failure ?? other.failure
  }
}
