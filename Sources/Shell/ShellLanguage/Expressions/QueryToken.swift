import LarderSystem

struct QueryToken {
  enum Kind: Equatable {
    case word(String)
    /// `.name` or `."name"`.
    case field([UInt8])
    case dot
    case string([UInt8])
    case number(QueryValue)
    case quantity(QueryValue)
    case variable(String)
    case sign(String)
    case end
  }

  let kind: Kind
  let range: Range<Int>

  static func isIdentifier(_ bytes: [UInt8]) -> Bool {
    bytes.first.map(beginsIdentifier) == true && bytes.allSatisfy(isIdentifierByte)
  }

  static func beginsIdentifier(_ byte: UInt8) -> Bool { byte.isLetter || byte == UInt8(ascii: "_") }

  static func isIdentifierByte(_ byte: UInt8) -> Bool {
    byte.isLetter || byte.isDigit || byte == UInt8(ascii: "_") || byte == UInt8(ascii: "-")
  }
}

struct QueryLexer {
  private let text: [UInt8]
  private var index = 0

  static func tokens(of text: [UInt8]) throws(ShellError) -> [QueryToken] {
    var lexer = QueryLexer(text: text)
    var tokens: [QueryToken] = []
    repeat { tokens.append(try lexer.next()) } while tokens.last?.kind != .end
    return tokens
  }

  private mutating func next() throws(ShellError) -> QueryToken {
    while index < text.count, [.space, .tab, .newline].contains(text[index]) { index += 1 }
    guard index < text.count else { return QueryToken(kind: .end, range: text.count..<text.count) }
    let start = index
    let kind: QueryToken.Kind
    switch text[index] {
    case let byte where QueryToken.beginsIdentifier(byte):
      kind = .word(String(decoding: identifier(), as: UTF8.self))
    case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"): kind = try number()
    case UInt8(ascii: "."): kind = try field()
    case .doubleQuote, .quote: kind = .string(try string())
    case UInt8(ascii: ":"):
      index += 1
      let name = identifier()
      guard QueryToken.isIdentifier(name) else {
        throw ShellError(
          .badExpression, "expected a name after \":\"", at: start..<start + 1,
          hint: "`--arg name=VALUE` defines :name")
      }
      kind = .variable(String(decoding: name, as: UTF8.self))
    default: kind = try sign()
    }
    return QueryToken(kind: kind, range: start..<index)
  }

  private mutating func identifier() -> [UInt8] {
    let start = index
    while index < text.count, QueryToken.isIdentifierByte(text[index]) { index += 1 }
    return Array(text[start..<index])
  }

  private mutating func field() throws(ShellError) -> QueryToken.Kind {
    index += 1
    guard index < text.count else { return .dot }
    if text[index] == .doubleQuote || text[index] == .quote { return .field(try string()) }
    return QueryToken.beginsIdentifier(text[index]) ? .field(identifier()) : .dot
  }

  /// The content of a JSON string, or of a string in single quotes, in which a backslash has no special meaning.
  private mutating func string() throws(ShellError) -> [UInt8] {
    let start = index
    let quote = text[index]
    index += 1
    while index < text.count, text[index] != quote {
      index += quote == .doubleQuote && text[index] == .backslash ? 2 : 1
    }
    guard index < text.count else {
      throw ShellError(
        .badExpression, "the string is not closed", at: start..<start + 1,
        hint: "add \(String(decoding: [quote], as: UTF8.self))")
    }
    index += 1
    guard quote == .doubleQuote else { return Array(text[start + 1..<index - 1]) }
    let literal = Array(text[start..<index])
    if let error = JSONText.error(in: literal) {
      throw ShellError(
        .badExpression, "invalid string: \(error.reason)",
        at: start + error.offset..<start + error.offset + 1,
        hint: "single quotes take text literally")
    }
    return JSONLookup.string(literal.span, 0..<literal.count)
  }

  private mutating func number() throws(ShellError) -> QueryToken.Kind {
    let start = index
    index += 1
    while index < text.count,
      text[index].isDigit || text[index].isLetter || text[index] == UInt8(ascii: ".")
        || [UInt8(ascii: "+"), UInt8(ascii: "-")].contains(text[index])
          && text[index - 1] | 0x20 == UInt8(ascii: "e")
    { index += 1 }
    let literal = Array(text[start..<index])
    if JSONText.error(in: literal) == nil {
      return .number(JSONLookup.value(literal.span, 0..<literal.count))
    }
    let word = Word(literal, isBare: false, at: 0..<literal.count)
    if let span = try? word.duration() { return .quantity(.duration(span.milliseconds)) }
    if let size = try? word.size() { return .quantity(.integer(Int128(size))) }
    throw ShellError(
      .badExpression, "\(literal) is not a number, duration or size", at: start..<index,
      hint: "`5`, `1h` or `10kB`")
  }

  private mutating func sign() throws(ShellError) -> QueryToken.Kind {
    let signs = ["==", "!=", "<=", ">=", "!~", "[]", "=", "<", ">", "~", "(", ")", ",", "[", "]"]
    if let sign = signs.first(where: { text[index...].starts(with: $0.utf8) }) {
      index += sign.utf8.count
      return .sign(sign)
    }
    let end = text.character(at: index).end
    let word =
      text[index] == UInt8(ascii: "&") ? "and" : text[index] == UInt8(ascii: "|") ? "or" : nil
    throw ShellError(
      .badExpression, "unexpected \(Array(text[index..<end]))", at: index..<end,
      hint: word.map { "write `\($0)`" } ?? "`help where`")
  }
}
