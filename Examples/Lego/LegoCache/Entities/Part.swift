// Numbers as text.
import Service

/// A part, in no particular colour.
///
/// A list leaves out `prints`, `molds` and `alternates`; those of a detail are complete, and may be empty.
public struct Part: LegoEntity {
  /// Digits, letters, dots and dashes; leading zeros count.
  public var partNum: String
  public var name: String
  public var categoryID: Int
  public var yearFrom: Int?
  public var yearTo: Int?
  public var url: String?
  public var imageURL: String?
  /// Part numbers that are this part with a print on it.
  public var prints: [String]?
  /// Part numbers of the same shape from another mould.
  public var molds: [String]?
  /// Part numbers that can take this one's place.
  public var alternates: [String]?
  /// By system: the numbers others use.
  public var externalIDs: [String: [String?]]?
  /// The part this one is a print of.
  public var printOf: String?

  public static let kind = EntityKind.parts
  public var key: String { partNum }
  public var isDetail: Bool { prints != nil && molds != nil && alternates != nil }

  public mutating func keepDetails(of known: Part) {
    (prints, molds, alternates) = (known.prints, known.molds, known.alternates)
  }

  public mutating func complete(with known: Part?) {
    prints = prints ?? []
    molds = molds ?? []
    alternates = alternates ?? []
  }

  enum CodingKeys: String, CodingKey {
    case name, prints, molds, alternates
    case partNum = "part_num"
    case categoryID = "part_cat_id"
    case yearFrom = "year_from"
    case yearTo = "year_to"
    case url = "part_url"
    case imageURL = "part_img_url"
    case externalIDs = "external_ids"
    case printOf = "print_of"
  }
}

/// A category of parts.
public struct PartCategory: LegoEntity, Identifiable {
  public var id: Int
  public var name: String
  /// How many parts it has; `nil` where the source does not count.
  public var partCount: Int?

  public static let kind = EntityKind.categories
  public var key: String { String(id) }

  enum CodingKeys: String, CodingKey {
    case id, name
    case partCount = "part_count"
  }
}
