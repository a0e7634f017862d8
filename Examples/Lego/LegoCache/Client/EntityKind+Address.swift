import Larder
import Service

extension EntityKind {
  /// The path of one entity; throws for a key that no path can have.
  func address(of key: String) throws(LarderError) -> String {
    guard !key.isEmpty, key.contains(where: { $0 != "." }) else {
      throw LarderError(
        .invalidArgument, "\"\(key)\" is no key of \(word)",
        hint: "say a number as the maker writes it: 3001, 10294-1, fig-000018")
    }
    switch self {
    case .colors: return "/lego/colors/" + key.percentEscaped + "/"
    case .themes: return "/lego/themes/" + key.percentEscaped + "/"
    case .categories: return "/lego/part_categories/" + key.percentEscaped + "/"
    case .parts: return "/lego/parts/" + key.percentEscaped + "/"
    case .elements: return "/lego/elements/" + key.percentEscaped + "/"
    case .sets:
      return (key.hasPrefix("fig-") ? "/lego/minifigs/" : "/lego/sets/") + key.percentEscaped + "/"
    case .partColors:
      guard let pair = PartColor.parts(of: key) else {
        throw LarderError(
          .invalidArgument, "\"\(key)\" is no part and colour",
          hint: "say both with a slash between them: 3001/4")
      }
      return "/lego/parts/" + pair.part.percentEscaped + "/colors/\(pair.color)/"
    }
  }
}

extension PartColor {
  /// The part and the colour of a ``key(part:color:)``.
  static func parts(of key: String) -> (part: String, color: Int)? {
    guard let slash = key.lastIndex(of: "/"), slash > key.startIndex,
      let color = Int(key[key.index(after: slash)...])
    else { return nil }
    return (String(key[..<slash]), color)
  }
}
