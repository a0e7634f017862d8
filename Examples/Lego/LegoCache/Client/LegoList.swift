import Service

/// A list of the API, with the parameters of a request.
///
///     try await client.page(.parts.searching("brick 2 x").sized(20))
public struct LegoList<Entity: LegoEntity>: Sendable, Hashable {
  let path: String
  /// Sorted by name in the address, so that the same list always has the same address.
  private(set) var parameters: [String: String] = [:]
  /// The part, which the answers do not contain.
  var part: String?
  /// Whether the rows are entities as the API has them alone, so that they are stored under their own keys too.
  private(set) var hasEntities = true

  init(_ path: String, of part: String? = nil) {
    (self.path, self.part) = (path, part)
  }

  /// Sets a parameter of the API; the last value of a name counts.
  public func with(_ name: String, _ value: String) -> Self {
    var list = self
    list.parameters[name] = value
    return list
  }

  /// The number of entities on a page; the API's default is 100, its maximum 1,000.
  public func sized(_ count: Int) -> Self { with("page_size", String(count)) }
  public func searching(_ text: String) -> Self { with("search", text) }

  /// The first page's path and query. Values are escaped.
  var address: String {
    let query = parameters.sorted { $0.key < $1.key }
      .map { $0.key.percentEscaped + "=" + $0.value.percentEscaped }
    return query.isEmpty ? path : path + "?" + query.joined(separator: "&")
  }

  /// Whether an address is that of a page of this list without a search or a filter.
  func isPage(_ address: String) -> Bool {
    guard address != path else { return true }
    guard address.hasPrefix(path + "?") else { return false }
    return address.dropFirst(path.count + 1).split(separator: "&").allSatisfy { parameter in
      ["ordering", "page", "page_size"].contains(parameter.prefix { $0 != "=" })
    }
  }
}

extension LegoList<Color> { public static var colors: Self { Self("/lego/colors/") } }

extension LegoList<Theme> { public static var themes: Self { Self("/lego/themes/") } }

extension LegoList<PartCategory> {
  public static var categories: Self { Self("/lego/part_categories/") }
}

extension LegoList<Part> { public static var parts: Self { Self("/lego/parts/") } }

extension LegoList<ModelSet> {
  public static var sets: Self { Self("/lego/sets/") }
  public static var minifigs: Self { Self("/lego/minifigs/") }
}

extension LegoList<PartColor> {
  /// The colours there are of a part.
  public static func colors(of part: String) -> Self {
    Self("/lego/parts/" + part.percentEscaped + "/colors/", of: part)
  }
}

extension LegoList<Element> {
  /// The parts of a set or minifig, each with its ``Element/quantity``.
  public static func inventory(of set: String) -> Self {
    let path = set.hasPrefix("fig-") ? "/lego/minifigs/" : "/lego/sets/"
    var list = Self(path + set.percentEscaped + "/parts/")
    list.hasEntities = false
    return list
  }
}

/// One page of an answer that lists entities.
public struct Listing<Entity: Codable & Sendable & Equatable>: Codable, Sendable, Equatable {
  /// All there are, on every page together; more than `results` has. Nil if the service does not say.
  public var count: Int?
  /// The URL of the next page, to be used unchanged: its escapes may be doubled (`%252C`).
  public var next: String?
  public var previous: String?
  public var results: [Entity]
  /// The entities that cannot be decoded, and why: `3001: results[0].name is missing`; nil if there are none.
  public var skipped: [String]?

  private static var mostEntities: Int { 1_000_000_000 }

  public init(from decoder: any Decoder) throws {
    let fields = try decoder.container(keyedBy: CodingKeys.self)
    count = try fields.decodeIfPresent(Int.self, forKey: .count)
    if let count, !(0...Self.mostEntities).contains(count) {
      throw DecodingError.dataCorruptedError(
        forKey: .count, in: fields, debugDescription: "\(count) is not possible")
    }
    next = try fields.decodeIfPresent(String.self, forKey: .next)
    previous = try fields.decodeIfPresent(String.self, forKey: .previous)
    let rows = try fields.decode([Attempt<Entity>].self, forKey: .results)
    results = rows.good()
    let faults = rows.compactMap(\.fault)
    skipped =
      try fields.decodeIfPresent([String].self, forKey: .skipped) ?? (faults.isEmpty ? nil : faults)
  }
}
