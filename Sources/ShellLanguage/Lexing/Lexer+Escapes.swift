extension Lexer {
  /// The bytes of the escape whose backslash is at `index`, and the offset behind it.
  package func escape(at index: Int) throws(ShellError) -> (bytes: [UInt8], next: Int) {
    guard index + 1 < text.count else {
      throw wrong(index..<index + 1, "a backslash needs a character after it")
    }
    switch text[index + 1] {
    case UInt8(ascii: "n"): return ([.newline], index + 2)
    case UInt8(ascii: "t"): return ([.tab], index + 2)
    case UInt8(ascii: "r"): return ([.carriageReturn], index + 2)
    case UInt8(ascii: "e"): return ([.escape], index + 2)
    case UInt8(ascii: "0"): return ([0], index + 2)
    case UInt8(ascii: "x"): return try hexEscape(at: index)
    case UInt8(ascii: "u"): return try scalarEscape(at: index)
    case let byte where byte == .space || byte.isPunctuation: return ([byte], index + 2)
    default:
      let end = text.scalar(at: index + 1)?.end ?? index + 2
      throw wrong(index..<end, "\(Array(text[index..<end])) is not an escape sequence")
    }
  }

  private func hexEscape(at index: Int) throws(ShellError) -> (bytes: [UInt8], next: Int) {
    let end = index + 4
    guard end <= text.count, let high = text[index + 2].hexValue,
      let low = text[index + 3].hexValue
    else {
      throw wrong(index..<min(end, text.count), "\\x takes two hex digits")
    }
    return ([high << 4 | low], end)
  }

  private func scalarEscape(at index: Int) throws(ShellError) -> (bytes: [UInt8], next: Int) {
    var value: UInt32 = 0
    var digits = 0
    var next = index + 3
    while next < text.count, digits < 7, let digit = text[next].hexValue {
      value = value << 4 | UInt32(digit)
      digits += 1
      next += 1
    }
    guard index + 2 < text.count, text[index + 2] == UInt8(ascii: "{"), (1...6).contains(digits),
      next < text.count, text[next] == UInt8(ascii: "}")
    else {
      throw wrong(index..<min(next, text.count), "\\u takes one to six hex digits in braces")
    }
    guard let scalar = Unicode.Scalar(value) else {
      throw wrong(index..<next + 1, "no Unicode character has that number")
    }
    return (Array(UTF8.encode(scalar)!), next + 1)
  }

  private func wrong(_ range: Range<Int>, _ message: SafeText) -> ShellError {
    ShellError(
      .usage, message, at: range,
      hint: #"escapes are \n \t \r \e \0 \xHH \u{H}; '...' takes a backslash as it is"#)
  }
}
