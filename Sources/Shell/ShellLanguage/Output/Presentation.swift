package struct Presentation: Sendable {
  /// The mode; never `auto`.
  package let mode: OutputMode
  /// Whether a NUL byte ends each field of `plain` and `raw` output. Such output has no escapes.
  package let endsWithNUL: Bool
  /// The columns of the terminal. Nil if there is no limit, for example in a pipe.
  package let width: Int?
  package let hasColor: Bool
  /// Whether the output goes to a terminal. If so, control characters of keys and values are escaped.
  package let isTerminal: Bool
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

  package var endsRowsWithNUL: Bool { endsWithNUL && (mode == .plain || mode == .raw) }
  package var ellipsis: String { hasUnicode ? "\u{2026}" : "..." }
  /// The mark for cut text in a table, one column wide.
  package var cutMark: String { hasUnicode ? "\u{2026}" : "~" }
  var dash: String { hasUnicode ? "\u{2014}" : "-" }
  package var arrow: String { hasUnicode ? "\u{2192}" : "->" }

  package func bytes(of reply: Reply) -> [UInt8] {
    let own = reply.others[mode]
    if mode.isForPerson, own == nil, !reply.sentences.isEmpty {
      return lines(reply.sentences + reply.notes)
    }
    // Only a table has a place for notes, so the other modes omit the notes.
    let notes = mode == .table ? lines(reply.notes) : []
    return bytes(of: own ?? reply.body, isLong: reply.isLong) + notes
  }

  private func bytes(of body: Reply.Body, isLong: Bool) -> [UInt8] {
    switch body {
    case .bytes(let bytes): return bytes
    case .text(let text): return Array(text.utf8)
    case .chart(let rows): return Bar.chart(rows, for: self)
    case .parts(let parts): return parts.flatMap { bytes(of: $0, isLong: isLong) }
    case .rows(let columns, let rows):
      var writer = RowWriter(self, columns: columns, isLong: isLong)
      return writer.begin() + writer.write(rows) + writer.end()
    case .object(let columns, let cells):
      var writer = RowWriter(self, columns: columns, isObject: true, isLong: isLong)
      return writer.begin() + writer.write([cells]) + writer.end()
    }
  }

  package func lines(_ texts: [SafeText]) -> [UInt8] {
    texts.flatMap {
      Array((DisplayWidth.wrap(drawable($0), columns: width, indent: 2) + "\n").utf8)
    }
  }

  func drawable(_ text: SafeText) -> String {
    guard !hasUnicode else { return text.description }
    let marks = [
      "\u{2013}": dash, "\u{2014}": dash, "\u{2026}": ellipsis, "\u{2192}": arrow,
      "\u{2713}": "ok", "\u{2717}": "!!",
    ]
    return marks.reduce(text.description) { $0.replacing($1.key, with: $1.value) }
  }
}
