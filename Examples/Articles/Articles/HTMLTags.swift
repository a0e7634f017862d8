/// The opening tags of a piece of HTML, without the tags in comments, scripts and similar elements. The HTML may be malformed.
struct HTMLTags: Sequence, IteratorProtocol {
  struct Tag {
    /// The name in lower case. The names of the attributes are in lower case, too.
    var name: String
    /// The attributes, with their values as written, character references included.
    var attributes: [(name: String, value: String)] = []
  }

  private let bytes: [UInt8]
  private var position = 0

  init(_ html: String) { bytes = Array(html.utf8) }

  /// Elements whose contents are no HTML.
  private static let raw: Set<String> = [
    "script", "style", "textarea", "title", "xmp", "iframe", "noembed", "noframes", "plaintext",
  ]

  mutating func next() -> Tag? {
    while position < bytes.count {
      _ = text { $0 != UInt8(ascii: "<") }
      if skip("<!--") {
        // HTML also has comments without a text.
        if !skip(">"), !skip("->") { skip(behind: "-->") }
      } else if skip("<"), let first = current, first.isLetter {
        let tag = tag()
        if Self.raw.contains(tag.name) { skip(behind: "</" + tag.name) }
        return tag
      }
    }
    return nil
  }

  private var current: UInt8? { position < bytes.count ? bytes[position] : nil }

  private mutating func tag() -> Tag {
    var tag = Tag(name: text { $0.isLetter || $0.isDigit }.lowercased())
    while true {
      _ = text { $0.isBlank || $0 == UInt8(ascii: "/") }
      guard let first = current, first != UInt8(ascii: ">") else { return tag }
      // A stray = begins a name, so the position always advances.
      let start = skip("=") ? "=" : ""
      let name = start + text { !$0.isBlank && !"=/>".utf8.contains($0) }.lowercased()
      _ = text(while: \.isBlank)
      tag.attributes.append((name, skip("=") ? value() : ""))
    }
  }

  private mutating func value() -> String {
    _ = text(while: \.isBlank)
    guard let quote = current, "\"'".utf8.contains(quote) else {
      return text { !$0.isBlank && $0 != UInt8(ascii: ">") }
    }
    position += 1
    defer { position = Swift.min(position + 1, bytes.count) }
    return text { $0 != quote }
  }

  /// Moves behind the bytes for which `isIn` holds, and returns them.
  private mutating func text(while isIn: (UInt8) -> Bool) -> String {
    let first = position
    while let byte = current, isIn(byte) { position += 1 }
    return String(decoding: bytes[first..<position], as: UTF8.self)
  }

  /// If this lowercase text comes next, in lower or upper case, moves behind the text and returns true.
  private mutating func skip(_ text: String) -> Bool {
    let next = bytes[position...].prefix(text.utf8.count).lazy.map(\.lowercased)
    guard next.elementsEqual(text.utf8) else { return false }
    position += text.utf8.count
    return true
  }

  /// Moves behind the next occurrence of the text, or to the end if there is none.
  private mutating func skip(behind text: String) {
    while position < bytes.count, !skip(text) { position += 1 }
  }
}

extension UInt8 {
  fileprivate var isBlank: Bool { [0x20, 0x09, 0x0A, 0x0C, 0x0D].contains(self) }
  fileprivate var isLetter: Bool { (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(lowercased) }
  fileprivate var isDigit: Bool { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(self) }
  fileprivate var lowercased: UInt8 {
    (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(self) ? self | 0x20 : self
  }
}
