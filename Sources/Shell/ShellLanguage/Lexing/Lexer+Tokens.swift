import LarderSystem

extension Lexer {
  /// The bytes of the escape whose backslash is at `index`, and the offset of the first byte after the escape.
  package func escape(at index: Int) throws(ShellError) -> (bytes: [UInt8], next: Int) {
    guard index + 1 < text.count else {
      throw wrong(index..<index + 1, "a backslash needs a character after it", Self.escapes)
    }
    let letter = text[index + 1]
    if let escape = Quoting.escapes.first(where: { UInt8(ascii: $0.key) == letter }) {
      return ([escape.value], index + 2)
    }
    switch letter {
    case UInt8(ascii: "x"):
      let end = min(index + 4, text.count)
      let byte = text[(index + 2)..<end].hexDecoded
      guard byte.count == 1 else {
        throw wrong(index..<end, "\\x takes two hex digits", Self.escapes)
      }
      return (byte, end)
    case UInt8(ascii: "u"):
      let digits = text.dropFirst(index + 3).prefix(7).prefix { $0.hexValue != nil }
      let next = digits.endIndex
      guard text.dropFirst(index + 2).first == UInt8(ascii: "{"), (1...6).contains(digits.count),
        next < text.count, text[next] == UInt8(ascii: "}")
      else { throw wrong(index..<next, "\\u takes one to six hex digits in braces", Self.escapes) }
      let value = digits.reduce(0 as UInt32) { $0 << 4 | UInt32($1.hexValue ?? 0) }
      guard let scalar = Unicode.Scalar(value) else {
        throw wrong(index..<next + 1, "no Unicode character has that number", Self.escapes)
      }
      return (Array(UTF8.encode(scalar)!), next + 1)
    case let byte where byte == .space || byte.isPunctuation: return ([byte], index + 2)
    default:
      let end = text.character(at: index + 1).end
      throw wrong(
        index..<end, "\(Array(text[index..<end])) is not an escape sequence", Self.escapes)
    }
  }

  private static let escapes: SafeText =
    #"escapes are \n \t \r \e \0 \xHH \u{H}; '...' takes a backslash as it is"#

  func wrong(_ range: Range<Int>, _ message: SafeText, _ hint: SafeText) -> ShellError {
    ShellError(.usage, message, at: range, hint: hint)
  }

  mutating func scanOperator(at index: Int) throws(ShellError) -> Int {
    let byte = text[index]
    let isDouble = index + 1 < text.count && text[index + 1] == byte
    let range = index..<index + (isDouble ? 2 : 1)
    try endWord(at: index)
    switch byte {
    case UInt8(ascii: ";"):
      try checkFileIsNamed()
      guard !words.isEmpty else {
        throw wrong(range, "expected a command before \";\"", "help lists the commands")
      }
      segments.append(Segment())
      return index + 1
    case UInt8(ascii: "|") where !isDouble:
      try checkOutputIsFree(range)
      let rest = text[(index + 1)...].drop { $0 == .space || $0 == .tab }
      guard !rest.isEmpty else {
        throw wrong(range, "expected a program after \"|\"", "keys @a | less")
      }
      segments[segments.count - 1].output = .program(Array(rest), range)
      return text.count
    case UInt8(ascii: ">"):
      let next = text[range.upperBound...].first { $0 != .space && $0 != .tab }
      if !isDouble, let next, next == UInt8(ascii: "=") || next.isDigit {
        throw wrong(range, "unexpected \">\"", "quote the expression: --where '.year > 1999'")
      }
      try checkOutputIsFree(range)
      segments[segments.count - 1].awaitsFile = (isDouble, range)
      return range.upperBound
    default:
      throw wrong(range, "unexpected \(Array(text[range]))", "quote it if it belongs to a word")
    }
  }

  private func checkOutputIsFree(_ range: Range<Int>) throws(ShellError) {
    let segment = segments[segments.count - 1]
    guard !segment.words.isEmpty else {
      let message: SafeText = "expected a command before \(Array(text[range]))"
      throw wrong(range, message, "help lists the commands")
    }
    guard segment.output == nil, segment.awaitsFile == nil else {
      throw wrong(range, "the output of a command has one destination", "remove one of them")
    }
  }

  func checkFileIsNamed() throws(ShellError) {
    guard let (_, range) = segments[segments.count - 1].awaitsFile else { return }
    throw wrong(range, "expected a file name after \(Array(text[range]))", "keys @a > keys.txt")
  }

  /// `{"`, `{}`, `["`, `[{`, `[[`, `[]` or a bracket at the end of a line begins a JSON value. `{a,b}` and `[a-z]` are globs.
  func beginsJSON(at index: Int) -> Bool {
    guard let next = text[(index + 1)...].first(where: { $0 != .space && $0 != .tab }) else {
      return true
    }
    return (text[index] == UInt8(ascii: "{") ? "\"}" : "\"{[]").utf8.contains(next)
  }

  /// Reads the unchanged bytes of a JSON value up to its closing bracket, and then checks the value.
  mutating func scanJSON(at index: Int) throws(ShellError) -> Int {
    guard let end = json.end(in: text, from: index) else {
      append(text[index...], isBare: false, at: index)
      return text.count
    }
    append(text[index..<end], isBare: false, at: index)
    let start = open ?? index
    open = nil
    if let error = JSONText.error(in: Array(text[start..<end])) {
      let place = min(start + error.offset, end - 1)
      throw ShellError(
        .badJSON, error.isDepth ? "the JSON is \(error.reason)" : "invalid JSON: \(error.reason)",
        at: place..<place + 1, hint: "quote the word if it is not JSON")
    }
    return end
  }
}

struct JSONBalance {
  private var depth = 0
  private var isInString = false
  private var isEscaped = false

  /// The offset after the bracket that closes the value; nil if the bracket is not in this text.
  mutating func end(in text: [UInt8], from start: Int) -> Int? {
    for index in start..<text.count {
      switch text[index] {
      case _ where isEscaped: isEscaped = false
      case .backslash where isInString: isEscaped = true
      case .doubleQuote: isInString.toggle()
      case _ where isInString: break
      case UInt8(ascii: "{"), UInt8(ascii: "["): depth += 1
      case UInt8(ascii: "}"), UInt8(ascii: "]"):
        depth -= 1
        if depth == 0 { return index + 1 }
      default: break
      }
    }
    return nil
  }
}
