/// Valid JSON text as tokens. Formatting changes only the space between tokens, and replaces hidden characters by escapes.
package struct JSONText {
  package enum Kind { case value, name, open, close }

  /// `end` is the index of the last token of the value: for an opening bracket the closing token, else the token itself.
  package typealias Token = (kind: Kind, range: Range<Int>, end: Int)

  package struct ParseError: Error {
    let error: JSONError
    package let offset: Int

    fileprivate static let notUTF8 = ParseError(error: .encoding, offset: 0)

    package var reason: SafeText { SafeText(error.rawValue) }
    /// Whether the only fault is that the text is nested too deep. If so, the text may be JSON.
    package var isDepth: Bool { error == .depth }
    /// The end of a sentence about the text, such as `not JSON: expected a value`.
    package var predicate: SafeText { isDepth ? reason : "not JSON: \(reason)" }
  }

  package static let tooDeep = JSONError.depth.rawValue

  package let bytes: [UInt8]
  private(set) var tokens: [Token] = []

  /// Checks the text by RFC 8259; at most 200 levels may be nested.
  package init(_ bytes: [UInt8]) throws(ParseError) {
    guard String(validating: bytes, as: UTF8.self) != nil else { throw ParseError.notUTF8 }
    self.bytes = bytes
    let failure = JSONGrammar.failure(of: bytes.span) { bytes, index throws(JSONError) in
      try read(bytes, &index, depth: 0)
    }
    if let failure { throw failure }
  }

  /// The first error of a text; nil if the text is JSON.
  package static func error(in bytes: [UInt8]) -> ParseError? {
    guard String(validating: bytes, as: UTF8.self) != nil else { return .notUTF8 }
    return JSONGrammar.failure(of: bytes.span) { bytes, index throws(JSONError) in
      try JSONGrammar.value(bytes, &index, depth: 0)
    }
  }

  private mutating func read(
    _ bytes: Span<UInt8>, _ index: inout Int, depth: Int
  ) throws(JSONError) {
    let start = index
    let first = tokens.count
    guard JSONGrammar.opens(bytes, start) else {
      try JSONGrammar.scalar(bytes, &index)
      return tokens.append((.value, start..<index, first))
    }
    tokens.append((.open, start..<start + 1, first))
    try JSONGrammar.parts(bytes, &index, depth: depth) { bytes, name, index throws(JSONError) in
      if let name { tokens.append((.name, name, tokens.count)) }
      try read(bytes, &index, depth: depth + 1)
    }
    tokens[first].end = tokens.count
    tokens.append((.close, index - 1..<index, tokens.count))
  }

  /// The fields of an object or the elements of an array in order, as indexes of tokens. Empty for any other token.
  package func children(of index: Int) -> [(name: Int?, value: Int)] {
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

  package func range(of index: Int) -> Range<Int> {
    tokens[index].range.lowerBound..<tokens[tokens[index].end].range.upperBound
  }

  /// The first byte of a value, which shows the type of the value.
  package func firstByte(of index: Int) -> UInt8 { bytes[tokens[index].range.lowerBound] }

  /// The content of the string in a token, with escapes decoded.
  func string(_ index: Int) -> [UInt8] { JSONLookup.string(bytes.span, tokens[index].range) }

  /// Whether the text is an object or an array. Otherwise the text is a single number, string or word.
  package var isStructured: Bool { tokens.first?.kind == .open }

  package func text(_ token: Token) -> [UInt8] { JSON.printable(bytes[token.range]) }

  package var minified: [UInt8] { line(of: 0, isCompact: true, text) }

  /// The text for a person. An array or object that fits is on one line. A wider array or object has a line for each element.
  package func laidOut(width: Int, hasColor: Bool = false) -> String {
    let widths = widths
    let text = hasColor ? painted : text
    var result: [UInt8] = []
    func beginLine(indent: Int) {
      result.append(.newline)
      result += repeatElement(.space, count: indent)
    }
    /// - Parameter taken: The number of columns that other text on the line needs, before or after this value.
    func append(_ index: Int, indent: Int, taken: Int) {
      let token = tokens[index]
      guard indent + taken + widths[index] > width, token.end > index + 1 else {
        result += line(of: index, text)
        return
      }
      result += text(token)
      for (name, value) in children(of: index) {
        beginLine(indent: indent + 2)
        if let name { result += text(tokens[name]) + Array(": ".utf8) }
        append(value, indent: indent + 2, taken: 1 + (name.map { widths[$0] + 2 } ?? 0))
        if tokens[value].end + 1 < token.end { result.append(UInt8(ascii: ",")) }
      }
      beginLine(indent: indent)
      result += text(tokens[token.end])
    }
    append(0, indent: 0, taken: 0)
    result.append(.newline)
    return String(decoding: result, as: UTF8.self)
  }

  /// For each token, the number of columns that the token and its content need on one line.
  private var widths: [Int] {
    var widths = tokens.map { DisplayWidth.of(String(decoding: text($0), as: UTF8.self)) }
    for open in tokens.indices.reversed() where tokens[open].kind == .open {
      // The width begins with the brackets. Each part adds its width and two columns: separator and space, or the inner spaces.
      widths[open] = 2
      var part = open + 1
      while part < tokens[open].end {
        widths[open] += widths[part] + 2
        part = tokens[part].end + 1
      }
    }
    return widths
  }

  /// A whole value on one line, such as `{ "a": [ 1, 2 ] }`, or with `isCompact` without spaces.
  func line(of index: Int, isCompact: Bool = false, _ text: (Token) -> [UInt8]) -> [UInt8] {
    var result: [UInt8] = []
    for place in index...tokens[index].end {
      let token = tokens[place]
      if place > index {
        let gap =
          switch (tokens[place - 1].kind, token.kind) {
          case (.open, .close): ""
          case (.name, _): ": "
          case (.open, _), (_, .close): " "
          default: ", "
          }
        for byte in gap.utf8 where byte != .space || !isCompact { result.append(byte) }
      }
      result += text(token)
    }
    return result
  }

  private func painted(_ token: Token) -> [UInt8] {
    let color: Color
    switch (token.kind, bytes[token.range.lowerBound]) {
    case (.open, _), (.close, _): return text(token)
    case (.name, _): color = .field
    case (_, UInt8(ascii: "\"")): color = .string
    case (_, UInt8(ascii: "t")), (_, UInt8(ascii: "f")), (_, UInt8(ascii: "n")): color = .word
    default: color = .number
    }
    return Array(color.on.utf8) + text(token) + Array(Color.off.utf8)
  }
}
