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

  package func lines(_ texts: [SafeText]) -> [UInt8] { texts.flatMap { Array("\($0)\n".utf8) } }
}

/// What a command answers, before it is known how that is written.
package struct Reply: Sendable, Hashable {
  package enum Body: Sendable, Hashable {
    /// A list: an array in JSON. Each row has a cell for each column.
    case rows([Column], [[Cell]])
    /// One thing: an object in JSON.
    case object([Column], [Cell])
    /// Exactly these bytes in every mode.
    case bytes([UInt8])
    /// Lines that are the same in every mode, such as help.
    case text(String)
  }

  package let body: Body
  /// What a person sees in place of the body; if empty, the body as a table.
  package let sentences: [SafeText]
  /// What a person sees below it, such as the way to the rest of a list.
  package let notes: [SafeText]
  /// All data columns also where output is plain.
  package let isLong: Bool

  package init(
    _ body: Body, sentences: [SafeText] = [], notes: [SafeText] = [], isLong: Bool = false
  ) {
    self.body = body
    self.sentences = sentences
    self.notes = notes
    self.isLong = isLong
  }
}

/// The form in which replies are written.
package enum OutputMode: String, Sendable, CaseIterable {
  case auto, table, plain, json, jsonl, csv, raw

  /// What `auto` stands for: a person gets words, a pipe gets data.
  package func resolved(isTerminal: Bool) -> OutputMode {
    self == .auto ? (isTerminal ? .table : .plain) : self
  }

  /// What it is for, in a few words.
  package var summary: String {
    switch self {
    case .auto: "table for a person, plain for a pipe"
    case .table: "aligned columns"
    case .plain: "a line for each, fields by tab; with -0 raw bytes and a NUL"
    case .json: "one document a command"
    case .jsonl: "one object a line"
    case .csv: "RFC 4180, with a header"
    case .raw: "the bytes of a value, nothing added"
    }
  }
}
