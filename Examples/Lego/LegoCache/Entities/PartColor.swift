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

  public var listForm: PartColor {
    var pair = self
    (pair.yearFrom, pair.yearTo) = (nil, nil)
    return pair
  }

  /// A name alone would make it look as if it came from a list.
  public mutating func complete(with known: PartColor?) {
    if yearFrom != nil { colorName = colorName ?? known?.colorName }
  }

  public mutating func fill(from known: PartColor) {
    colorName = colorName ?? known.colorName
    yearFrom = yearFrom ?? known.yearFrom
    yearTo = yearTo ?? known.yearTo
    setCount = setCount ?? known.setCount
    setPartCount = setPartCount ?? known.setPartCount
    partImageURL = partImageURL ?? known.partImageURL
  }

  /// Part and colour with a slash between them. A colour is a number, so the last slash always parts the two.
  public static func key(part: String, color: Int) -> String { "\(part)/\(color)" }
}

extension PartColor {
  /// The decoder's `userInfo` key of the requested part, a `String`.
  public static let askedPart: CodingUserInfoKey = named("lego.part")
  /// The decoder's `userInfo` key of the requested colour, an `Int`.
  public static let askedColor: CodingUserInfoKey = named("lego.color")

  private static func named(_ name: String) -> CodingUserInfoKey {
    guard let key = CodingUserInfoKey(rawValue: name) else {
      preconditionFailure("every name is a key")
    }
    return key
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

  public init(from decoder: any Decoder) throws {
    let container = try decoder.container(keyedBy: CodingKeys.self)
    partNum = try container.decode(String.self, .partNum, orAsked: Self.askedPart, of: decoder)
    colorID = try container.decode(Int.self, .colorID, orAsked: Self.askedColor, of: decoder)
    colorName = try container.decodeIfPresent(String.self, forKey: .colorName)
    yearFrom = try container.decodeIfPresent(Int.self, forKey: .yearFrom)
    yearTo = try container.decodeIfPresent(Int.self, forKey: .yearTo)
    setCount = try container.decodeIfPresent(Int.self, forKey: .setCount)
    setPartCount = try container.decodeIfPresent(Int.self, forKey: .setPartCount)
    partImageURL = try container.decodeIfPresent(String.self, forKey: .partImageURL)
    elements = try container.decodeIfPresent([String].self, forKey: .elements) ?? []
  }
}

extension KeyedDecodingContainer<PartColor.CodingKeys> {
  fileprivate func decode<Value: Decodable>(
    _ type: Value.Type, _ key: Key, orAsked asked: CodingUserInfoKey, of decoder: any Decoder
  ) throws -> Value {
    if let value = try decodeIfPresent(type, forKey: key) { return value }
    if let value = decoder.userInfo[asked] as? Value { return value }
    throw DecodingError.keyNotFound(
      key,
      .init(
        codingPath: codingPath,
        debugDescription:
          "the answer does not say it; put what was asked into userInfo[\(asked.rawValue)]"
      ))
  }
}
