import Service

/// A list of the API: where it is, and what is wanted of it.
///
///     try await client.page(.parts.searching("brick 2 x").sized(20))
public struct LegoList<Entity: LegoEntity>: Sendable, Hashable {
  let path: String
  /// In the order of their names, so that the same list has the same address however it was put together.
  private(set) var parameters: [String: String] = [:]
  /// The part that the answers leave out.
  var part: String?

  init(_ path: String, of part: String? = nil) {
    self.path = path
    self.part = part
  }

  /// Any parameter the API knows; the last value of a name counts.
  public func with(_ name: String, _ value: String) -> Self {
    var list = self
    list.parameters[name] = value
    return list
  }

  /// How many entities on a page; the API gives 100 unless asked otherwise, and at most 1,000.
  public func sized(_ count: Int) -> Self { with("page_size", String(count)) }
  public func ordered(by field: String) -> Self { with("ordering", field) }
  public func searching(_ text: String) -> Self { with("search", text) }

  /// Of the first page, behind the service's base. What a value contains never looks like another parameter.
  var address: String {
    let query = parameters.sorted { $0.key < $1.key }
      .map { $0.key.percentEscaped + "=" + $0.value.percentEscaped }
    return query.isEmpty ? path : path + "?" + query.joined(separator: "&")
  }
}

extension LegoList<Color> {
  public static var colors: Self { Self("/lego/colors/") }
}

extension LegoList<Theme> {
  public static var themes: Self { Self("/lego/themes/") }
}

extension LegoList<PartCategory> {
  public static var categories: Self { Self("/lego/part_categories/") }
}

extension LegoList<Part> {
  public static var parts: Self { Self("/lego/parts/") }
  /// Each part as an answer about it alone has it.
  public var inDetail: Self { with("inc_part_details", "1") }
}

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
