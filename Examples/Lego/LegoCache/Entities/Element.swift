/// A part in a colour, as the maker numbers it.
public struct Element: LegoEntity {
  /// `nil` in the inventory of a set for a pair the maker's number of which nobody knows.
  public var elementID: String?
  public var designID: String?
  public var part: Part
  public var color: Color
  public var imageURL: String?
  public var partImageURL: String?

  public init(
    elementID: String?, designID: String? = nil, part: Part, color: Color,
    imageURL: String? = nil, partImageURL: String? = nil
  ) {
    self.elementID = elementID
    self.designID = designID
    self.part = part
    self.color = color
    self.imageURL = imageURL
    self.partImageURL = partImageURL
  }

  public static let kind = EntityKind.elements

  /// The element's number, or without one the part and the colour that it is. The two never collide: numbers have no slash.
  public var key: String {
    elementID ?? PartColor.key(part: part.partNum, color: color.id)
  }

  enum CodingKeys: String, CodingKey {
    case part, color
    case elementID = "element_id"
    case designID = "design_id"
    case imageURL = "element_img_url"
    case partImageURL = "part_img_url"
  }
}
