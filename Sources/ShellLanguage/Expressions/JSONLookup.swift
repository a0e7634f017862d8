/// Finds the values of a path in JSON text without decoding the rest. A lookup checks the whole text.
package struct JSONLookup {
  private static let deepest = 200

  private let parts: [QueryPath.Part]
  /// The ranges of the values found.
  private(set) var found: [Range<Int>] = []

  private init(_ parts: [QueryPath.Part]) { self.parts = parts }

  /// The ranges of all values at the path; nil if the text is not JSON.
  package static func ranges(of parts: [QueryPath.Part], in bytes: Span<UInt8>) -> [Range<Int>]? {
    var lookup = JSONLookup(parts)
    var index = 0
    skipSpace(bytes, &index)
    guard lookup.visit(bytes, &index, part: 0, depth: 0) else { return nil }
    skipSpace(bytes, &index)
    return index == bytes.count ? lookup.found : nil
  }

  // MARK: Values on the path

  /// Reads a value that is on the path up to `part`; false if it is not JSON.
  private mutating func visit(
    _ bytes: Span<UInt8>, _ index: inout Int, part: Int, depth: Int
  ) -> Bool {
    guard part < parts.count else {
      let start = index
      guard Self.skip(bytes, &index, depth) else { return false }
      found.append(start..<index)
      return true
    }
    guard index < bytes.count, depth < Self.deepest else { return false }
    switch (bytes[index], parts[part]) {
    case (UInt8(ascii: "{"), .field(let name)):
      return visitObject(bytes, &index, name, part, depth)
    case (UInt8(ascii: "["), .index(let position)):
      return visitArray(bytes, &index, position, part, depth)
    case (UInt8(ascii: "["), .each):
      return visitArray(bytes, &index, nil, part, depth)
    default:
      return Self.skip(bytes, &index, depth)
    }
  }

  private mutating func visitObject(
    _ bytes: Span<UInt8>, _ index: inout Int, _ name: [UInt8], _ part: Int, _ depth: Int
  ) -> Bool {
    let before = found.count
    index += 1
    Self.skipSpace(bytes, &index)
    if Self.take(UInt8(ascii: "}"), bytes, &index) { return true }
    while true {
      Self.skipSpace(bytes, &index)
      let start = index
      guard Self.skipString(bytes, &index) else { return false }
      let isMatch = Self.isName(name, bytes, start..<index)
      Self.skipSpace(bytes, &index)
      guard Self.take(UInt8(ascii: ":"), bytes, &index) else { return false }
      Self.skipSpace(bytes, &index)
      if isMatch {
        // Of two fields with one name the last one counts.
        found.removeLast(found.count - before)
        guard visit(bytes, &index, part: part + 1, depth: depth + 1) else { return false }
      } else {
        guard Self.skip(bytes, &index, depth + 1) else { return false }
      }
      Self.skipSpace(bytes, &index)
      if Self.take(UInt8(ascii: "}"), bytes, &index) { return true }
      guard Self.take(UInt8(ascii: ","), bytes, &index) else { return false }
    }
  }

  /// - Parameter position: Nil for every element; a negative one counts from the end.
  private mutating func visitArray(
    _ bytes: Span<UInt8>, _ index: inout Int, _ position: Int?, _ part: Int, _ depth: Int
  ) -> Bool {
    var starts: [Int] = []
    index += 1
    Self.skipSpace(bytes, &index)
    if Self.take(UInt8(ascii: "]"), bytes, &index) { return true }
    while true {
      Self.skipSpace(bytes, &index)
      let isWanted = position.map { $0 == starts.count } ?? true
      starts.append(index)
      if isWanted {
        guard visit(bytes, &index, part: part + 1, depth: depth + 1) else { return false }
      } else {
        guard Self.skip(bytes, &index, depth + 1) else { return false }
      }
      Self.skipSpace(bytes, &index)
      if Self.take(UInt8(ascii: "]"), bytes, &index) { break }
      guard Self.take(UInt8(ascii: ","), bytes, &index) else { return false }
    }
    if let position, position < 0, starts.count + position >= 0 {
      var start = starts[starts.count + position]
      return visit(bytes, &start, part: part + 1, depth: depth + 1)
    }
    return true
  }

  /// Compares a string with a name; one with escapes is decoded.
  private static func isName(_ name: [UInt8], _ bytes: Span<UInt8>, _ range: Range<Int>) -> Bool {
    var length = 0
    for index in range.lowerBound + 1..<range.upperBound - 1 {
      let byte = bytes[index]
      if byte == .backslash { return string(bytes, range) == name }
      guard length < name.count, byte == name[length] else { return false }
      length += 1
    }
    return length == name.count
  }

  // MARK: Grammar

  static func skipSpace(_ bytes: Span<UInt8>, _ index: inout Int) {
    while index < bytes.count,
      bytes[index] == .space || bytes[index] == .newline || bytes[index] == .tab
        || bytes[index] == .carriageReturn
    {
      index += 1
    }
  }

  private static func take(_ byte: UInt8, _ bytes: Span<UInt8>, _ index: inout Int) -> Bool {
    guard index < bytes.count, bytes[index] == byte else { return false }
    index += 1
    return true
  }

  /// Skips a value; false if it is not JSON.
  static func skip(_ bytes: Span<UInt8>, _ index: inout Int, _ depth: Int) -> Bool {
    guard index < bytes.count, depth < deepest else { return false }
    switch bytes[index] {
    case .doubleQuote: return skipString(bytes, &index)
    case UInt8(ascii: "{"): return skipContainer(bytes, &index, depth, isObject: true)
    case UInt8(ascii: "["): return skipContainer(bytes, &index, depth, isObject: false)
    case UInt8(ascii: "t"): return skipWord("true", bytes, &index)
    case UInt8(ascii: "f"): return skipWord("false", bytes, &index)
    case UInt8(ascii: "n"): return skipWord("null", bytes, &index)
    default: return skipNumber(bytes, &index)
    }
  }

  private static func skipContainer(
    _ bytes: Span<UInt8>, _ index: inout Int, _ depth: Int, isObject: Bool
  ) -> Bool {
    let close = isObject ? UInt8(ascii: "}") : UInt8(ascii: "]")
    index += 1
    skipSpace(bytes, &index)
    if take(close, bytes, &index) { return true }
    while true {
      skipSpace(bytes, &index)
      if isObject {
        guard skipString(bytes, &index) else { return false }
        skipSpace(bytes, &index)
        guard take(UInt8(ascii: ":"), bytes, &index) else { return false }
        skipSpace(bytes, &index)
      }
      guard skip(bytes, &index, depth + 1) else { return false }
      skipSpace(bytes, &index)
      if take(close, bytes, &index) { return true }
      guard take(UInt8(ascii: ","), bytes, &index) else { return false }
    }
  }

  private static func skipWord(
    _ word: StaticString, _ bytes: Span<UInt8>, _ index: inout Int
  ) -> Bool {
    for byte in "\(word)".utf8 {
      guard take(byte, bytes, &index) else { return false }
    }
    return true
  }

  private static func skipString(_ bytes: Span<UInt8>, _ index: inout Int) -> Bool {
    guard take(.doubleQuote, bytes, &index) else { return false }
    while index < bytes.count {
      let byte = bytes[index]
      if byte == .doubleQuote {
        index += 1
        return true
      }
      guard byte >= 0x20 else { return false }
      index += 1
      guard byte == .backslash else { continue }
      guard index < bytes.count else { return false }
      switch bytes[index] {
      case UInt8(ascii: "u"):
        guard index + 4 < bytes.count else { return false }
        for digit in index + 1...index + 4 where bytes[digit].hexValue == nil { return false }
        index += 5
      case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"), UInt8(ascii: "b"),
        UInt8(ascii: "f"), UInt8(ascii: "n"), UInt8(ascii: "r"), UInt8(ascii: "t"):
        index += 1
      default: return false
      }
    }
    return false
  }

  private static func skipNumber(_ bytes: Span<UInt8>, _ index: inout Int) -> Bool {
    func digits() -> Int {
      var count = 0
      while index < bytes.count, bytes[index].isDigit {
        index += 1
        count += 1
      }
      return count
    }
    _ = take(UInt8(ascii: "-"), bytes, &index)
    let start = index
    let whole = digits()
    guard whole > 0, whole == 1 || bytes[start] != UInt8(ascii: "0") else { return false }
    if take(UInt8(ascii: "."), bytes, &index) {
      guard digits() > 0 else { return false }
    }
    if index < bytes.count, bytes[index] | 0x20 == UInt8(ascii: "e") {
      index += 1
      if index < bytes.count, bytes[index] == UInt8(ascii: "+") || bytes[index] == UInt8(ascii: "-")
      {
        index += 1
      }
      guard digits() > 0 else { return false }
    }
    return true
  }
}
