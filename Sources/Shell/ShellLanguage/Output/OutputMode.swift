package enum OutputMode: String, Sendable, CaseIterable {
  case auto, table, plain, json, jsonl, csv, raw, markdown

  /// Whether the answer to a change has sentences. In the other modes, the answer has rows.
  package var isForPerson: Bool { self == .table || self == .markdown }

  package var isStructured: Bool { [.json, .jsonl, .csv].contains(self) }

  /// Resolves `auto`: a terminal gets a table, a pipe gets plain output.
  package func resolved(isTerminal: Bool) -> OutputMode {
    self == .auto ? (isTerminal ? .table : .plain) : self
  }

  package var summary: String {
    switch self {
    case .auto: "table for a person, plain for a pipe"
    case .table: "aligned columns"
    case .plain: "a line for each row, fields separated by tabs; with -0 raw bytes and NUL"
    case .json: "one document for each command"
    case .jsonl: "an object on each line"
    case .csv: "RFC 4180, with a header"
    case .raw: "the bytes of a value, nothing added"
    case .markdown: "a table for a document"
    }
  }
}
