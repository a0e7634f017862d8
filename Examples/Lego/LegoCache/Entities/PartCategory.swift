/// A category of parts.
public struct PartCategory: LegoEntity, Identifiable {
  public var id: Int
  public var name: String
  /// How many parts it has; `nil` where the source does not count.
  public var partCount: Int?

  public static let kind = EntityKind.categories
  public var key: String { String(id) }

  public mutating func fill(from known: PartCategory) { partCount = partCount ?? known.partCount }

  enum CodingKeys: String, CodingKey {
    case id, name
    case partCount = "part_count"
  }
}
