// `Service` has variants of the decoding methods below: a number may be text, and a malformed optional field is nil.
import Service

/// One of the seven types of entity in the Rebrickable API, with the useful fields. Other fields are ignored.
public protocol LegoEntity: Codable, Sendable, Equatable {
  static var kind: EntityKind { get }
  /// Identifies the entity within its kind. Zeros at the beginning, dots and dashes are part of the key, as in the API.
  var key: String { get }
}

/// The seven kinds of entity. The raw value is the name of the kind in commands, and a part of the name of its namespace.
public enum EntityKind: String, CaseIterable, Sendable {
  case colors, themes, categories, parts, sets, elements
  case partColors = "partcolors"

  public var type: any LegoEntity.Type {
    let types: [any LegoEntity.Type] = [
      Color.self, Theme.self, PartCategory.self, Part.self, ModelSet.self, Element.self,
      PartColor.self,
    ]
    return types.first { $0.kind == self }!
  }
}

/// A colour. The id `-1` is "[Unknown]", and `9999` is "[No Color/Any Color]".
public struct Color: LegoEntity {
  public static let kind = EntityKind.colors
  public var id: Int
  public var name: String
  /// The colour as six hexadecimal digits without a `#`.
  public var rgb: String
  public var isTransparent: Bool?
  public var key: String { String(id) }

  enum CodingKeys: String, CodingKey {
    case id, name, rgb
    case isTransparent = "is_trans"
  }
}

/// A theme of sets. Several themes may have the same name, so only the id identifies a theme.
public struct Theme: LegoEntity {
  public static let kind = EntityKind.themes
  public var id: Int
  public var name: String
  public var parentID: Int?
  public var key: String { String(id) }

  enum CodingKeys: String, CodingKey {
    case id, name
    case parentID = "parent_id"
  }
}

public struct PartCategory: LegoEntity {
  public static let kind = EntityKind.categories
  public var id: Int
  public var name: String
  public var partCount: Int?
  public var key: String { String(id) }

  enum CodingKeys: String, CodingKey {
    case id, name
    case partCount = "part_count"
  }
}

public struct Part: LegoEntity {
  public static let kind = EntityKind.parts
  public var partNum: String
  public var name: String
  public var categoryID: Int
  public var yearFrom, yearTo: Int?
  public var key: String { partNum }

  enum CodingKeys: String, CodingKey {
    case name
    case partNum = "part_num"
    case categoryID = "part_cat_id"
    case yearFrom = "year_from"
    case yearTo = "year_to"
  }
}

/// A set or a minifig. A minifig has neither a year nor a theme.
public struct ModelSet: LegoEntity {
  public static let kind = EntityKind.sets
  /// The number, such as `10294-1` or `fig-000018`.
  public var setNum: String
  public var name: String
  public var year, themeID, partCount: Int?
  public var key: String { setNum }

  enum CodingKeys: String, CodingKey {
    case name, year
    case setNum = "set_num"
    case themeID = "theme_id"
    case partCount = "num_parts"
  }
}

/// A part in one colour. The number of the element is the number that the manufacturer uses.
public struct Element: LegoEntity {
  public static let kind = EntityKind.elements
  public var elementID: String?
  public var part: Part
  public var color: Color
  /// The number of pieces in a set, and whether these pieces are spares. Nil outside an inventory.
  public var quantity: Int?
  public var isSpare: Bool?
  /// The number of the element, or else the part and the colour. A number has no slash, so the two forms are always different.
  public var key: String { elementID ?? "\(part.partNum)/\(color.id)" }

  enum CodingKeys: String, CodingKey {
    case part, color, quantity
    case elementID = "element_id"
    case isSpare = "is_spare"
  }
}

public struct PartColor: LegoEntity {
  public static let kind = EntityKind.partColors
  public var partNum: String
  public var colorID: Int
  public var colorName: String?
  /// The number of sets that contain the part in this colour.
  public var setCount: Int?
  /// The numbers of the elements that consist of this part in this colour.
  public var elements: [String] = []
  /// The part and the colour. The colour is a number, so the last slash always separates the part from the colour.
  public var key: String { "\(partNum)/\(colorID)" }

  enum CodingKeys: String, CodingKey {
    case elements
    case partNum = "part_num"
    case colorID = "color_id"
    case colorName = "color_name"
    case setCount = "num_sets"
  }
}

/// The answers of the API omit the part of the request, and for a single colour also the colour. They come from `userInfo`.
extension PartColor {
  struct Asked {
    var part: String
    var color: Int?
  }

  static let asked = CodingUserInfoKey(rawValue: "lego.asked")!

  public init(from decoder: any Decoder) throws {
    let fields = try decoder.container(keyedBy: CodingKeys.self)
    let asked = decoder.userInfo[Self.asked] as? Asked
    partNum =
      try fields.decodeIfPresent(String.self, forKey: .partNum) ?? asked?.part
      ?? fields.decode(String.self, forKey: .partNum)
    colorID =
      try fields.decodeIfPresent(Int.self, forKey: .colorID) ?? asked?.color
      ?? fields.decode(Int.self, forKey: .colorID)
    colorName = try fields.decodeIfPresent(String.self, forKey: .colorName)
    setCount = try fields.decodeIfPresent(Int.self, forKey: .setCount)
    elements =
      try fields.decodeIfPresent([Lenient<String>?].self, forKey: .elements)?
      .compactMap { $0?.value } ?? []
  }
}

/// One page of a list.
public struct LegoPage<Entity: LegoEntity>: Codable, Sendable {
  /// The number of entities on all pages. Nil if the service does not give this number.
  public var count: Int?
  public var results: [Entity]
  /// The entities that could not be decoded, with the reasons, such as `3001: results[0].name is missing`.
  public var skipped: [String]

  public init(from decoder: any Decoder) throws {
    let fields = try decoder.container(keyedBy: CodingKeys.self)
    count = try fields.decodeIfPresent(Int.self, forKey: .count)
    // If an entity cannot be decoded, the other entities are still returned.
    let list = try fields.decode(LenientList<Entity>.self, forKey: .results)
    results = list.elements
    skipped = try fields.decodeIfPresent([String].self, forKey: .skipped) ?? list.skipped
  }
}
