import LarderSystem

/// Finds the values at a path in JSON text. A lookup checks the whole text, and decodes only the values at the path.
package struct JSONLookup {
  private let parts: [QueryPath.Part]
  private var found: [Range<Int>] = []

  /// The ranges of all values at the path; empty if the text is not JSON.
  package static func ranges(of parts: [QueryPath.Part], in bytes: Span<UInt8>) -> [Range<Int>] {
    find(parts, in: bytes).ranges
  }

  /// All values at the path; empty if the text is not JSON.
  static func values(of parts: [QueryPath.Part], in bytes: [UInt8]) -> [QueryValue] {
    ranges(of: parts, in: bytes.span).map { value(bytes.span, $0) }
  }

  static func find(
    _ parts: [QueryPath.Part], in bytes: Span<UInt8>
  ) -> (ranges: [Range<Int>], error: JSONError?) {
    var lookup = JSONLookup(parts: parts)
    let failure = JSONGrammar.failure(of: bytes) { bytes, index throws(JSONError) in
      try lookup.visit(bytes, &index, part: 0, depth: 0)
    }
    return (failure == nil ? lookup.found : [], failure?.error)
  }

  /// Reads a value at the path `parts[..<part]`, and looks for the rest of the path in this value.
  private mutating func visit(
    _ bytes: Span<UInt8>, _ index: inout Int, part: Int, depth: Int
  ) throws(JSONError) {
    guard part < parts.count, JSONGrammar.opens(bytes, index) else {
      let start = index
      try JSONGrammar.value(bytes, &index, depth: depth)
      if part == parts.count { found.append(start..<index) }
      return
    }
    switch (bytes[index], parts[part]) {
    case (UInt8(ascii: "{"), .field(let name)):
      let before = found.count
      try JSONGrammar.parts(bytes, &index, depth: depth) { bytes, key, index throws(JSONError) in
        guard let key, Self.isName(name, bytes, key) else {
          return try JSONGrammar.value(bytes, &index, depth: depth + 1)
        }
        // If two fields have the same name, the last field counts, so values from the first field are removed.
        found.removeLast(found.count - before)
        try visit(bytes, &index, part: part + 1, depth: depth + 1)
      }
    case (UInt8(ascii: "["), .index(let position)):
      var starts: [Int] = []
      try JSONGrammar.parts(bytes, &index, depth: depth) { bytes, _, index throws(JSONError) in
        starts.append(index)
        guard position == starts.count - 1 else {
          return try JSONGrammar.value(bytes, &index, depth: depth + 1)
        }
        try visit(bytes, &index, part: part + 1, depth: depth + 1)
      }
      if position < 0, starts.count + position >= 0 {
        var start = starts[starts.count + position]
        try visit(bytes, &start, part: part + 1, depth: depth + 1)
      }
    case (UInt8(ascii: "["), .each):
      try JSONGrammar.parts(bytes, &index, depth: depth) { bytes, _, index throws(JSONError) in
        try visit(bytes, &index, part: part + 1, depth: depth + 1)
      }
    default: try JSONGrammar.value(bytes, &index, depth: depth)
    }
  }

  /// Whether the string in a range is `name`; a string with escapes is decoded first.
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

  package static func value(_ bytes: Span<UInt8>, _ range: Range<Int>) -> QueryValue {
    switch bytes[range.lowerBound] {
    case UInt8(ascii: "n"): return .null
    case UInt8(ascii: "t"): return .bool(true)
    case UInt8(ascii: "f"): return .bool(false)
    case .doubleQuote: return .string(string(bytes, range))
    case UInt8(ascii: "["): return .array(canonical(bytes, range))
    case UInt8(ascii: "{"): return .object(canonical(bytes, range))
    default: return number(bytes, range)
    }
  }

  /// A number: exact for an integer of up to 128 bits, else a double, or `outsized` for a number outside the range of double.
  private static func number(_ bytes: Span<UInt8>, _ range: Range<Int>) -> QueryValue {
    let isNegative = bytes[range.lowerBound] == UInt8(ascii: "-")
    let digits = range.dropFirst(isNegative ? 1 : 0)
    // Most numbers are short integers, so this fast path reads a short integer without a string.
    if digits.count < 19, digits.allSatisfy({ bytes[$0].isDigit }) {
      let value = digits.reduce(0) { $0 * 10 + Int(bytes[$1] - UInt8(ascii: "0")) }
      return .integer(Int128(isNegative ? -value : value))
    }
    let text = bytes.extracting(range).copied
    let string = String(decoding: text, as: UTF8.self)
    if let integer = Int128(string) { return .integer(integer) }
    guard let number = Double(string) else { return .null }
    return number.isFinite ? .number(number) : .outsized(text)
  }

  /// The content of a string, with escapes decoded; a lone surrogate becomes U+FFFD.
  static func string(_ bytes: Span<UInt8>, _ range: Range<Int>) -> [UInt8] {
    decoded(bytes, range).text
  }

  /// The content of a string, and whether the string has no lone surrogate.
  package static func decoded(
    _ bytes: Span<UInt8>, _ range: Range<Int>
  ) -> (text: [UInt8], isWhole: Bool) {
    var result: [UInt8] = []
    var isWhole = true
    result.reserveCapacity(range.count - 2)
    var index = range.lowerBound + 1
    let end = range.upperBound - 1
    while index < end {
      let byte = bytes[index]
      index += 1
      guard byte == .backslash else {
        result.append(byte)
        continue
      }
      let escape = bytes[index]
      index += 1
      switch escape {
      case UInt8(ascii: "n"): result.append(.newline)
      case UInt8(ascii: "t"): result.append(.tab)
      case UInt8(ascii: "r"): result.append(.carriageReturn)
      case UInt8(ascii: "b"): result.append(8)
      case UInt8(ascii: "f"): result.append(12)
      case UInt8(ascii: "u"):
        let units = units(bytes, &index)
        isWhole = isWhole && String(validating: units, as: UTF16.self) != nil
        result += String(decoding: units, as: UTF16.self).utf8
      default: result.append(escape)
      }
    }
    return (result, isWhole)
  }

  /// The UTF-16 units of successive `\u` escapes. `index` is at the digits of the first escape.
  private static func units(_ bytes: Span<UInt8>, _ index: inout Int) -> [UInt16] {
    var units: [UInt16] = []
    repeat {
      units.append((index..<index + 4).reduce(0) { $0 << 4 | UInt16(bytes[$1].hexValue ?? 0) })
      index += 6
    } while index <= bytes.count && bytes[index - 2] == .backslash
      && bytes[index - 1] == UInt8(ascii: "u")
    index -= 2
    return units
  }

  /// The JSON text without spaces, with sorted fields and decoded strings, so that JSON texts with equal content become equal.
  private static func canonical(_ bytes: Span<UInt8>, _ range: Range<Int>) -> [UInt8] {
    var index = range.lowerBound
    return Array(((try? canonicalText(bytes, &index, depth: 0)) ?? "").utf8)
  }

  private static func canonicalText(
    _ bytes: Span<UInt8>, _ index: inout Int, depth: Int
  ) throws(JSONError) -> String {
    let start = index
    guard JSONGrammar.opens(bytes, start) else {
      try JSONGrammar.scalar(bytes, &index)
      return value(bytes, start..<index).json
    }
    var members: [(name: String, value: String)] = []
    try JSONGrammar.parts(bytes, &index, depth: depth) { bytes, name, index throws(JSONError) in
      var text = ""
      if let name { text = value(bytes, name).json }
      members.append((text, try canonicalText(bytes, &index, depth: depth + 1)))
    }
    guard bytes[start] == UInt8(ascii: "{") else {
      return "[" + members.map(\.value).joined(separator: ",") + "]"
    }
    let fields = members.sorted { $0.name < $1.name }.map { "\($0.name):\($0.value)" }
    return "{" + fields.joined(separator: ",") + "}"
  }
}
