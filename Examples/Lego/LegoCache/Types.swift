// `Service` overloads the decoding methods below: a number may be text, and a malformed optional field is nil.
import Service

/// One of the seven entity types of the Rebrickable API, with its useful fields. Other fields are ignored.
public protocol LegoEntity: Codable, Sendable, Equatable {
  static var kind: EntityKind { get }
  /// Identifies the entity within its kind, as the API writes the key: leading zeros, dots and dashes are part of it.
  var key: String { get }
}

/// The seven kinds of entities. The raw value is the name in commands and of the namespace.
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

/// A colour. `-1` is "[Unknown]" and `9999` "[No Color/Any Color]".
public struct Color: LegoEntity {
  public static let kind = EntityKind.colors
  public var id: Int
  public var name: String
  /// Six hexadecimal digits without a `#`.
  public var rgb: String
  public var isTransparent: Bool?
  public var key: String { String(id) }

  enum CodingKeys: String, CodingKey {
    case id, name, rgb
    case isTransparent = "is_trans"
  }
}

/// A theme of sets. Names repeat; only the id identifies a theme.
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

/// A set or a minifig, which has neither year nor theme.
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

/// A part in a colour, with the manufacturer's number.
public struct Element: LegoEntity {
  public static let kind = EntityKind.elements
  public var elementID: String?
  public var part: Part
  public var color: Color
  /// How many pieces a set has, and whether they are spares; nil outside of an inventory.
  public var quantity: Int?
  public var isSpare: Bool?
  /// The element's number, or else the part and the colour. The two forms never collide: numbers have no slash.
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
  /// The number of sets that have the part in this colour.
  public var setCount: Int?
  /// The numbers of the elements that are this part in this colour.
  public var elements: [String] = []
  /// The part and the colour. A colour is a number, so the last slash always separates the two.
  public var key: String { "\(partNum)/\(colorID)" }

  enum CodingKeys: String, CodingKey {
    case elements
    case partNum = "part_num"
    case colorID = "color_id"
    case colorName = "color_name"
    case setCount = "num_sets"
  }
}

/// The API's answers leave out values of the request: the part, and for a single colour also the colour. A decoder gets these
/// values in its `userInfo`.
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
  /// The number of entities on all pages; nil if the service does not state it.
  public var count: Int?
  public var results: [Entity]
  /// The entities that cannot be decoded, and why: `3001: results[0].name is missing`.
  public var skipped: [String]

  public init(from decoder: any Decoder) throws {
    let fields = try decoder.container(keyedBy: CodingKeys.self)
    count = try fields.decodeIfPresent(Int.self, forKey: .count)
    // An entity that cannot be decoded does not hide the others.
    let list = try fields.decode(LenientList<Entity>.self, forKey: .results)
    results = list.elements
    skipped = try fields.decodeIfPresent([String].self, forKey: .skipped) ?? list.skipped
  }
}
