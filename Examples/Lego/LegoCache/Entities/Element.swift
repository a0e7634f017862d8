// Numbers as text.
import Service

/// A part in a colour, as the maker numbers it.
public struct Element: LegoEntity {
  /// `nil` in the inventory of a set, if the maker's number is not known.
  public var elementID: String?
  public var designID: String?
  public var part: Part
  public var color: Color
  public var imageURL: String?
  public var partImageURL: String?
  /// How often a set has it; only in an inventory.
  public var quantity: Int?
  /// Whether the set has it as a spare; only in an inventory.
  public var isSpare: Bool?

  public static let kind = EntityKind.elements

  /// The element's number, or without one the part and the colour that it is. The two never collide: numbers have no slash.
  public var key: String { elementID ?? PartColor.key(part: part.partNum, color: color.id) }

  enum CodingKeys: String, CodingKey {
    case part, color, quantity
    case elementID = "element_id"
    case designID = "design_id"
    case imageURL = "element_img_url"
    case partImageURL = "part_img_url"
    case isSpare = "is_spare"
  }
}
