import Service

/// One page of an answer that lists entities.
public struct Listing<Entity: Codable & Sendable & Equatable>: Codable, Sendable, Equatable {
  /// All there are, on every page together; more than `results` has.
  public var count: Int
  /// The URL of the next page, to be used unchanged: its escapes may be doubled (`%252C`).
  public var next: String?
  public var previous: String?
  public var results: [Entity]
  /// The entities that cannot be decoded, and why: `3001: results[0].name is missing`; nil if there are none.
  public var skipped: [String]?

  public init(from decoder: any Decoder) throws {
    let fields = try decoder.container(keyedBy: CodingKeys.self)
    count = try fields.decode(Int.self, forKey: .count)
    next = try fields.decodeIfPresent(String.self, forKey: .next)
    previous = try fields.decodeIfPresent(String.self, forKey: .previous)
    let rows = try fields.decode([Attempt<Entity>].self, forKey: .results)
    results = rows.good()
    let faults = rows.compactMap(\.fault)
    skipped =
      try fields.decodeIfPresent([String].self, forKey: .skipped) ?? (faults.isEmpty ? nil : faults)
  }
}
