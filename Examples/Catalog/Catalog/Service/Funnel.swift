import Service

/// A questionnaire in the catalog.
public struct Funnel: Codable, Sendable, Hashable, Identifiable {
  public var id: String
  public var slug: String
  public var title: String
  public var subtitle: String?
  public var description: String?
  public var pillarID: String?
  public var minutes: Int?
  public var outcomes: [String]
  public var isActive: Bool

  private enum CodingKeys: String, CodingKey {
    case id, slug, title, subtitle, description, outcomes
    case pillarID = "pillar_id"
    case minutes = "est_duration_min"
    case isActive = "is_active"
  }

  public init(from decoder: any Decoder) throws {
    let fields = try decoder.container(keyedBy: CodingKeys.self)
    id = try fields.decode(lenient: String.self, forKey: .id)
    slug = try fields.decode(lenient: String.self, forKey: .slug)
    title = try fields.decode(lenient: String.self, forKey: .title)
    subtitle = try fields.decode(Lenient<String>.self, forKey: .subtitle).wrappedValue
    description = try fields.decode(Lenient<String>.self, forKey: .description).wrappedValue
    pillarID = try fields.decode(Lenient<String>.self, forKey: .pillarID).wrappedValue
    minutes = try fields.decode(Lenient<Int>.self, forKey: .minutes).wrappedValue
    outcomes = try fields.decode(Lenient<[String]>.self, forKey: .outcomes).wrappedValue ?? []
    isActive = try fields.decode(Lenient<Bool>.self, forKey: .isActive).wrappedValue ?? true
  }

  /// The catalog's order: by title, capitals or not, then by slug.
  public static func isBefore(_ left: Funnel, _ right: Funnel) -> Bool {
    let titles = (left.title.lowercased(), right.title.lowercased())
    return titles.0 == titles.1 ? left.slug < right.slug : titles.0 < titles.1
  }
}

/// A subject of funnels.
public struct Pillar: Codable, Sendable, Hashable, Identifiable {
  public var id: String
  public var title: String
  public var key: String?
  public var description: String?
  public var order: Int?

  private enum CodingKeys: String, CodingKey {
    case id, title, key, description
    case order = "sort_order"
  }

  public init(from decoder: any Decoder) throws {
    let fields = try decoder.container(keyedBy: CodingKeys.self)
    id = try fields.decode(lenient: String.self, forKey: .id)
    key = try fields.decode(Lenient<String>.self, forKey: .key).wrappedValue
    title = try fields.decode(Lenient<String>.self, forKey: .title).wrappedValue ?? key ?? id
    description = try fields.decode(Lenient<String>.self, forKey: .description).wrappedValue
    order = try fields.decode(Lenient<Int>.self, forKey: .order).wrappedValue
  }
}

/// A pillar and some of its funnels.
public struct PillarGroup: Codable, Sendable, Hashable {
  public var pillar: Pillar
  public var funnels: [Funnel]
}
