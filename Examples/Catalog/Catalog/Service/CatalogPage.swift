/// A page of the catalog, as its contract has it.
public struct CatalogPage: Codable, Sendable, Hashable {
  public struct Pagination: Codable, Sendable, Hashable {
    public var limit: Int?
    public var hasMore: Bool
    /// Opaque; nil on the last page.
    public var nextCursor: String?
  }

  public var pillars: [PillarGroup]
  /// Funnels without a pillar.
  public var uncategorized: [Funnel]
  public var pagination: Pagination

  private enum CodingKeys: String, CodingKey {
    case pillars, pagination
    case uncategorized = "uncategorized_funnels"
  }

  /// An answer without `pagination` has the whole catalog; one without `uncategorized_funnels` has none of them.
  public init(from decoder: any Decoder) throws {
    let fields = try decoder.container(keyedBy: CodingKeys.self)
    pillars = try fields.decode([PillarGroup].self, forKey: .pillars)
    uncategorized = try fields.decodeIfPresent([Funnel].self, forKey: .uncategorized) ?? []
    pagination =
      try fields.decodeIfPresent(Pagination.self, forKey: .pagination)
      ?? Pagination(limit: nil, hasMore: false)
  }

  public var funnels: [Funnel] { pillars.flatMap(\.funnels) + uncategorized }
}

/// The wrapper of every answer.
struct Envelope<Contents: Decodable>: Decodable {
  var data: Contents
}

/// The body of an error.
struct Complaint: Decodable {
  struct Details: Decodable {
    var code: String
    var message: String
  }

  var error: Details
}
