/// What an import did, kind by kind.
public struct ImportReport: Sendable, Equatable {
  /// What became of the entities of one kind. The first four together are those that the source had.
  public struct Tally: Sendable, Equatable, Codable {
    /// Not in the store before, or expired there.
    public var added = 0
    /// Stored with other contents before.
    public var changed = 0
    /// Stored as they are; only their time began anew.
    public var renewed = 0
    /// Stored as they are, and left untouched.
    public var unchanged = 0
    /// In the store before and no longer in the source.
    public var removed = 0

    public init(
      added: Int = 0, changed: Int = 0, renewed: Int = 0, unchanged: Int = 0, removed: Int = 0
    ) {
      self.added = added
      self.changed = changed
      self.renewed = renewed
      self.unchanged = unchanged
      self.removed = removed
    }

    public var read: Int { added + changed + renewed + unchanged }
    public var written: Int { added + changed + renewed }

    public static func + (left: Tally, right: Tally) -> Tally {
      Tally(
        added: left.added + right.added, changed: left.changed + right.changed,
        renewed: left.renewed + right.renewed, unchanged: left.unchanged + right.unchanged,
        removed: left.removed + right.removed)
    }
  }

  /// Why a kind was left as it is in the store.
  public enum Omission: String, Sendable, Codable {
    /// The source does not have it, or not in full.
    case absent
    /// The preset switches it off.
    case off
  }

  public private(set) var tallies: [EntityKind: Tally] = [:]
  public private(set) var omissions: [EntityKind: Omission] = [:]

  public init() {}

  public var total: Tally { tallies.values.reduce(Tally(), +) }

  mutating func note(_ tally: Tally, of kind: EntityKind) { tallies[kind] = tally }
  mutating func omit(_ kind: EntityKind, because reason: Omission) { omissions[kind] = reason }
}
