/// The prompt: a name, colored where colors are on, and a plain tail.
package struct Prompt: Equatable, Sendable {
  /// The colored part; may be empty.
  package let name: String

  /// The plain part. Never empty: libedit drops a color reset that no visible character follows.
  package let tail: String

  /// Control characters are left out, and a space replaces an empty tail.
  package init(_ name: String, tail: String = "> ") {
    self.name = Self.visible(name)
    let tail = Self.visible(tail)
    self.tail = tail.isEmpty ? " " : tail
  }

  package var text: String { name + tail }

  /// The prompt with its color; a mark encloses each escape sequence on both sides.
  func colored(mark: Character) -> String {
    guard !name.isEmpty else { return tail }
    return "\(mark)\u{1B}[1;36m\(mark)\(name)\(mark)\u{1B}[0m\(mark)\(tail)"
  }

  private static func visible(_ text: String) -> String {
    String(
      String.UnicodeScalarView(
        text.unicodeScalars.filter { $0.properties.generalCategory != .control }))
  }
}

package enum LineResult: Equatable, Sendable {
  /// A line without its end. Bytes from a pipe are unchanged: NUL, CR and broken UTF-8 included.
  case line([UInt8])

  /// ^C was pressed: the typed text is dropped.
  case interrupted

  /// ^D on an empty line, or the end of the input.
  case end
}

/// The lines of standard input, for scripts and for terminals on which a `LineEditor` cannot work.
///
/// Lines may be of any length; the time to read them is linear in their bytes.
package struct PlainLines {
  private var buffer: [UInt8] = []
  private var start = 0
  private var isAtEnd = false

  package init() {}

  /// The next line without its end; the last line may have no end.
  package mutating func readLine(_ prompt: Prompt? = nil) throws(TerminalError) -> LineResult {
    if let prompt { try Terminal.write(prompt.text) }
    var searched = start
    while true {
      if let end = buffer[searched...].firstIndex(of: UInt8(ascii: "\n")) {
        defer { start = end + 1 }
        return .line(Array(buffer[start..<end]))
      }
      // Bytes that were handed out are freed once for each read.
      buffer.removeFirst(start)
      start = 0
      searched = buffer.count
      let bytes: [UInt8]? = try isAtEnd ? [] : Terminal.next()
      isAtEnd = bytes?.isEmpty ?? false
      if let bytes, !isAtEnd {
        buffer += bytes
        continue
      }
      defer { buffer = [] }
      if bytes != nil, !buffer.isEmpty { return .line(buffer) }
      if prompt != nil { try Terminal.write("\n") }
      guard bytes == nil else { return .end }
      Interrupts.acknowledge()
      return .interrupted
    }
  }
}
