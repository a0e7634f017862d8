/// The form in which replies are written.
package enum OutputMode: String, Sendable, CaseIterable {
  case auto, table, plain, json, jsonl, csv, raw

  /// What `auto` stands for: a person gets words, a pipe gets data.
  package func resolved(isTerminal: Bool) -> OutputMode {
    self == .auto ? (isTerminal ? .table : .plain) : self
  }
}
