/// Reads expressions by recursive descent; `help where` shows the grammar.
struct ExpressionParser {
  static let deepest = 100

  let text: [UInt8]
  let tokens: [QueryToken]
  let clock: WallClock
  let variables: Variables
  var index = 0
  var depth = 0

  init(_ text: [UInt8], _ clock: WallClock, _ variables: Variables) throws(ShellError) {
    self.text = text
    tokens = try QueryLexer.tokens(of: text)
    self.clock = clock
    self.variables = variables
  }

  mutating func expression() throws(ShellError) -> Expression {
    let expression = try disjunction()
    try expectEnd()
    return expression
  }

  private mutating func disjunction() throws(ShellError) -> Expression {
    var parts = [try conjunction()]
    while take(.word("or")) { parts.append(try conjunction()) }
    return parts.count == 1 ? parts[0] : .any(parts)
  }

  private mutating func conjunction() throws(ShellError) -> Expression {
    var parts = [try unary()]
    while take(.word("and")) { parts.append(try unary()) }
    return parts.count == 1 ? parts[0] : .all(parts)
  }

  private mutating func unary() throws(ShellError) -> Expression {
    depth += 1
    defer { depth -= 1 }
    guard depth < Self.deepest else { throw failure("the expression is nested too deep", nil) }
    if take(.word("not")) { return .not(try unary()) }
    if take(.sign("(")) {
      let inner = try disjunction()
      try expect(")")
      return inner
    }
    return try test()
  }

  private mutating func test() throws(ShellError) -> Expression {
    if take(.word("exists")) {
      guard case .path(let path) = try operand() else {
        throw failure(
          "expected a path after \"exists\"", "exists .name", range: tokens[index - 1].range)
      }
      return .exists(path)
    }
    let first = index
    let left = try operand()
    if take(.word("is")) {
      let isNegated = take(.word("not"))
      let test = Expression.compare(.call(.type, left), .equal, try type())
      return isNegated ? .not(test) : test
    }
    if take(.word("in")) { return try membership(of: left) }
    if tokens[index...].prefix(2).map(\.kind) == [.word("not"), .word("in")] {
      index += 2
      return .not(try membership(of: left))
    }
    guard case .sign(let sign) = tokens[index].kind else { return .holds(left) }
    let test: Expression
    if sign == "~" || sign == "!~" {
      index += 1
      test = .matches(left, try regex())
    } else if let comparison = Self.comparisons[sign] {
      index += 1
      test = try compare(left, comparison, sign, from: first)
    } else {
      return .holds(left)
    }
    return sign.hasPrefix("!") ? .not(test) : test
  }

  private static let comparisons: [String: Expression.Comparison] = [
    "=": .equal, "==": .equal, "!=": .equal, "<": .less, "<=": .lessOrEqual, ">": .greater,
    ">=": .greaterOrEqual,
  ]

  private mutating func compare(
    _ left: QueryOperand, _ comparison: Expression.Comparison, _ sign: String, from first: Int
  ) throws(ShellError) -> Expression {
    let start = index
    guard isOperand else {
      throw failure(
        "expected a value after \"\(sign)\"", "`.a \(sign) 1` (help where)",
        range: tokens[index - 1].range)
    }
    let right = try operand()
    let a = try asTime(left, beside: right, at: first)
    return .compare(a, comparison, try asTime(right, beside: left, at: start))
  }

  /// Turns a string into a time if the other operand is a fact that is a time. Throws for an operand that cannot be a time.
  private func asTime(
    _ operand: QueryOperand, beside other: QueryOperand, at position: Int
  ) throws(ShellError) -> QueryOperand {
    guard case .name(let name) = other, let isFuture = name.isFuture else { return operand }
    let range = tokens[position].range
    guard case .constant(.string(let bytes)) = operand else {
      guard let kind = operand.kindBesideTime else { return operand }
      throw failure(
        "\(name.rawValue) is a time, and \(Array(text[range])) is \(kind)",
        "`\(name.length) > 7d`, or a time in quotes: `\(name.rawValue) > \"monday\"`", range: range)
    }
    let word = Word(bytes, isBare: false, at: 0..<0)
    do throws(ShellError) {
      return .constant(.time(try isFuture ? word.timeAhead(clock) : word.timeAgo(clock)))
    } catch { throw error.pointing(at: range) }
  }

  private mutating func membership(of left: QueryOperand) throws(ShellError) -> Expression {
    guard take(.sign("(")) else { return .isElement(left, try operand()) }
    var list: [QueryOperand] = []
    repeat {
      let start = index
      list.append(try asTime(operand(), beside: left, at: start))
    } while take(.sign(","))
    try expect(")")
    return .isOneOf(left, list)
  }

  private mutating func type() throws(ShellError) -> QueryOperand {
    if case .word(let word) = tokens[index].kind, QueryType(rawValue: word) != nil {
      index += 1
      return .constant(.string(Array(word.utf8)))
    }
    throw failure(
      "expected a type", "one of \(QueryType.allCases.map(\.rawValue).joined(separator: ", "))")
  }

  private mutating func regex() throws(ShellError) -> RegularExpression {
    let token = tokens[index]
    let bytes: [UInt8]
    switch token.kind {
    case .string(let text): bytes = text
    case .variable(let name): bytes = try variable(name, token.range).text
    default:
      throw failure("expected a regular expression in quotes", "`.name ~ \"castle\"` (help where)")
    }
    index += 1
    do throws(ShellError) {
      return try RegularExpression(Word(bytes, isBare: false, at: 0..<0))
    } catch { throw error.pointing(at: token.range) }
  }

  mutating func take(_ kind: QueryToken.Kind) -> Bool {
    guard tokens[index].kind == kind else { return false }
    index += 1
    return true
  }

  mutating func label() throws(ShellError) -> String {
    defer { index += 1 }
    switch tokens[index].kind {
    case .word(let word): return word
    case .string(let bytes): return String(decoding: bytes, as: UTF8.self)
    default: throw failure("expected a name after \"as\"", "`.name as title`")
    }
  }

  func range(since start: Int) -> Range<Int> {
    tokens[start].range.lowerBound..<tokens[max(index - 1, start)].range.upperBound
  }

  mutating func expect(_ sign: String) throws(ShellError) {
    guard take(.sign(sign)) else { throw failure("expected \"\(sign)\"", "`help where`") }
  }

  /// Operators of other query languages that search in a text. The error for such a word names the operator of this language.
  private static let searches: Set = ["contains", "like", "matches", "startswith", "begins"]

  func expectEnd() throws(ShellError) {
    guard tokens[index].kind != .end else { return }
    var hint: SafeText = "join tests by `and` or `or` (help where)"
    if case .word(let word) = tokens[index].kind, Self.searches.contains(word) {
      hint = "`.name ~ \"castle\"` finds a text (help where)"
    }
    throw failure("unexpected \(text(of: tokens[index]))", hint)
  }

  func text(of token: QueryToken) -> SafeText {
    switch token.kind {
    case .sign(let sign): "\"\(sign)\""
    case .word(let word): "\"\(word)\""
    case .end: "the end"
    default: "value"
    }
  }

  func failure(_ message: SafeText, _ hint: SafeText?, range: Range<Int>? = nil) -> ShellError {
    let token = tokens[index]
    // An error at the end points at the last token, because a person can hardly see the empty place after the last token.
    let place = range ?? (token.kind == .end && index > 0 ? tokens[index - 1].range : token.range)
    return ShellError(.badExpression, message, at: place, hint: hint)
  }
}

extension QueryOperand {
  /// The kind of an operand that cannot be a time, such as `a length of time`; nil for other operands.
  fileprivate var kindBesideTime: SafeText? {
    switch self {
    case .path, .call, .constant(.time), .constant(.null), .constant(.string): return nil
    case .constant(.duration): return "a length of time"
    case .constant(let value): return "of the type \(value.type.rawValue)"
    case .name(let name) where name.isFuture != nil: return nil
    case .name(.ttl), .name(.age), .name(.idle): return "a length of time"
    case .name: return "not a time"
    }
  }
}

extension QueryName {
  /// The name of the fact that has the duration until this time, or since this time.
  fileprivate var length: String { self == .expires ? "ttl" : self == .used ? "idle" : "age" }
}
