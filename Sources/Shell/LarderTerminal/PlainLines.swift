/// The prompt: a name, which has a color if colors are used, and a tail without a color. Contains no control characters.
package struct Prompt: Equatable, Sendable {
  package let name: String
  /// The tail. Never empty, because libedit drops the end of a color if no visible character follows.
  package let tail: String

  package init(_ name: String, tail: String = "> ") {
    self.name = name
    self.tail = tail
  }

  package var text: String { name + tail }

  /// The prompt with its color. The character `mark` stands before and after each escape sequence.
  func colored(mark: Character) -> String {
    guard !name.isEmpty else { return tail }
    return "\(mark)\u{1B}[1;36m\(mark)\(name)\(mark)\u{1B}[0m\(mark)\(tail)"
  }
}

package enum LineResult: Equatable, Sendable {
  /// A line without its newline. Bytes from a pipe are unchanged, even NUL, CR and invalid UTF-8.
  case line([UInt8])
  /// A person pressed ^C, so the typed text was dropped.
  case interrupted
  /// ^D on an empty line, or the end of the input.
  case end
}

/// The lines of standard input, for scripts and for terminals without a `LineEditor`. Lines may be long: reading takes O(bytes).
package struct PlainLines {
  private var buffer: ArraySlice<UInt8> = []
  private var isAtEnd = false

  package init() {}

  /// The next line without its newline. The last line need not have a newline.
  package mutating func readLine(_ prompt: Prompt? = nil) throws(TerminalError) -> LineResult {
    if let prompt { try Terminal.write(prompt.text) }
    var searched = buffer.startIndex
    while true {
      if let end = buffer[searched...].firstIndex(of: UInt8(ascii: "\n")) {
        defer { buffer = buffer[(end + 1)...] }
        return .line(Array(buffer[..<end]))
      }
      searched = buffer.endIndex
      let bytes: [UInt8]? = try isAtEnd ? [] : Terminal.next()
      isAtEnd = bytes?.isEmpty ?? false
      if let bytes, !isAtEnd {
        buffer += bytes
        continue
      }
      defer { buffer = [] }
      if bytes != nil, !buffer.isEmpty { return .line(Array(buffer)) }
      if prompt != nil { try Terminal.write("\n") }
      guard bytes == nil else { return .end }
      Interrupts.acknowledge()
      return .interrupted
    }
  }
}
