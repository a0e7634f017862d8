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

/// The answer of a command, independent of its form.
package struct Reply: Sendable, Hashable {
  package enum Body: Sendable, Hashable {
    /// A list: an array in JSON. Each row has a cell for each column.
    case rows([Column], [[Cell]])
    /// One thing: an object in JSON.
    case object([Column], [Cell])
    /// These bytes in every mode.
    case bytes([UInt8])
    /// The same lines in every mode, such as help.
    case text(String)
  }

  package let body: Body
  /// Sentences that a person sees instead of the body; if empty, the body as a table.
  package let sentences: [SafeText]
  /// Notes that a person sees below, such as how to see the rest of a list.
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

  /// One thing, by its fields.
  package init(_ fields: KeyValuePairs<Column, Cell>, sentences: [SafeText] = []) {
    self.init(.object(fields.map(\.key), fields.map(\.value)), sentences: sentences)
  }
}

/// The form of the output.
package enum OutputMode: String, Sendable, CaseIterable {
  case auto, table, plain, json, jsonl, csv, raw, vertical, box, markdown

  /// Changes answer with sentences instead of rows.
  package var isForPerson: Bool {
    switch self {
    case .table, .vertical, .box, .markdown: true
    case .auto, .plain, .json, .jsonl, .csv, .raw: false
    }
  }

  /// Resolves `auto`: a person gets a table, a pipe gets data.
  package func resolved(isTerminal: Bool) -> OutputMode {
    self == .auto ? (isTerminal ? .table : .plain) : self
  }

  /// Its use, in a few words.
  package var summary: String {
    switch self {
    case .auto: "table for a person, plain for a pipe"
    case .table: "aligned columns"
    case .plain: "a line for each row, fields separated by tabs; with -0 raw bytes and NUL"
    case .json: "one document for each command"
    case .jsonl: "an object on each line"
    case .csv: "RFC 4180, with a header"
    case .raw: "the bytes of a value, nothing added"
    case .vertical: "a block for each row, a line for each field"
    case .box: "a table with lines around it"
    case .markdown: "a table for a document"
    }
  }
}

/// The roles that colors show. Only the eight colors of every palette, bold, dim and underline are used, which a person's own
/// terminal settings can change; no color carries meaning alone.
package enum Color: String, Sendable, Hashable {
  case command = "1"
  case wrong = "31"
  case error = "4;31"
  case namespace = "36"
  case quoted = "32"
  case pattern = "33"
  case option = "34"
  case number = "35"
  case dim = "2"

  // The parts of JSON.
  package static let field = Color.option
  package static let string = Color.quoted
  package static let word = Color.pattern

  package var on: String { "\u{1B}[\(rawValue)m" }
  package static let off = "\u{1B}[0m"

  /// Text of which every control character is escaped already.
  package func painted(_ text: String) -> String { on + text + Self.off }
}
