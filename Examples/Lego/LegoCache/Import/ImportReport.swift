/// The source of an import: hands over one kind after the other, entity by entity.
public protocol EntitySource: Sendable {
  /// The kinds it has in full.
  var kinds: [EntityKind] { get }
  /// About how many entities of a kind there are, found without parsing them; 0 where that is not possible.
  func estimate(_ kind: EntityKind) throws -> Int
  /// Calls `body` with every entity of a kind, or throws; returns the rows that were skipped.
  func read<Entity: LegoEntity>(
    _ type: Entity.Type, _ body: (Entity) throws -> Void
  ) throws -> SkippedRows
}

/// Rows that refer to a row of another table which does not exist, have the key of a row before them, or cannot be decoded.
public struct SkippedRows: Sendable, Equatable, Codable {
  public var count = 0
  /// Place and reason of the first ``longestList`` of them: `elements.csv:3: no part "9999"`.
  public var list: [String] = []

  public static let longestList = 100

  public init() {}

  public mutating func add(_ reason: String) {
    count += 1
    if list.count < Self.longestList { list.append(reason) }
  }

  public static func + (left: Self, right: Self) -> Self {
    var sum = left
    sum.count += right.count
    sum.list += right.list.prefix(longestList - left.list.count)
    return sum
  }
}

/// What an import changed, kind by kind.
public struct ImportReport: Sendable, Equatable {
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
    public var written: Int { added + changed + renewed }

    public static func + (left: Tally, right: Tally) -> Tally {
      Tally(
        added: left.added + right.added, changed: left.changed + right.changed,
        renewed: left.renewed + right.renewed, unchanged: left.unchanged + right.unchanged,
        removed: left.removed + right.removed)
    }
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

  public init() {}

  public var total: Tally { tallies.values.reduce(Tally(), +) }
}
