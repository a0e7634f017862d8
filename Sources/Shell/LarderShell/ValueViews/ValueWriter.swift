import Larder
import LarderSystem
import ShellLanguage

/// Writes the values of `get`. The words of the command decide the form, not the number of found keys, so scripts can rely on it.
struct ValueWriter {
  private let session: Session
  private let presentation: Presentation
  private let style: ValueStyle
  private let head: Int?
  private let isFull: Bool
  /// Whether the command names one key. If so, a pipe gets exactly the bytes of the value.
  private let isSingle: Bool
  private let namesNamespaces: Bool
  private var rows: RowWriter
  private(set) var count = 0

  /// - Parameter namesNamespaces: Whether the values may be from several namespaces.
  init(
    _ call: Invocation, in session: Session, isSingle: Bool = false, namesNamespaces: Bool = false
  ) {
    self.session = session
    presentation = session.output.presentation
    (style, head, isFull) = (call.style, call.head, call.has("--full"))
    self.isSingle = isSingle
    self.namesNamespaces = namesNamespaces
    let value = Column(style == .json ? "value_json" : "value", holdsBytes: style != .json)
    let namespace = Column("namespace", in: namesNamespaces ? .everywhere : [.table, .data])
    let facts = EntryForm.record(namesNamespaces: true).columns.dropFirst()
    rows = RowWriter(presentation, columns: [namespace] + facts + [value], isObject: isSingle)
  }

  func begin() throws { try session.output.write(rows.begin()) }

  mutating func write(_ value: StoredValue) throws {
    defer { count += 1 }
    let (output, key) = (session.output, value.entry.key.bytes)
    switch presentation.mode {
    case .table,
      .plain where presentation.isTerminal:
      // Here a value is escaped, so that a terminal does not act on the bytes. Only `raw` sends unescaped values to a terminal.
      if count > 0 { try output.write([.newline]) }
      let name = namesNamespaces ? "\(SafeText(value.entry.namespace)) " : ""
      if !isSingle { try output.write(Array("\(name)\(Quoting.brief(key))\n".utf8)) }
      let most = head ?? (isFull || style == .json ? nil : ValueView.mostCut)
      let shown = try value.reading(most: most, in: session)
      let view = try ValueView(shown, as: style, head: head, isFull: isFull)
      try output.write(view.bytes(for: presentation))
    case .plain where isSingle && !presentation.endsWithNUL:
      try output.writeValue { try value.forEachPiece(as: style, most: head, in: session, $0) }
    case .raw: try value.forEachPiece(as: style, most: head, in: session, output.write)
    case .plain, .auto, .json, .jsonl, .csv, .markdown:
      if presentation.endsRowsWithNUL { try AnswerWriter.checkKey(key) }
      try output.write(rows.write([cells(value)]))
    }
  }

  /// - Parameter saysNothing: Whether to omit the line `no entries`, because an error follows.
  mutating func end(saysNothing: Bool = false) throws {
    try session.output.write(rows.end())
    if presentation.mode == .table, count == 0, !saysNothing {
      try session.output.writeLines(["no entries"])
    }
  }

  private func cells(_ value: StoredValue) throws -> [Cell] {
    let facts = EntryForm.facts(value.entry, session.wallClock)
    let value = try value.reading(most: head, in: session)
    if presentation.mode.isStructured { return facts + [try value.cell(as: style, head: head)] }
    guard presentation.mode == .markdown else {
      return facts + [.bytes(try value.encoded(as: style, head: head))]
    }
    // For a person, JSON text gets no quotes around the whole text.
    let bytes = style == .auto ? value.readable : try value.encoded(as: style, head: nil)
    return facts + [.text(Quoting.plain(Array(bytes.prefix(head ?? .max)), isName: false))]
  }
}

extension AnswerWriter {
  /// Writes the fields of one value, each on its own line. In JSON, a list is one array.
  func writeFields(_ fields: [FieldText], isList: Bool) throws {
    let presentation = presentation
    let isJSON = presentation.mode == .json || presentation.mode == .jsonl
    var lines = fields.map { isJSON ? $0.json : $0.text }
    if presentation.mode == .json, isList {
      let list = lines.joined(separator: [UInt8(ascii: ",")])
      lines = [Array("[".utf8) + list + Array("]".utf8)]
    }
    for line in lines {
      let shown =
        !presentation.isTerminal
        ? line : isJSON ? JSON.printable(line) : Array(Quoting.printable(line).utf8)
      try write(shown + [.newline])
    }
  }

  /// Throws if the output is a terminal, which could act on the bytes of a value. `--force` allows such output.
  func requireHarmless(unless isForced: Bool) throws(ShellError) {
    guard presentation.isTerminal, !isForced else { return }
    throw ShellError(
      .usage, "the bytes of values can change what the terminal does",
      hint: "write them to a file: `> FILE`, or pass `--force`")
  }
}

/// A field of a JSON value as stored text, so that digits and the order of fields do not change.
struct FieldText {
  /// The text on one line, because JSON Lines has one line for each record.
  let json: [UInt8]
  /// The content of a string. For other fields, the JSON.
  let text: [UInt8]

  init(_ document: [UInt8], _ range: Range<Int>) {
    // In JSON, line breaks are only between tokens: a string has escapes.
    json = document[range].map { $0 == .newline || $0 == .carriageReturn ? .space : $0 }
    text =
      if case .string(let string) = JSONLookup.value(document.span, range) { string } else { json }
  }

  var cell: Cell {
    .value(
      text: String(decoding: text, as: UTF8.self),
      json: .verbatim(String(decoding: json, as: UTF8.self)),
      isNumber: json.first.map { $0.isDigit || $0 == UInt8(ascii: "-") } ?? false)
  }
}
