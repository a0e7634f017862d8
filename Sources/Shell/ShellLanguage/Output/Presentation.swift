/// The form of replies, and the properties of their destination.
package struct Presentation: Sendable {
  /// Never `auto`.
  package let mode: OutputMode
  /// Raw bytes and a NUL where `plain` would end a line.
  package let endsWithNUL: Bool
  /// The columns of the terminal; nil is no limit, as in a pipe.
  package let width: Int?
  package let hasColor: Bool
  /// The output goes to a terminal, which must receive no control character of a key or value.
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
  /// More follows, which is left out.
  package var ellipsis: String { hasUnicode ? "\u{2026}" : "..." }
  /// The mark in the place of text that was cut, one column wide.
  package var cutMark: String { hasUnicode ? "\u{2026}" : "~" }
  /// The arrow between an old value and a new one.
  package var arrow: String { hasUnicode ? "\u{2192}" : "->" }

  /// The bytes of a whole reply.
  package func bytes(of reply: Reply) -> [UInt8] {
    switch reply.body {
    case .bytes(let bytes):
      return bytes
    case .text(let text):
      return Array(text.utf8)
    case .rows, .object:
      guard !mode.isForPerson || reply.sentences.isEmpty else {
        return lines(reply.sentences + reply.notes)
      }
      var writer = RowWriter(self, reply)
      var bytes = writer.begin()
      switch reply.body {
      case .rows(_, let rows): bytes += writer.write(rows)
      case .object(_, let cells): bytes += writer.write([cells])
      case .bytes, .text: break
      }
      return bytes + writer.end()
        + (mode.isForPerson && mode != .markdown ? lines(reply.notes) : [])
    }
  }

  /// Sentences, wrapped to the window.
  package func lines(_ texts: [SafeText]) -> [UInt8] {
    texts.flatMap {
      Array((DisplayWidth.wrap($0.description, columns: width, indent: 2) + "\n").utf8)
    }
  }
}
