/// A theme of sets. Names repeat (there are several "Technic"); only the id tells themes apart.
public struct Theme: LegoEntity, Identifiable {
  public var id: Int
  public var name: String
  /// The theme this one belongs to, `nil` at the top.
  public var parentID: Int?

  public static let kind = EntityKind.themes
  public var key: String { String(id) }

  enum CodingKeys: String, CodingKey {
    case id, name
    case parentID = "parent_id"
  }
}
