import Foundation
import Service

/// A part in one colour.
///
/// The API's answers leave out the part, and the answer about a single colour leaves out the colour too: both stand in the
/// request's URL only. So decoding takes what the JSON lacks from the decoder's `userInfo`, and the encoded form has both.
public struct PartColor: LegoEntity {
  public var partNum: String
  public var colorID: Int
  public var colorName: String?
  public var yearFrom: Int?
  public var yearTo: Int?
  /// Sets that have the part in this colour.
  public var setCount: Int?
  /// How many of it all those sets have together.
  public var setPartCount: Int?
  public var partImageURL: String?
  /// The element numbers of this pair, often one, sometimes none.
  public var elements: [String] = []

  public static let kind = EntityKind.partColors
  public var key: String { Self.key(part: partNum, color: colorID) }

  /// A list has the colour's name, and an answer about one colour the years; with both it is as much as can be known.
  public var isDetail: Bool { colorName == nil || yearFrom != nil }

  public mutating func keepDetails(of known: PartColor) {
    (yearFrom, yearTo) = (known.yearFrom, known.yearTo)
  }

  /// A name alone would make it look as if it came from a list.
  public mutating func complete(with known: PartColor?) {
    if yearFrom != nil { colorName = colorName ?? known?.colorName }
  }

  /// Part and colour with a slash between them. A colour is a number, so the last slash always parts the two.
  public static func key(part: String, color: Int) -> String { "\(part)/\(color)" }

  /// The part and the colour of a ``key(part:color:)``.
  static func parts(of key: String) -> (part: String, color: Int)? {
    guard let slash = key.lastIndex(of: "/"), slash > key.startIndex,
      let color = Int(key[key.index(after: slash)...])
    else { return nil }
    return (String(key[..<slash]), color)
  }

  enum CodingKeys: String, CodingKey {
    case elements
    case partNum = "part_num"
    case colorID = "color_id"
    case colorName = "color_name"
    case yearFrom = "year_from"
    case yearTo = "year_to"
    case setCount = "num_sets"
    case setPartCount = "num_set_parts"
    case partImageURL = "part_img_url"
  }
}

extension PartColor {
  /// The decoder's `userInfo` keys of the requested part, a `String`, and of the requested colour, an `Int`.
  static let askedPart = CodingUserInfoKey(rawValue: "lego.part")
  static let askedColor = CodingUserInfoKey(rawValue: "lego.color")

  public init(from decoder: any Decoder) throws {
    let container = try decoder.container(keyedBy: CodingKeys.self)
    func field<Value: Decodable>(
      _ key: CodingKeys, orAsked asked: CodingUserInfoKey?
    ) throws -> Value {
      if let value = try container.decodeIfPresent(Value.self, forKey: key) { return value }
      if let value = asked.flatMap({ decoder.userInfo[$0] }) as? Value { return value }
      return try container.decode(Value.self, forKey: key)
    }
    partNum = try field(.partNum, orAsked: Self.askedPart)
    colorID =
      try container.decodeIfPresent(Int.self, forKey: .colorID)
      ?? field(.colorID, orAsked: Self.askedColor)
    colorName = try container.decodeIfPresent(String.self, forKey: .colorName)
    yearFrom = try container.decodeIfPresent(Int.self, forKey: .yearFrom)
    yearTo = try container.decodeIfPresent(Int.self, forKey: .yearTo)
    setCount = try container.decodeIfPresent(Int.self, forKey: .setCount)
    setPartCount = try container.decodeIfPresent(Int.self, forKey: .setPartCount)
    partImageURL = try container.decodeIfPresent(String.self, forKey: .partImageURL)
    elements = try container.decodeIfPresent([String].self, forKey: .elements) ?? []
  }
}

extension JSONDecoder {
  /// A decoder for answers about a part in a colour, which leave out what the request has.
  convenience init(part: String?, color: Int? = nil) {
    self.init()
    if let asked = PartColor.askedPart { userInfo[asked] = part }
    if let asked = PartColor.askedColor { userInfo[asked] = color }
  }
}
