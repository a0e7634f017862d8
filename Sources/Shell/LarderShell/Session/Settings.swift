import Larder
package import ShellLanguage

package struct Settings {
  package var mode = OutputMode.auto
  package var isTerminal = false
  package var hasColor = false
  /// Whether the terminal can show box and block characters.
  package var hasUnicode = true
  package var endsWithNUL = false
  /// Whether bulk changes need no question, as with `larder --yes`.
  package var answersYes = false
  package var confirmsBulkChanges = true
  package var isQuiet = false
  package var usesPager = true
  package var showsTiming = false
  package var keepsHistory = true
  package var showsHints = true
  /// The number of rows of a list that a person sees. If nil, as many rows as fit the window, but at most 50.
  package var rowLimit: Int?
  /// Whether times are read and shown in UTC instead of the local zone.
  package var isUTC = false
  package var localZone = Zone.utc
  package var zone: Zone { isUTC ? .utc : localZone }

  package init() {}
}

enum ShellOption: String, CaseIterable {
  case color, pager, timing, confirm, utc, limit, hints, history, durability

  var facts: (summary: String, flag: WritableKeyPath<Settings, Bool>?) {
    switch self {
    case .color: ("colors", \.hasColor)
    case .pager: ("page answers longer than the screen", \.usesPager)
    case .timing: ("print the duration of each command", \.showsTiming)
    case .confirm: ("confirm changes selected by a pattern", \.confirmsBulkChanges)
    case .utc: ("read and show times in UTC", \.isUTC)
    case .limit: ("rows of a list that appear at once: a number, or auto for what fits", nil)
    case .hints: ("show hints while typing", \.showsHints)
    case .history: ("keep the lines typed at the prompt in a file", \.keepsHistory)
    case .durability: ("durable, checkpointed or scratch: what a power failure may lose", nil)
    }
  }

  func value(in session: Session) -> String {
    if let flag = facts.flag { return session.settings[keyPath: flag] ? "on" : "off" }
    if self == .durability { return session.store.durability.rawValue }
    return session.settings.rowLimit.map(String.init) ?? "auto"
  }

  func set(_ word: String, in session: Session) throws {
    if let flag = facts.flag {
      let isOn = ["on", "yes", "true"].contains(word)
      guard isOn || ["off", "no", "false"].contains(word) else {
        throw wrong(word, "use `on` or `off`")
      }
      session.settings[keyPath: flag] = isOn
    } else if self == .durability {
      try setDurability(word, in: session)
    } else if word == "auto" {
      session.settings.rowLimit = nil
    } else {
      guard let rows = Int(word), rows > 0 else {
        throw wrong(word, "use a number from 1, or `auto`")
      }
      session.settings.rowLimit = rows
    }
  }

  /// Sets the durability level of the store. The level applies to every process, so no other process may have the store open.
  private func setDurability(_ word: String, in session: Session) throws {
    guard let level = Durability(rawValue: word) else {
      let levels = Durability.allCases.map(\.rawValue)
      let all: SafeText = "use one of \(levels.joined(separator: ", "))"
      throw wrong(word, Suggestions.question(word, among: levels) ?? all)
    }
    guard !session.isReadOnly else { throw ShellError.readOnly("option durability") }
    try session.whileClosed { path, _ in try Store.change(durability: level, ofStoreAt: path) }
    try session.output.acknowledge(
      ["durability": .text(level.rawValue)], sentences: ["\(level.words)"])
  }

  private func wrong(_ word: String, _ hint: SafeText) -> ShellError {
    ShellError(.usage, "\(rawValue) cannot be \(Array(word.utf8))", hint: hint)
  }
}
