// Numbers as text.
import Service

/// A colour. `-1` is "[Unknown]" and `9999` "[No Color/Any Color]".
public struct Color: LegoEntity, Identifiable {
  public var id: Int
  public var name: String
  /// Six hexadecimal digits without a `#`.
  public var rgb: String
  /// `nil` where the API does not say.
  public var isTransparent: Bool?
  /// The names in other systems: `BrickLink`, `LEGO`, ...
  public var externalIDs: [String: ExternalID]?

  /// The numbers and names a colour has in another system; the two lists run in parallel.
  public struct ExternalID: Codable, Sendable, Equatable {
    /// A `nil` stands for a system that has names only (Peeron).
    public var ids: [Int?]
    /// The names that belong to each id, none to several.
    public var descriptions: [[String]]

    enum CodingKeys: String, CodingKey {
      case ids = "ext_ids"
      case descriptions = "ext_descrs"
    }
  }

  public static let kind = EntityKind.colors
  public var key: String { String(id) }

  enum CodingKeys: String, CodingKey {
    case id, name, rgb
    case isTransparent = "is_trans"
    case externalIDs = "external_ids"
  }
}
