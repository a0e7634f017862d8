extension Lexer {
  mutating func scanOperator(at index: Int) throws(ShellError) -> Int {
    let byte = text[index]
    let isDouble = index + 1 < text.count && text[index + 1] == byte
    let range = index..<index + (isDouble ? 2 : 1)
    try endWord(at: index)
    switch byte {
    case UInt8(ascii: ";"):
      try checkFileIsNamed()
      guard !segments[segments.count - 1].isEmpty else {
        throw ShellError(
          .usage, "expected a command before \";\"", at: range, hint: "help lists the commands")
      }
      segments.append(Segment())
      return index + 1
    case UInt8(ascii: "|") where !isDouble:
      try checkOutputIsFree(range)
      let rest = text[(index + 1)...].drop { $0 == .space || $0 == .tab }
      guard !rest.isEmpty else {
        throw ShellError(
          .usage, "expected a program after \"|\"", at: range, hint: "keys @a | less")
      }
      segments[segments.count - 1].output = .program(Array(rest), range)
      return text.count
    case UInt8(ascii: ">"):
      let next = text[range.upperBound...].first { $0 != .space && $0 != .tab }
      if !isDouble, let next, next == UInt8(ascii: "=") || next.isDigit {
        throw ShellError(
          .usage, "unexpected \">\"", at: range,
          hint: "quote the expression: --where '.year > 1999'")
      }
      try checkOutputIsFree(range)
      segments[segments.count - 1].awaitsFile = (isDouble, range)
      return range.upperBound
    default:
      throw ShellError(
        .usage, "unexpected \(Array(text[range]))", at: range,
        hint: "quote it if it belongs to a word")
    }
  }

  func checkOutputIsFree(_ range: Range<Int>) throws(ShellError) {
    let segment = segments[segments.count - 1]
    guard !segment.words.isEmpty else {
      throw ShellError(
        .usage, "expected a command before \(Array(text[range]))", at: range,
        hint: "help lists the commands")
    }
    guard segment.output == nil, segment.awaitsFile == nil else {
      throw ShellError(
        .usage, "the output of a command has one destination", at: range,
        hint: "remove one of them")
    }
  }

  func checkFileIsNamed() throws(ShellError) {
    guard let (_, range) = segments[segments.count - 1].awaitsFile else { return }
    throw ShellError(
      .usage, "expected a file name after \(Array(text[range]))", at: range,
      hint: "keys @a > keys.txt")
  }
}
