// Numbers as text.
import Service

/// A set or a minifig; the API answers both in one shape, a minifig without year and theme.
public struct ModelSet: LegoEntity {
  /// `10294-1`, `CINDERELLASCASTLE-1`, or `fig-000018`; always text.
  public var setNum: String
  public var name: String
  /// May lie in the future.
  public var year: Int?
  public var themeID: Int?
  /// 0 for thousands of sets without an inventory.
  public var partCount: Int?
  public var imageURL: String?
  public var url: String?
  /// ISO 8601 with microseconds, kept as the server wrote it.
  public var lastModified: String?

  public static let kind = EntityKind.sets
  public var key: String { setNum }

  enum CodingKeys: String, CodingKey {
    case name, year
    case setNum = "set_num"
    case themeID = "theme_id"
    case partCount = "num_parts"
    case imageURL = "set_img_url"
    case url = "set_url"
    case lastModified = "last_modified_dt"
  }
}

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
