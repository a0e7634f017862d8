/// Valid JSON text as tokens. Formatting changes only the space between tokens, and replaces hidden characters by escapes.
package struct JSONText {
  package struct Token {
    package enum Kind {
      case value, name, open, close
    }

    package let kind: Kind
    package let range: Range<Int>
    /// The index of the last token of the value: for an opening bracket the closing token, else the token itself.
    fileprivate(set) var end: Int
  }

  package struct ParseError: Error {
    package let reason: SafeText
    package let offset: Int
    /// Whether the only fault is that the text is nested too deep. If so, the text may be JSON.
    package let isDepth: Bool

    package init(reason: SafeText, offset: Int, isDepth: Bool = false) {
      self.reason = reason
      self.offset = offset
      self.isDepth = isDepth
    }

    init(_ failure: (error: JSONError, offset: Int)) {
      self.init(
        reason: SafeText(failure.error.rawValue), offset: failure.offset,
        isDepth: failure.error == .depth)
    }

    /// The end of a sentence about the text, such as `not JSON: expected a value`.
    package var predicate: SafeText { isDepth ? reason : "not JSON: \(reason)" }
  }

  package static let tooDeep = JSONError.depth.rawValue

  package let bytes: [UInt8]
  private(set) var tokens: [Token] = []

  /// Checks the text by RFC 8259; at most 200 levels may be nested.
  package init(_ bytes: [UInt8]) throws(ParseError) {
    guard String(validating: bytes, as: UTF8.self) != nil else {
      throw ParseError(reason: "not UTF-8", offset: 0)
    }
    self.bytes = bytes
    let failure = JSONGrammar.failure(of: bytes.span) { bytes, index throws(JSONError) in
      try read(bytes, &index, depth: 0)
    }
    if let failure { throw ParseError(failure) }
  }

  private mutating func read(
    _ bytes: Span<UInt8>, _ index: inout Int, depth: Int
  ) throws(JSONError) {
    let start = index
    guard JSONGrammar.opens(bytes, start) else {
      try JSONGrammar.scalar(bytes, &index)
      return append(.value, start..<index)
    }
    let open = tokens.count
    append(.open, start..<start + 1)
    try JSONGrammar.parts(bytes, &index, depth: depth) { bytes, name, index throws(JSONError) in
      if let name { append(.name, name) }
      try read(bytes, &index, depth: depth + 1)
    }
    tokens[open].end = tokens.count
    append(.close, index - 1..<index)
  }

  private mutating func append(_ kind: Token.Kind, _ range: Range<Int>) {
    tokens.append(Token(kind: kind, range: range, end: tokens.count))
  }

  /// The fields of an object or the elements of an array in order, as indexes of tokens. Empty for any other token.
  func children(of index: Int) -> [(name: Int?, value: Int)] {
    var children: [(name: Int?, value: Int)] = []
    var next = index + 1
    while next < tokens[index].end {
      let name = tokens[next].kind == .name ? next : nil
      let value = name == nil ? next : next + 1
      children.append((name, value))
      next = tokens[value].end + 1
    }
    return children
  }

  func range(of index: Int) -> Range<Int> {
    tokens[index].range.lowerBound..<tokens[tokens[index].end].range.upperBound
  }

  /// The content of the string in a token, with escapes decoded.
  func string(_ index: Int) -> [UInt8] { JSONLookup.string(bytes.span, tokens[index].range) }

  /// Whether the text is an object or an array. Otherwise the text is a single number, string or word.
  package var isStructured: Bool { tokens.first?.kind == .open }

  package func text(_ token: Token) -> [UInt8] {
    let text = bytes[token.range]
    guard !text.allSatisfy(\.isPrintable) else { return Array(text) }
    var safe = ""
    for scalar in String(decoding: text, as: UTF8.self).unicodeScalars {
      JSON.append(scalar, to: &safe)
    }
    return Array(safe.utf8)
  }

  package var minified: [UInt8] { line(of: 0, isCompact: true, text) }
}
