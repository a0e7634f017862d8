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

  /// The next line without its end; the last line may have no end. Names that may hold a newline end with NUL.
  ///
  /// - Parameter most: A line of more bytes may be cut after at least `most` + 1 bytes.
  package mutating func readLine(
    _ prompt: Prompt? = nil, endedBy end: UInt8 = UInt8(ascii: "\n"), atMost most: Int = .max
  ) throws(TerminalError) -> LineResult {
    if let prompt { try Terminal.write(prompt.text) }
    var searched = start
    while true {
      if let found = buffer[searched...].firstIndex(of: end) {
        let line = Array(buffer[start..<found])
        start = found + 1
        return .line(line)
      }
      searched = buffer.count
      if isAtEnd || searched - start > most {
        if let line = takeRest() { return .line(line) }
        if prompt != nil { try Terminal.write("\n") }
        return .end
      }
      guard try fill() else {
        if prompt != nil { try Terminal.write("\n") }
        takeRest()
        return .interrupted
      }
      // Bytes that were handed out are freed once for each read.
      buffer.removeFirst(start)
      searched -= start
      start = 0
    }
  }

  /// Everything up to the end of the stream as one line. If there are more than `most` bytes, at least `most` + 1 of them.
  package mutating func readRest(atMost most: Int = .max) throws(TerminalError) -> LineResult {
    while !isAtEnd, buffer.count - start <= most {
      guard try fill() else { return .interrupted }
    }
    return .line(takeRest() ?? [])
  }

  /// Reads from the stream once more; false if ^C came first.
  private mutating func fill() throws(TerminalError) -> Bool {
    repeat {
      if Interrupts.isPending {
        Interrupts.acknowledge()
        return false
      }
    } while try Terminal.wait(for: .input) != .ready
    let bytes = try Terminal.read()
    isAtEnd = bytes.isEmpty
    buffer += bytes
    return true
  }

  @discardableResult
  private mutating func takeRest() -> [UInt8]? {
    defer {
      buffer = []
      start = 0
    }
    return start < buffer.count ? Array(buffer[start...]) : nil
  }
}
