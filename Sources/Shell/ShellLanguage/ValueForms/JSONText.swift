/// JSON text that was checked and split into tokens, ready to be formatted.
///
/// Numbers, the order of fields, repeated fields and escapes do not change. Only the space between tokens changes, and
/// hidden characters in strings become escapes.
package struct JSONText {
  package struct Token {
    package enum Kind {
      case value
      /// The name of a field.
      case name
      case open
      case close
    }

    package let kind: Kind
    /// The bytes of the token; a bracket is one byte.
    package let range: Range<Int>
    /// For an opening bracket: the index of the closing token.
    fileprivate(set) var end = 0
    /// The columns that the token and its content take on one line.
    fileprivate(set) var width = 0
  }

  package struct ParseError: Error {
    package let reason: SafeText
    package let offset: Int
    /// Whether the text is only nested too deep and may be JSON; the reason is ``JSONText/tooDeep`` then.
    package var isDepth = false

    package init(reason: SafeText, offset: Int) {
      self.reason = reason
      self.offset = offset
    }

    init(_ failure: (error: JSONError, offset: Int)) {
      self.init(reason: SafeText(failure.error.rawValue), offset: failure.offset)
      isDepth = failure.error == .depth
    }

    /// The predicate for the text: `not JSON: expected a value`.
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
      try Self.read(bytes, &index, depth: 0, into: &tokens)
    }
    if let failure { throw ParseError(failure) }
    measure()
  }

  private static func read(
    _ bytes: Span<UInt8>, _ index: inout Int, depth: Int, into tokens: inout [Token]
  ) throws(JSONError) {
    let start = index
    guard JSONGrammar.opens(bytes, start) else {
      try JSONGrammar.scalar(bytes, &index)
      tokens.append(Token(kind: .value, range: start..<index))
      return
    }
    tokens.append(Token(kind: .open, range: start..<start + 1))
    try JSONGrammar.parts(bytes, &index, depth: depth) { bytes, name, index throws(JSONError) in
      if let name { tokens.append(Token(kind: .name, range: name)) }
      try read(bytes, &index, depth: depth + 1, into: &tokens)
    }
    tokens.append(Token(kind: .close, range: index - 1..<index))
  }

  /// Whether the text is an object or an array, not a single number or word.
  package var isStructured: Bool { tokens.first?.kind == .open }

  /// The text of a token, safe to print.
  package func text(_ token: Token) -> [UInt8] {
    let text = bytes[token.range]
    guard !text.allSatisfy(\.isPrintable) else { return Array(text) }
    var safe = ""
    for scalar in String(decoding: text, as: UTF8.self).unicodeScalars {
      JSON.append(scalar, to: &safe)
    }
    return Array(safe.utf8)
  }

  /// The text without space between tokens.
  package var minified: [UInt8] {
    var result: [UInt8] = []
    for (index, token) in tokens.enumerated() {
      if index > 0, token.kind != .close {
        switch tokens[index - 1].kind {
        case .open: break
        case .name: result.append(UInt8(ascii: ":"))
        case .value, .close: result.append(UInt8(ascii: ","))
        }
      }
      result += text(token)
    }
    return result
  }

  /// Pairs the brackets, and computes the widths of values in the form `{ "a": [ 1, 2 ] }`.
  private mutating func measure() {
    var open: [Int] = []
    for index in tokens.indices {
      switch tokens[index].kind {
      case .value, .name:
        tokens[index].width =
          DisplayWidth.of(String(decoding: text(tokens[index]), as: UTF8.self))
      case .open: open.append(index)
      case .close:
        guard let start = open.popLast() else { continue }
        tokens[start].end = index
        // The two brackets. Each part adds two columns: a colon or comma and a space, and the last part the two inner spaces.
        var width = 2
        var child = start + 1
        while child < index {
          width += tokens[child].width + 2
          child = tokens[child].kind == .open ? tokens[child].end + 1 : child + 1
        }
        tokens[start].width = width
      }
    }
  }
}
