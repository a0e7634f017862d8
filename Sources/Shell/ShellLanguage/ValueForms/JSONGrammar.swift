import LarderSystem

/// RFC 8259 with at most 200 levels. Each function moves `index` to the end of the part that it reads, or to the wrong byte.
enum JSONGrammar {
  private static let deepest = 200

  /// Checks a whole text; `read` reads its value. Returns the first error and the place of the error, or nil if the text is JSON.
  @inline(__always)
  static func failure(
    of bytes: Span<UInt8>,
    _ read: (_ bytes: Span<UInt8>, _ index: inout Int) throws(JSONError) -> Void
  ) -> JSONText.ParseError? {
    var index = 0
    do throws(JSONError) {
      skipSpace(bytes, &index)
      try read(bytes, &index)
      skipSpace(bytes, &index)
      return index == bytes.count ? nil : JSONText.ParseError(error: .surplus, offset: index)
    } catch { return JSONText.ParseError(error: error, offset: index) }
  }

  /// - Parameter depth: The number of arrays and objects around the value.
  static func value(_ bytes: Span<UInt8>, _ index: inout Int, depth: Int) throws(JSONError) {
    guard opens(bytes, index) else { return try scalar(bytes, &index) }
    try parts(bytes, &index, depth: depth) { bytes, _, index throws(JSONError) in
      try value(bytes, &index, depth: depth + 1)
    }
  }

  @inline(__always)
  static func opens(_ bytes: Span<UInt8>, _ index: Int) -> Bool {
    index < bytes.count && (bytes[index] == UInt8(ascii: "{") || bytes[index] == UInt8(ascii: "["))
  }

  /// Reads an array or an object. `read` reads each value inside, and gets the range of its name, or nil in an array.
  @inline(__always)
  static func parts(
    _ bytes: Span<UInt8>, _ index: inout Int, depth: Int,
    _ read: (
      _ bytes: Span<UInt8>, _ name: Range<Int>?, _ index: inout Int
    ) throws(JSONError) -> Void
  ) throws(JSONError) {
    guard depth < deepest else { throw .depth }
    let isObject = bytes[index] == UInt8(ascii: "{")
    let close = isObject ? UInt8(ascii: "}") : UInt8(ascii: "]")
    index += 1
    skipSpace(bytes, &index)
    if take(close, bytes, &index) { return }
    while true {
      try read(bytes, isObject ? try name(bytes, &index) : nil, &index)
      skipSpace(bytes, &index)
      if take(close, bytes, &index) { return }
      guard take(UInt8(ascii: ","), bytes, &index) else {
        guard index < bytes.count else { throw .end }
        let isBracket = bytes[index] == UInt8(ascii: "}") || bytes[index] == UInt8(ascii: "]")
        throw isBracket ? .bracket : isObject ? .object : .array
      }
      skipSpace(bytes, &index)
    }
  }

  @inline(__always)
  private static func name(
    _ bytes: Span<UInt8>, _ index: inout Int
  ) throws(JSONError) -> Range<Int> {
    guard index < bytes.count else { throw .end }
    guard bytes[index] == .doubleQuote else { throw .name }
    let start = index
    try string(bytes, &index)
    let name = start..<index
    skipSpace(bytes, &index)
    guard take(UInt8(ascii: ":"), bytes, &index) else { throw .colon }
    skipSpace(bytes, &index)
    return name
  }

  static func scalar(_ bytes: Span<UInt8>, _ index: inout Int) throws(JSONError) {
    guard index < bytes.count else { throw .end }
    switch bytes[index] {
    case .doubleQuote: try string(bytes, &index)
    case UInt8(ascii: "-"), UInt8(ascii: "0")...UInt8(ascii: "9"): try number(bytes, &index)
    case UInt8(ascii: "t"): try word("true", bytes, &index)
    case UInt8(ascii: "f"): try word("false", bytes, &index)
    case UInt8(ascii: "n"): try word("null", bytes, &index)
    default: throw .value
    }
  }

  private static func word(
    _ word: String, _ bytes: Span<UInt8>, _ index: inout Int
  ) throws(JSONError) {
    var end = index
    for byte in word.utf8 where !take(byte, bytes, &end) { throw .value }
    index = end
  }

  private static func string(_ bytes: Span<UInt8>, _ index: inout Int) throws(JSONError) {
    let start = index
    index += 1
    while index < bytes.count {
      let byte = bytes[index]
      if byte == .doubleQuote {
        index += 1
        return
      }
      guard byte >= .space else { throw .control }
      guard byte == .backslash else {
        index += 1
        continue
      }
      guard index + 1 < bytes.count else { break }
      switch bytes[index + 1] {
      case UInt8(ascii: "u"):
        guard index + 5 < bytes.count else { throw .hex }
        for digit in index + 2...index + 5 where bytes[digit].hexValue == nil { throw .hex }
        index += 6
      case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"), UInt8(ascii: "b"),
        UInt8(ascii: "f"), UInt8(ascii: "n"), UInt8(ascii: "r"), UInt8(ascii: "t"):
        index += 2
      default: throw .escape
      }
    }
    index = start
    throw .unclosed
  }

  private static func number(_ bytes: Span<UInt8>, _ index: inout Int) throws(JSONError) {
    let start = index
    _ = take(UInt8(ascii: "-"), bytes, &index)
    let first = index
    let whole = skipDigits(bytes, &index)
    guard whole > 0, whole == 1 || bytes[first] != UInt8(ascii: "0") else {
      index = start
      throw .number
    }
    if take(UInt8(ascii: "."), bytes, &index) {
      guard skipDigits(bytes, &index) > 0 else { throw .digit }
    }
    if index < bytes.count, bytes[index] | 0x20 == UInt8(ascii: "e") {
      index += 1
      if !take(UInt8(ascii: "+"), bytes, &index) { _ = take(UInt8(ascii: "-"), bytes, &index) }
      guard skipDigits(bytes, &index) > 0 else { throw .digit }
    }
  }

  private static func skipDigits(_ bytes: Span<UInt8>, _ index: inout Int) -> Int {
    let start = index
    while index < bytes.count, bytes[index].isDigit { index += 1 }
    return index - start
  }

  @inline(__always)
  private static func skipSpace(_ bytes: Span<UInt8>, _ index: inout Int) {
    while index < bytes.count,
      bytes[index] == .space || bytes[index] == .newline || bytes[index] == .tab
        || bytes[index] == .carriageReturn
    { index += 1 }
  }

  @inline(__always)
  private static func take(_ byte: UInt8, _ bytes: Span<UInt8>, _ index: inout Int) -> Bool {
    guard index < bytes.count, bytes[index] == byte else { return false }
    index += 1
    return true
  }
}

enum JSONError: String, Error {
  case encoding = "not UTF-8"
  case end = "unexpected end"
  case surplus = "unexpected text after the value"
  case depth = "nested too deep, by more than 200 arrays and objects"
  case bracket = "mismatched bracket"
  case object = "expected a comma or the end of the object"
  case array = "expected a comma or the end of the array"
  case name = "expected a name in quotes"
  case colon = "expected a colon"
  case value = "expected a value"
  case control = "a control character in a string"
  case hex = "\\u takes four hex digits"
  case escape = "unknown escape"
  case unclosed = "unclosed string"
  case number = "invalid number"
  case digit = "expected a digit"
}
