/// The lines of a stream as they come, for scripts and for terminals that can do no better.
///
/// Lines may be of any length; the time to read them is linear in their bytes.
package struct PlainLines {
  private let stream: Terminal.Stream
  private var buffer: [UInt8] = []
  private var start = 0
  private var isAtEnd = false

  package init(_ stream: Terminal.Stream = .input) { self.stream = stream }

  /// The next line without its end; the last one may lack an end.
  ///
  /// - Parameters:
  ///   - prompt: Written to the output first, without colour.
  ///   - end: The byte that ends a line: a newline, or NUL for names that may hold one.
  package mutating func readLine(
    _ prompt: Prompt? = nil, endedBy end: UInt8 = UInt8(ascii: "\n")
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
      if isAtEnd {
        if let line = takeRest() { return .line(line) }
        if prompt != nil { try Terminal.write("\n") }
        return .end
      }
      guard try fill() else {
        if prompt != nil { try Terminal.write("\n") }
        takeRest()
        return .interrupted
      }
      searched -= discardRead()
    }
  }

  /// Everything up to the end of the stream as one line.
  package mutating func readRest() throws(TerminalError) -> LineResult {
    while !isAtEnd {
      guard try fill() else { return .interrupted }
    }
    return .line(takeRest() ?? [])
  }

  /// Reads once more; false if ^C came first.
  private mutating func fill() throws(TerminalError) -> Bool {
    repeat {
      if Interrupts.isPending {
        Interrupts.acknowledge()
        return false
      }
    } while try Terminal.wait(for: stream) != .ready
    let bytes = try Terminal.read(stream)
    isAtEnd = bytes.isEmpty
    buffer += bytes
    return true
  }

  /// Frees the bytes that were handed out, once for each read; returns the shift of the indices.
  private mutating func discardRead() -> Int {
    defer { start = 0 }
    buffer.removeFirst(start)
    return start
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
