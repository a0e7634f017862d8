extension ExpressionParser {
  var isOperand: Bool {
    switch tokens[index].kind {
    case .end: false
    case .word(let word): !["and", "or", "not", "in", "is"].contains(word)
    case .sign(let sign): sign == "["
    default: true
    }
  }

  mutating func operand() throws(ShellError) -> QueryOperand {
    depth += 1
    defer { depth -= 1 }
    guard depth < Self.deepest else { throw failure("the expression is nested too deep", nil) }
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
      let after: SafeText = index > 0 ? " after \(text(of: tokens[index - 1]))" : ""
      throw failure("expected a value\(after)", "`.year >= 1999` (help where)")
    }
  }

  private mutating func named(_ word: String, _ token: QueryToken) throws(ShellError)
    -> QueryOperand
  {
    switch word {
    case "true": return .constant(.bool(true))
    case "false": return .constant(.bool(false))
    case "null": return .constant(.null)
    case "header":
      guard case .field(let name) = tokens[index].kind else {
        throw failure("expected the name of a header", "`header.cache-control`")
      }
      index += 1
      return .path(try path(.header(name.map(\.lowercased))))
    case "metadata": return .path(try path(.metadata))
    default: break
    }
    if let function = QueryFunction(rawValue: word), take(.sign("(")) {
      let argument = try operand()
      try expect(")")
      return .call(function, argument)
    }
    if let name = QueryName(rawValue: word) { return .name(name) }
    if QueryFunction(rawValue: word) != nil {
      throw failure("\(word) takes its operand in parentheses", "`\(word)(.a)`", range: token.range)
    }
    let names =
      QueryName.allCases.map(\.rawValue) + QueryFunction.allCases.map(\.rawValue)
      + ["header", "metadata", "exists", "not"]
    throw failure(
      "unknown name \"\(word)\"",
      Suggestions.question(word, among: names)
        ?? "a field of the value is `.\(word)`, text is `\"\(word)\"`", range: token.range)
  }

  private mutating func path(_ root: QueryPath.Root) throws(ShellError) -> QueryPath {
    var path = QueryPath(root: root)
    var isFirst = true
    while true {
      switch tokens[index].kind {
      case .field(let name) where isFirst || isAdjacent: path.parts.append(.field(name))
      case .dot where isFirst && root == .value: break
      case .sign("[]") where isAdjacent: path.parts.append(.each)
      case .sign("[") where isAdjacent:
        index += 1
        path.parts.append(try indexPart())
      default: return path
      }
      isFirst = false
      index += 1
    }
  }

  private var isAdjacent: Bool {
    index > 0 && tokens[index].range.lowerBound == tokens[index - 1].range.upperBound
  }

  private mutating func indexPart() throws(ShellError) -> QueryPath.Part {
    let part: QueryPath.Part
    switch tokens[index].kind {
    case .number(.integer(let value)): part = .index(Int(clamping: value))
    case .string(let name): part = .field(name)
    default: throw failure("expected an index or a name in quotes", "`.items[0]`, `.items[]`")
    }
    index += 1
    guard case .sign("]") = tokens[index].kind else {
      throw failure("expected \"]\"", "`.items[0]`")
    }
    return part
  }

  func variable(_ name: String, _ range: Range<Int>) throws(ShellError) -> QueryValue {
    guard let value = variables.values[name] else {
      throw failure(
        "no value for :\(name)", "pass `--arg \(name)=TEXT` or `--argjson \(name)=JSON`",
        range: range)
    }
    guard value.isJSON else { return .string(value.bytes) }
    return JSONLookup.values(of: [], in: value.bytes).first ?? .null
  }
}
