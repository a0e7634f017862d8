/// The opening tags of a piece of HTML with their attributes, without comments and scripts. The HTML may be malformed.
struct HTMLTags: Sequence, IteratorProtocol {
  struct Tag: Equatable {
    /// In lower case, like the names of its attributes.
    var name: String
    var attributes: [(name: String, value: String)]

    static func == (left: Tag, right: Tag) -> Bool {
      left.name == right.name && left.attributes.elementsEqual(right.attributes, by: ==)
    }
  }

  private let bytes: [UInt8]
  private var position = 0

  init(_ html: String) { bytes = Array(html.utf8) }

  mutating func next() -> Tag? {
    while let start = find(UInt8(ascii: "<")) {
      position = start + 1
      if skip("!--") {
        pass("-->")
        continue
      }
      guard let first = current, first.isLetter else { continue }
      let name = word()
      let tag = Tag(name: name, attributes: attributes())
      if name == "script" || name == "style" { pass("</" + name) }
      return tag
    }
    return nil
  }

  private var current: UInt8? { position < bytes.count ? bytes[position] : nil }

  private mutating func attributes() -> [(name: String, value: String)] {
    var attributes: [(name: String, value: String)] = []
    while true {
      while let byte = current, byte.isBlank || byte == UInt8(ascii: "/") { position += 1 }
      guard let byte = current, byte != UInt8(ascii: ">") else { return attributes }
      // A stray = begins a name, so that the position always advances.
      let first = position
      position += 1
      while let byte = current, !byte.isBlank, !"=/>".utf8.contains(byte) { position += 1 }
      let name = text(first..<position).lowercased()
      while let byte = current, byte.isBlank { position += 1 }
      guard current == UInt8(ascii: "=") else {
        attributes.append((name, ""))
        continue
      }
      position += 1
      attributes.append((name, value()))
    }
  }

  private mutating func value() -> String {
    while let byte = current, byte.isBlank { position += 1 }
    guard let quote = current, quote == UInt8(ascii: "\"") || quote == UInt8(ascii: "'") else {
      let first = position
      while let byte = current, !byte.isBlank, byte != UInt8(ascii: ">") { position += 1 }
      return CharacterReferences.resolved(text(first..<position))
    }
    let first = position + 1
    position = first
    let end = find(quote) ?? bytes.count
    position = Swift.min(end + 1, bytes.count)
    return CharacterReferences.resolved(text(first..<end))
  }

  private func text(_ range: Range<Int>) -> String {
    String(decoding: bytes[range], as: UTF8.self)
  }

  private mutating func word() -> String {
    let first = position
    while let byte = current, byte.isLetter || byte.isDigit { position += 1 }
    return text(first..<position).lowercased()
  }

  private func find(_ byte: UInt8) -> Int? { bytes[position...].firstIndex(of: byte) }

  private mutating func skip(_ text: String) -> Bool {
    guard bytes[position...].starts(with: text.utf8) else { return false }
    position += text.utf8.count
    return true
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

  fileprivate var isLetter: Bool {
    (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(lowercased)
  }

  fileprivate var isDigit: Bool { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(self) }
}

/// HTML character references: `&amp;`, `&#38;`, `&#x26;`.
enum CharacterReferences {
  private static let named: [Substring: Character] = [
    "amp": "&", "quot": "\"", "apos": "'", "lt": "<", "gt": ">",
  ]

  /// Unknown references, as in `?a=1&b=2`, stay unchanged.
  static func resolved(_ text: String) -> String {
    guard text.contains("&") else { return text }
    var result = ""
    var rest = Substring(text)
    while let start = rest.firstIndex(of: "&") {
      result += rest[..<start]
      rest = rest[start...]
      // The longest is a number of six digits.
      let name = rest.dropFirst().prefix(9).prefix { $0 != ";" }
      if name.endIndex < rest.endIndex, rest[name.endIndex] == ";", let character = character(name)
      {
        result.append(character)
        rest = rest[rest.index(after: name.endIndex)...]
      } else {
        result.append("&")
        rest = rest.dropFirst()
      }
    }
    return result + rest
  }

  private static func character(_ name: Substring) -> Character? {
    guard name.hasPrefix("#") else { return named[name] }
    let digits = name.dropFirst()
    let isHexadecimal = digits.hasPrefix("x") || digits.hasPrefix("X")
    let code = isHexadecimal ? UInt32(digits.dropFirst(), radix: 16) : UInt32(digits)
    return code.flatMap { Unicode.Scalar($0) }.map { Character($0) }
  }
}
