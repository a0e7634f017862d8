/// Valid JSON text as tokens. Formatting changes only the space between tokens, and replaces hidden characters by escapes.
package struct JSONText {
  package struct Token {
    package enum Kind {
      case value, name, open, close
    }

    package let kind: Kind
    package let range: Range<Int>
    /// For an opening bracket: the index of the closing token.
    fileprivate(set) var end = 0
    /// The number of columns that the token and its content need on one line.
    fileprivate(set) var width = 0
  }

  package struct ParseError: Error {
    package let reason: SafeText
    package let offset: Int
    /// Whether the only fault is that the text is nested too deep. If so, the text may be JSON.
    package var isDepth = false

    package init(reason: SafeText, offset: Int) {
      self.reason = reason
      self.offset = offset
    }

    init(_ failure: (error: JSONError, offset: Int)) {
      self.init(reason: SafeText(failure.error.rawValue), offset: failure.offset)
      isDepth = failure.error == .depth
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
    // The width begins with the two brackets. Each part adds its width and two columns for a separator and a space, or, after
    // the last part, for the two inner spaces.
    tokens[open].width = 2
    var child = open + 1
    while child < tokens[open].end {
      tokens[open].width += tokens[child].width + 2
      child = tokens[child].kind == .open ? tokens[child].end + 1 : child + 1
    }
  }

  private mutating func append(_ kind: Token.Kind, _ range: Range<Int>) {
    var token = Token(kind: kind, range: range)
    token.width = DisplayWidth.of(String(decoding: text(token), as: UTF8.self))
    tokens.append(token)
  }

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

  package var minified: [UInt8] {
    var result: [UInt8] = []
    var index = 0
    appendLine(&index, isCompact: true, text, to: &result)
    return result
  }
}
