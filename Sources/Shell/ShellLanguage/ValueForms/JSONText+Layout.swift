extension JSONText {
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
      // The width begins with the two brackets. Each part adds its width and two columns for a separator and a space, or, after
      // the last part, for the two inner spaces.
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
    switch token.kind {
    case .open, .close: return text(token)
    case .name: color = .field
    case .value:
      switch bytes[token.range.lowerBound] {
      case .doubleQuote: color = .string
      case UInt8(ascii: "t"), UInt8(ascii: "f"), UInt8(ascii: "n"): color = .word
      default: color = .number
      }
    }
    return Array(color.on.utf8) + text(token) + Array(Color.off.utf8)
  }
}
