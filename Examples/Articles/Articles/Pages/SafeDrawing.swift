/// Drawings (SVG) of unknown origin. A page shows them as images, and then browsers run and load nothing. Their files can be
/// opened alone, and then they can do whatever a page can.
///
/// Only elements of a list may be in one. Anything doubtful counts as unsafe.
enum SafeDrawing {
  /// In small letters; filters, `fe...`, are allowed too.
  private static let elements: Set<String> = [
    "a", "animate", "animatemotion", "animatetransform", "circle", "clippath", "defs", "desc",
    "ellipse", "filter", "g", "image", "line", "lineargradient", "marker", "mask", "metadata",
    "mpath", "path", "pattern", "polygon", "polyline", "radialgradient", "rect", "set", "stop",
    "style", "svg", "switch", "symbol", "text", "textpath", "title", "tspan", "use", "view",
  ]
  private static let namespace = "http://www.w3.org/2000/svg"
  /// References to the drawing itself, or to images in it.
  private static let inner = [
    "#", "data:image/png", "data:image/jpeg", "data:image/gif", "data:image/webp",
  ]
  /// An escape may hide a word.
  private static let words = ["\\", "@import", "image-set(", "javascript:"]
  /// Encodings in which ASCII is ASCII.
  private static let encodings = ["utf-8", "us-ascii", "iso-8859-1"]

  /// Whether the drawing runs no code and refers to nothing outside.
  static func isSafe(_ bytes: [UInt8]) -> Bool {
    if bytes.contains(where: { $0 < 0x20 && !$0.isBlank }) { return false }
    var isFirst = true
    // The rules in the open element `style`.
    var rules: String?
    for token in XMLTokens(bytes) {
      switch token {
      case .broken: return false
      case .documentType: break
      case .comment: if rules != nil { return false }
      case .instruction(let text): guard isFirst, isDeclaration(text) else { return false }
      case .data(let text): rules?.append(text)
      case .text(let text):
        guard rules != nil else { break }
        guard let text = resolved(text) else { return false }
        rules?.append(text)
      case .open(let tag):
        guard rules == nil, isSafe(tag) else { return false }
        if local(tag.name) == "style", !tag.isEmpty { rules = "" }
      case .close:
        if let text = rules, !isSafe(rules: text) { return false }
        rules = nil
      }
      isFirst = false
    }
    return rules == nil
  }

  /// `xml version="1.0" encoding="UTF-8"`
  private static func isDeclaration(_ text: String) -> Bool {
    guard text.hasPrefix("xml "), let name = text.firstRange(of: "encoding") else {
      return text.hasPrefix("xml ")
    }
    let value = text[name.upperBound...].drop { "= ".contains($0) }.dropFirst()
    return encodings.contains(value.prefix { !"\"'".contains($0) }.lowercased())
  }

  /// An element with another prefix is of another program's kind, of which browsers know nothing: see ``isSafe(_:_:)``.
  private static func isSafe(_ tag: XMLTokens.Tag) -> Bool {
    let name = local(tag.name)
    let isOwn = ["", "svg:"].contains(prefix(tag.name))
    guard !isOwn || elements.contains(name) || name.hasPrefix("fe") else { return false }
    return tag.attributes.allSatisfy { name, value in
      resolved(value).map { isSafe(name, $0.lowercased()) } ?? false
    }
  }

  private static func isSafe(_ name: String, _ value: String) -> Bool {
    switch (prefix(name), local(name)) {
    case ("", "xmlns"): value == namespace
    // No other prefix stands for drawings or pages.
    case ("xmlns:", let prefix):
      !value.contains("xhtml") && (value != namespace || prefix == "svg")
    case (_, "base"): false
    case (_, "href"), (_, "src"): isInner(value)
    case (_, "attributename"): !["href", "src", "on"].contains(where: value.contains)
    case (let prefix, let name): !name.hasPrefix("on") && (!prefix.isEmpty || isSafe(rules: value))
    }
  }

  /// Whether styles load nothing; in small letters or not.
  private static func isSafe(rules: String) -> Bool {
    let text = rules.lowercased()
    return !words.contains(where: text.contains)
      && text.ranges(of: "url(").allSatisfy { isInner(text[$0.upperBound...]) }
  }

  private static func isInner(_ value: some StringProtocol) -> Bool {
    let value = value.drop { $0.isWhitespace || "\"'".contains($0) }
    return inner.contains { value.hasPrefix($0) }
  }

  /// The text without references; nil if one is not known.
  private static func resolved(_ text: String) -> String? {
    let pieces = text.split(separator: "&", omittingEmptySubsequences: false)
    var result = pieces.first.map(String.init) ?? ""
    for piece in pieces.dropFirst() {
      guard let end = piece.firstIndex(of: ";"),
        let character = CharacterReferences.character(piece[..<end])
      else { return nil }
      result.append(character)
      result += piece[piece.index(after: end)...]
    }
    return result
  }

  /// `xlink:`, or nothing.
  private static func prefix(_ name: String) -> String {
    name.firstIndex(of: ":").map { name[...$0].lowercased() } ?? ""
  }

  /// The name without its prefix, in small letters.
  private static func local(_ name: String) -> String {
    String(name.dropFirst(prefix(name).count)).lowercased()
  }
}
