/// The form in which replies are written.
package enum OutputMode: String, Sendable, CaseIterable {
  case auto, table, plain, json, jsonl, csv, raw

  /// What `auto` stands for: a person gets words, a pipe gets data.
  package func resolved(isTerminal: Bool) -> OutputMode {
    self == .auto ? (isTerminal ? .table : .plain) : self
  }

  /// What it is for, in a few words.
  var summary: String {
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
