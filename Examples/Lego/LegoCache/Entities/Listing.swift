/// One page of an answer that lists entities.
public struct Listing<Entity: Codable & Sendable & Equatable>: Codable, Sendable, Equatable {
  /// All there are, on every page together; more than `results` has.
  public var count: Int
  /// The whole URL of the page after this one. To be followed as it stands: its escapes may be doubled (`%252C`).
  public var next: String?
  public var previous: String?
  public var results: [Entity]

  public init(count: Int, next: String? = nil, previous: String? = nil, results: [Entity]) {
    self.count = count
    self.next = next
    self.previous = previous
    self.results = results
  }
}
