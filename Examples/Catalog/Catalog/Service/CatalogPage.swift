/// A page of the catalog, in the shape of its contract.
public struct CatalogPage: Codable, Sendable, Hashable {
  public struct Pagination: Codable, Sendable, Hashable {
    public var limit: Int
    public var hasMore: Bool
    /// Opaque; nil on the last page.
    public var nextCursor: String?
  }

  public var pillars: [PillarGroup]
  /// Funnels that are about nothing in particular.
  public var uncategorized: [Funnel]
  public var pagination: Pagination

  private enum CodingKeys: String, CodingKey {
    case pillars, pagination
    case uncategorized = "uncategorized_funnels"
  }

  public var funnels: [Funnel] { pillars.flatMap(\.funnels) + uncategorized }
}

/// What every answer is wrapped in.
struct Envelope<Contents: Decodable>: Decodable {
  var data: Contents
}

/// What an error says of itself.
struct Complaint: Decodable {
  struct Details: Decodable {
    var code: String
    var message: String
  }

  var error: Details
}
