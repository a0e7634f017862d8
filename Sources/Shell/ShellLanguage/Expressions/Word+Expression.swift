extension Word {
  package func expression(
    _ clock: WallClock, _ variables: Variables
  ) throws(ShellError) -> Expression {
    try parsing(clock, variables) { parser throws(ShellError) in try parser.expression() }
  }

  package func operand(
    _ clock: WallClock, _ variables: Variables
  ) throws(ShellError) -> QueryColumn {
    try parsing(clock, variables) { parser throws(ShellError) in
      let operand = try parser.operand()
      try parser.expectEnd()
      return QueryColumn(operand: operand, label: String(decoding: parser.text, as: UTF8.self))
    }
  }

  package func path() throws(ShellError) -> QueryPath {
    let clock = WallClock(now: UnixTime(milliseconds: 0), zone: .utc)
    guard case .path(let path) = try operand(clock, Variables()).operand, path.root == .value else {
      throw ShellError(
        .badExpression, "\(bytes) is not a path", at: range, hint: "`.a.b[0]` (help where)")
    }
    return path
  }

  /// The word as the columns of `--show`: operands, each with an optional `as NAME`.
  package func columns(
    _ clock: WallClock, _ variables: Variables
  ) throws(ShellError) -> [QueryColumn] {
    let columns = try parsing(clock, variables) { parser throws(ShellError) in
      var columns: [(column: QueryColumn, text: String, isNamed: Bool)] = []
      repeat {
        let start = parser.index
        let operand = try parser.operand()
        let text = String(decoding: parser.text[parser.range(since: start)], as: UTF8.self)
        let isNamed = parser.take(.word("as"))
        let label = try isNamed ? parser.label() : operand.path?.label ?? text
        columns.append((QueryColumn(operand: operand, label: label), text, isNamed))
      } while parser.take(.sign(","))
      try parser.expectEnd()
      return columns
    }
    // If columns have equal labels, each of these labels becomes the full text of the operand.
    let labels = columns.map(\.column.label)
    return columns.map { column, text, isNamed in
      guard !isNamed, labels.count(where: { $0 == column.label }) > 1 else { return column }
      return QueryColumn(operand: column.operand, label: text)
    }
  }

  /// The text of the expression. In a word that is only partly quoted, such as `."odd name"`, the quotes belong to the text.
  private var expressionText: [UInt8] {
    guard pieces.contains(where: { $0.isBare && !$0.range.isEmpty }), !isBare else { return bytes }
    return pieces.flatMap { piece -> [UInt8] in
      let part = Array(bytes[piece.range])
      return piece.isBare
        ? part : Array(JSON.string(String(decoding: part, as: UTF8.self)).text.utf8)
    }
  }

  private func parsing<Result>(
    _ clock: WallClock, _ variables: Variables,
    _ body: (inout ExpressionParser) throws(ShellError) -> Result
  ) throws(ShellError) -> Result {
    do throws(ShellError) {
      var parser = try ExpressionParser(expressionText, clock, variables)
      return try body(&parser)
    } catch {
      throw ShellError(
        .badExpression, error.message, at: error.range.map { place(of: $0) }, hint: error.hint)
    }
  }
}
