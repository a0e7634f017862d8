/// One page of an answer that lists entities.
public struct Listing<Entity: Codable & Sendable & Equatable>: Codable, Sendable, Equatable {
  /// All there are, on every page together; more than `results` has.
  public var count: Int
  /// The URL of the next page, to be used unchanged: its escapes may be doubled (`%252C`).
  public var next: String?
  public var previous: String?
  public var results: [Entity]
}
