/// The tags of a piece of HTML, without those in comments and scripts. The HTML may be malformed.
struct HTMLTokens: Sequence, IteratorProtocol {
  enum Token {
    case open(Tag)
    /// In lower case.
    case close(String)
  }

  struct Tag {
    /// In lower case, like the names of its attributes.
    var name: String
    /// The values are as they stand, with character references.
    var attributes: [(name: String, value: String)]
    /// Whether it ends in `/>`.
    var isEmpty = false
  }

  private let bytes: [UInt8]
  private var position = 0
  /// The `svg` elements that are open: in them an element can be empty.
  private var drawings = 0

  init(_ html: String) { bytes = Array(html.utf8) }

  /// Elements with contents that are no HTML.
  private static let raw: Set<String> = [
    "script", "style", "textarea", "title", "xmp", "iframe", "noembed", "noframes", "plaintext",
  ]

  mutating func next() -> Token? {
    while let start = find(UInt8(ascii: "<")) {
      position = start + 1
      if skip("!--") {
        passComment()
      } else if skip("/") {
        let name = word()
        passEnd()
        if name == "svg" { drawings = Swift.max(0, drawings - 1) }
        if !name.isEmpty { return .close(name) }
      } else if current?.isLetter == true {
        let tag = tag()
        if tag.name == "svg", !tag.isEmpty { drawings += 1 }
        if Self.raw.contains(tag.name), !(tag.isEmpty && drawings > 0) {
          pass("</" + tag.name)
          passEnd()
        }
        return .open(tag)
      } else if current == UInt8(ascii: "!") || current == UInt8(ascii: "?") {
        passEnd()
      }
    }
    position = bytes.count
    return nil
  }

  private var current: UInt8? { position < bytes.count ? bytes[position] : nil }

  private mutating func tag() -> Tag {
    var tag = Tag(name: word(), attributes: [])
    while true {
      // The slash after an unquoted value is part of the value.
      tag.isEmpty = false
      while let byte = current, byte.isBlank || byte == UInt8(ascii: "/") {
        tag.isEmpty = byte == UInt8(ascii: "/")
        position += 1
      }
      guard let byte = current, byte != UInt8(ascii: ">") else {
        position = Swift.min(position + 1, bytes.count)
        return tag
      }
      // A stray = begins a name, so that the position always advances.
      let first = position
      position += 1
      while let byte = current, !byte.isBlank, !"=/>".utf8.contains(byte) { position += 1 }
      let name = text(first..<position).lowercased()
      while let byte = current, byte.isBlank { position += 1 }
      guard current == UInt8(ascii: "=") else {
        tag.attributes.append((name, ""))
        continue
      }
      position += 1
      tag.attributes.append((name, value()))
    }
  }

  private mutating func value() -> String {
    while let byte = current, byte.isBlank { position += 1 }
    guard let quote = current, quote == UInt8(ascii: "\"") || quote == UInt8(ascii: "'") else {
      let first = position
      while let byte = current, !byte.isBlank, byte != UInt8(ascii: ">") { position += 1 }
      return text(first..<position)
    }
    let first = position + 1
    position = first
    let end = find(quote) ?? bytes.count
    position = Swift.min(end + 1, bytes.count)
    return text(first..<end)
  }

  private func text(_ range: Range<Int>) -> String { String(decoding: bytes[range], as: UTF8.self) }

  private mutating func word() -> String {
    let first = position
    while let byte = current, byte.isLetter || byte.isDigit { position += 1 }
    return text(first..<position).lowercased()
  }

  private func find(_ byte: UInt8) -> Int? { bytes[position...].firstIndex(of: byte) }

  /// Moves behind the end of a tag.
  private mutating func passEnd() {
    position = find(UInt8(ascii: ">")).map { $0 + 1 } ?? bytes.count
  }

  private mutating func skip(_ text: String) -> Bool {
    guard bytes[position...].starts(with: text.utf8) else { return false }
    position += text.utf8.count
    return true
  }

  /// Moves behind the end of a comment in all forms that HTML knows; to the end of the text if there is none.
  private mutating func passComment() {
    if skip(">") || skip("->") { return }
    while position < bytes.count {
      if skip("-->") || skip("--!>") { return }
      position += 1
    }
  }

  /// Moves behind the next occurrence of the text, in any case; to the end if there is none.
  private mutating func pass(_ text: String) {
    let wanted = Array(text.utf8)
    while position < bytes.count {
      if bytes[position...].prefix(wanted.count).map(\.lowercased) == wanted {
        position += wanted.count
        return
      }
      position += 1
    }
  }
}

extension UInt8 {
  fileprivate var isBlank: Bool { [0x20, 0x09, 0x0A, 0x0C, 0x0D].contains(self) }

  fileprivate var lowercased: UInt8 {
    (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(self) ? self | 0x20 : self
  }

  fileprivate var isLetter: Bool { (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(lowercased) }
  fileprivate var isDigit: Bool { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(self) }
}
