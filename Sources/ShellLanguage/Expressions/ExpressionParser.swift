/// Reads expressions by recursive descent; `help where` shows the grammar.
struct ExpressionParser {
  private static let deepest = 100

  private let tokens: [QueryToken]
  private let clock: WallClock
  private let variables: Variables
  private var index = 0
  private var depth = 0

  init(_ text: [UInt8], _ clock: WallClock, _ variables: Variables) throws(QueryFlaw) {
    tokens = try QueryLexer.tokens(of: text)
    self.clock = clock
    self.variables = variables
  }

  // MARK: Conditions

  mutating func expression() throws(QueryFlaw) -> Expression {
    let expression = try disjunction()
    try expectEnd()
    return expression
  }

  private mutating func disjunction() throws(QueryFlaw) -> Expression {
    var parts = [try conjunction()]
    while takeWord("or") { parts.append(try conjunction()) }
    return parts.count == 1 ? parts[0] : .any(parts)
  }

  private mutating func conjunction() throws(QueryFlaw) -> Expression {
    var parts = [try unary()]
    while takeWord("and") { parts.append(try unary()) }
    return parts.count == 1 ? parts[0] : .all(parts)
  }

  private mutating func unary() throws(QueryFlaw) -> Expression {
    depth += 1
    defer { depth -= 1 }
    guard depth < Self.deepest else { throw flaw("the expression is nested too deep", nil) }
    if takeWord("not") { return .not(try unary()) }
    if takeSign("(") {
      let inner = try disjunction()
      try expect(")")
      return inner
    }
    return try test()
  }

  private mutating func test() throws(QueryFlaw) -> Expression {
    if takeWord("exists") {
      guard case .path(let path) = try operand() else {
        throw flaw("expected a path after \"exists\"", "exists .name", at: index - 1)
      }
      return .exists(path)
    }
    let left = try operand()
    if takeWord("is") {
      let isNegated = takeWord("not")
      let test = Expression.isType(left, try type())
      return isNegated ? .not(test) : test
    }
    if takeWord("in") { return try membership(of: left) }
    if case .word("not") = tokens[index].kind, index + 1 < tokens.count,
      case .word("in") = tokens[index + 1].kind
    {
      index += 2
      return .not(try membership(of: left))
    }
    guard case .sign(let sign) = tokens[index].kind,
      ["=", "==", "!=", "<", "<=", ">", ">=", "~", "!~"].contains(sign)
    else { return .holds(left) }
    index += 1
    if sign == "~" || sign == "!~" {
      let test = Expression.matches(left, try regex())
      return sign == "!~" ? .not(test) : test
    }
    return try comparison(left, sign)
  }

  private mutating func comparison(
    _ left: QueryOperand, _ sign: String
  ) throws(QueryFlaw) -> Expression {
    let start = index
    guard isOperand else {
      throw flaw(
        "expected a value after \"\(sign)\"", "`.a \(sign) 1` (help where)",
        range: tokens[index - 1].range)
    }
    let right = try operand()
    let a = try asTime(left, beside: right, at: start)
    let b = try asTime(right, beside: left, at: start)
    return switch sign {
    case "!=": .not(.compare(a, .equal, b))
    case "<": .compare(a, .less, b)
    case "<=": .compare(a, .lessOrEqual, b)
    case ">": .compare(a, .greater, b)
    case ">=": .compare(a, .greaterOrEqual, b)
    default: .compare(a, .equal, b)
    }
  }

  /// A string beside a time is read as a time of the shell.
  private func asTime(
    _ operand: QueryOperand, beside other: QueryOperand, at position: Int
  ) throws(QueryFlaw) -> QueryOperand {
    guard case .name(let name) = other, let isFuture = name.isFuture,
      case .constant(.string(let bytes)) = operand
    else { return operand }
    let word = Word(bytes, isBare: false, at: 0..<0)
    do throws(ShellError) {
      return .constant(.time(try isFuture ? word.timeAhead(clock) : word.timeAgo(clock)))
    } catch {
      throw QueryFlaw(
        message: error.message, range: tokens[min(position, tokens.count - 1)].range,
        hint: error.hint)
    }
  }

  private mutating func membership(of left: QueryOperand) throws(QueryFlaw) -> Expression {
    guard takeSign("(") else { return .isElement(left, try operand()) }
    var list: [QueryOperand] = []
    repeat {
      let start = index
      list.append(try asTime(operand(), beside: left, at: start))
    } while takeSign(",")
    try expect(")")
    return .isOneOf(left, list)
  }

  private mutating func type() throws(QueryFlaw) -> QueryType {
    if case .word(let word) = tokens[index].kind, let type = QueryType(rawValue: word) {
      index += 1
      return type
    }
    throw flaw(
      "expected a type", "one of \(QueryType.allCases.map(\.rawValue).joined(separator: ", "))")
  }

  private mutating func regex() throws(QueryFlaw) -> String {
    let token = tokens[index]
    let bytes: [UInt8]
    switch token.kind {
    case .string(let text): bytes = text
    case .variable(let name): bytes = try variable(name, token.range).text
    default:
      throw flaw("expected a regular expression in quotes", "`.name ~ \"castle\"` (help where)")
    }
    index += 1
    do throws(ShellError) {
      return try KeyRegex(Word(bytes, isBare: false, at: 0..<0)).source
    } catch {
      throw QueryFlaw(message: error.message, range: token.range, hint: error.hint)
    }
  }

  // MARK: Operands

  private var isOperand: Bool {
    switch tokens[index].kind {
    case .end: false
    case .word(let word): !["and", "or", "not", "in", "is"].contains(word)
    case .sign(let sign): sign == "["
    default: true
    }
  }

  mutating func operand() throws(QueryFlaw) -> QueryOperand {
    depth += 1
    defer { depth -= 1 }
    guard depth < Self.deepest else { throw flaw("the expression is nested too deep", nil) }
    let token = tokens[index]
    index += 1
    switch token.kind {
    case .field, .dot:
      index -= 1
      return .path(try path(.value))
    case .string(let bytes): return .constant(.string(bytes))
    case .number(let value), .quantity(let value): return .constant(value)
    case .variable(let name): return .constant(try variable(name, token.range))
    case .word(let word): return try named(word, token)
    case .sign, .end:
      index -= 1
      let after: SafeText =
        index > 0 ? " after \(text(of: tokens[index - 1]))" : ""
      throw flaw("expected a value\(after)", "`.year >= 1999` (help where)")
    }
  }

  private mutating func named(_ word: String, _ token: QueryToken) throws(QueryFlaw) -> QueryOperand
  {
    switch word {
    case "true": return .constant(.bool(true))
    case "false": return .constant(.bool(false))
    case "null": return .constant(.null)
    case "header":
      guard case .field(let name) = tokens[index].kind else {
        throw flaw("expected the name of a header", "`header.cache-control`")
      }
      index += 1
      return .path(try path(.header(name.map { $0 | ($0.isLetter ? 0x20 : 0) })))
    case "metadata": return .path(try path(.metadata))
    default: break
    }
    if let function = QueryFunction(rawValue: word), takeSign("(") {
      let argument = try operand()
      try expect(")")
      return .call(function, argument)
    }
    if let name = QueryName(rawValue: word) { return .name(name) }
    let names =
      QueryName.allCases.map(\.rawValue) + QueryFunction.allCases.map(\.rawValue)
      + ["header", "metadata", "exists", "not"]
    throw QueryFlaw(
      message: "unknown name \"\(word)\"", range: token.range,
      hint: Suggestions.question(word, among: names)
        ?? "a field of the value is `.\(word)`, text is `\"\(word)\"`")
  }

  private mutating func path(_ root: QueryPath.Root) throws(QueryFlaw) -> QueryPath {
    var path = QueryPath(root: root)
    var isFirst = true
    while true {
      switch tokens[index].kind {
      case .field(let name) where isFirst || isAdjacent: path.parts.append(.field(name))
      case .dot where isFirst && root == .value:
        break
      case .sign("[]") where isAdjacent: path.parts.append(.each)
      case .sign("[") where isAdjacent:
        index += 1
        path.parts.append(try indexPart())
      default:
        return path
      }
      isFirst = false
      index += 1
    }
  }

  /// No space separates the token from the one before it.
  private var isAdjacent: Bool {
    index > 0 && tokens[index].range.lowerBound == tokens[index - 1].range.upperBound
  }

  private mutating func indexPart() throws(QueryFlaw) -> QueryPath.Part {
    let part: QueryPath.Part
    switch tokens[index].kind {
    case .number(.integer(let value)): part = .index(Int(clamping: value))
    case .string(let name): part = .field(name)
    default: throw flaw("expected an index or a name in quotes", "`.items[0]`, `.items[]`")
    }
    index += 1
    guard case .sign("]") = tokens[index].kind else { throw flaw("expected \"]\"", "`.items[0]`") }
    return part
  }

  private func variable(_ name: String, _ range: Range<Int>) throws(QueryFlaw) -> QueryValue {
    do throws(ShellError) {
      switch try variables.value(of: name, at: nil) {
      case .text(let bytes): return .string(bytes)
      case .json(let bytes):
        let space = bytes.prefix { [.space, .tab, .newline, .carriageReturn].contains($0) }.count
        var end = space
        _ = JSONLookup.skip(bytes.span, &end, 0)
        return JSONLookup.value(bytes.span, space..<end)
      }
    } catch {
      throw QueryFlaw(
        message: error.message, range: range,
        hint: "pass `--arg \(name)=TEXT` or `--argjson \(name)=JSON`")
    }
  }

  // MARK: Tokens

  mutating func takeWord(_ word: String) -> Bool {
    guard case .word(word) = tokens[index].kind else { return false }
    index += 1
    return true
  }

  mutating func takeSign(_ sign: String) -> Bool {
    guard case .sign(sign) = tokens[index].kind else { return false }
    index += 1
    return true
  }

  /// The word behind `as`.
  mutating func label() throws(QueryFlaw) -> String {
    defer { index += 1 }
    switch tokens[index].kind {
    case .word(let word): return word
    case .string(let bytes): return String(decoding: bytes, as: UTF8.self)
    default: throw flaw("expected a name after \"as\"", "`.name as title`")
    }
  }

  /// The range of the tokens since a position, for the text of an operand.
  func range(since start: Int) -> Range<Int> {
    tokens[start].range.lowerBound..<tokens[max(index - 1, start)].range.upperBound
  }

  var position: Int { index }

  private mutating func expect(_ sign: String) throws(QueryFlaw) {
    guard takeSign(sign) else { throw flaw("expected \"\(sign)\"", "`help where`") }
  }

  func expectEnd() throws(QueryFlaw) {
    guard tokens[index].kind == .end else {
      throw flaw(
        "unexpected \(text(of: tokens[index]))", "join tests by `and` or `or` (help where)")
    }
  }

  private func text(of token: QueryToken) -> SafeText {
    switch token.kind {
    case .sign(let sign): "\"\(sign)\""
    case .word(let word): "\"\(word)\""
    case .end: "the end"
    default: "value"
    }
  }

  private func flaw(
    _ message: SafeText, _ hint: SafeText?, at position: Int? = nil, range: Range<Int>? = nil
  ) -> QueryFlaw {
    let token = tokens[min(position ?? index, tokens.count - 1)]
    // At the end the last token is more visible than the empty place behind it.
    let place = range ?? (token.kind == .end && index > 0 ? tokens[index - 1].range : token.range)
    return QueryFlaw(message: message, range: place, hint: hint)
  }
}
