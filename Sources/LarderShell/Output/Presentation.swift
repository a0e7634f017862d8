/// How replies are to look: the mode, and what is known of where they go.
package struct Presentation: Sendable {
  /// Never `auto`: that is resolved by who reads.
  package let mode: OutputMode
  /// Raw bytes and a NUL where `plain` would end a line.
  package let endsWithNUL: Bool
  /// The columns of the terminal; nil is no limit, as in a pipe.
  package let width: Int?
  package let hasColor: Bool
  /// It goes to a terminal, which must not be spoken to.
  package let isTerminal: Bool
  /// Box and block characters can be drawn.
  package let hasUnicode: Bool
  package let clock: WallClock

  package init(
    _ mode: OutputMode, isTerminal: Bool = false, endsWithNUL: Bool = false, width: Int? = nil,
    hasColor: Bool = false, hasUnicode: Bool = true, clock: WallClock
  ) {
    self.mode = mode.resolved(isTerminal: isTerminal)
    self.endsWithNUL = endsWithNUL
    self.isTerminal = isTerminal
    self.width = isTerminal ? width : nil
    self.hasColor = hasColor
    self.hasUnicode = hasUnicode
    self.clock = clock
  }
}

extension Presentation {
  /// The bytes of a whole reply.
  package func bytes(of reply: Reply) -> [UInt8] {
    switch reply.body {
    case .bytes(let bytes):
      return bytes
    case .text(let text):
      return Array(text.utf8)
    case .rows, .object:
      guard mode != .table || reply.sentences.isEmpty else {
        return lines(reply.sentences + reply.notes)
      }
      var writer = RowWriter(self, reply)
      var bytes = writer.begin()
      switch reply.body {
      case .rows(_, let rows): bytes += writer.write(rows)
      case .object(_, let cells): bytes += writer.write([cells])
      case .bytes, .text: break
      }
      return bytes + writer.end() + (mode == .table ? lines(reply.notes) : [])
    }
  }

  func lines(_ texts: [SafeText]) -> [UInt8] { texts.flatMap { Array("\($0)\n".utf8) } }
}
