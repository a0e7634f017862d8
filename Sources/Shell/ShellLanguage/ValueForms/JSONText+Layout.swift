extension JSONText {
  /// The text for a person. An array or object that fits is on one line. A wider array or object has a line for each element.
  package func laidOut(width: Int, hasColor: Bool = false) -> String {
    var result: [UInt8] = []
    var index = 0
    let text = hasColor ? painted : text
    append(&index, indent: 0, taken: 0, width, text, to: &result)
    result.append(.newline)
    return String(decoding: result, as: UTF8.self)
  }

  /// - Parameter taken: The number of columns that other text on the line needs, before or after this value.
  private func append(
    _ index: inout Int, indent: Int, taken: Int, _ width: Int,
    _ text: (Token) -> [UInt8], to result: inout [UInt8]
  ) {
    let token = tokens[index]
    guard token.kind == .open, indent + taken + token.width > width, token.end > index + 1 else {
      appendLine(&index, text, to: &result)
      return
    }
    result += text(token)
    index += 1
    while index < token.end {
      result.append(.newline)
      result += repeatElement(.space, count: indent + 2)
      var name = 0
      if tokens[index].kind == .name {
        result += text(tokens[index]) + Array(": ".utf8)
        name = tokens[index].width + 2
        index += 1
      }
      append(&index, indent: indent + 2, taken: name + 1, width, text, to: &result)
      if index < token.end { result.append(UInt8(ascii: ",")) }
    }
    result.append(.newline)
    result += repeatElement(.space, count: indent)
    result += text(tokens[token.end])
    index = token.end + 1
  }

  /// Appends a whole value to the present line, such as `{ "a": [ 1, 2 ] }`, or with `isCompact` without spaces.
  func appendLine(
    _ index: inout Int, isCompact: Bool = false, _ text: (Token) -> [UInt8],
    to result: inout [UInt8]
  ) {
    let end = tokens[index].kind == .open ? tokens[index].end : index
    let start = index
    while index <= end {
      let token = tokens[index]
      if index > start {
        let gap =
          switch (tokens[index - 1].kind, token.kind) {
          case (.open, .close): ""
          case (.name, _): ": "
          case (.open, _), (_, .close): " "
          default: ", "
          }
        for byte in gap.utf8 where byte != .space || !isCompact { result.append(byte) }
      }
      result += text(token)
      index += 1
    }
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
