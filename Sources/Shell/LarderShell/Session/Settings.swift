import Larder
package import ShellLanguage

/// How a session reads commands and writes answers.
package struct Settings {
  package var mode = OutputMode.auto
  /// Answers go to a terminal.
  package var isTerminal = false
  package var hasColor = false
  /// Box and block characters can be drawn.
  package var hasUnicode = true
  /// NUL ends each key.
  package var endsWithNUL = false
  /// Every bulk change is confirmed: `larder --yes`.
  package var answersYes = false
  /// A person at the prompt is asked before a bulk change.
  package var confirmsBulkChanges = true
  /// Changes are not acknowledged.
  package var isQuiet = false
  /// Answers longer than the screen go through a pager.
  package var usesPager = true
  /// The duration of each command is printed.
  package var showsTiming = false
  /// Lines typed at the prompt are kept in the history file.
  package var keepsHistory = true
  /// Hints appear behind the line while a person types.
  package var showsHints = true
  /// The rows of a list that appear at once; nil for what fits the window.
  package var rowLimit: Int?
  /// Times are read and shown in UTC instead of the local zone.
  package var isUTC = false
  /// The time zone of this computer.
  package var localZone = Zone.utc
  package var zone: Zone { isUTC ? .utc : localZone }

  package init() {}
}

/// The settings that `option` shows and changes.
enum ShellOption: String, CaseIterable {
  case color, pager, timing, confirm, utc, limit, hints, history, durability

  var summary: String {
    switch self {
    case .color: "colors"
    case .pager: "page answers longer than the screen"
    case .timing: "print the duration of each command"
    case .confirm: "confirm changes selected by a pattern"
    case .utc: "read and show times in UTC"
    case .limit: "rows of a list that appear at once: a number, or auto for what fits"
    case .hints: "show hints while typing"
    case .history: "keep the lines typed at the prompt in a file"
    case .durability: "durable, checkpointed or scratch: what a power failure may lose"
    }
  }

  func value(in session: Session) -> String {
    let settings = session.settings
    return switch self {
    case .color: word(settings.hasColor)
    case .pager: word(settings.usesPager)
    case .timing: word(settings.showsTiming)
    case .confirm: word(settings.confirmsBulkChanges)
    case .utc: word(settings.isUTC)
    case .limit: settings.rowLimit.map(String.init) ?? "auto"
    case .hints: word(settings.showsHints)
    case .history: word(settings.keepsHistory)
    case .durability: session.store.durability.rawValue
    }
  }

  func set(_ word: String, in session: Session) throws {
    switch self {
    case .color: session.settings.hasColor = try isOn(word)
    case .pager: session.settings.usesPager = try isOn(word)
    case .timing: session.settings.showsTiming = try isOn(word)
    case .confirm: session.settings.confirmsBulkChanges = try isOn(word)
    case .utc: session.settings.isUTC = try isOn(word)
    case .hints: session.settings.showsHints = try isOn(word)
    case .history: session.settings.keepsHistory = try isOn(word)
    case .durability: try setDurability(word, in: session)
    case .limit:
      guard word != "auto" else {
        session.settings.rowLimit = nil
        return
      }
      guard let rows = Int(word), rows > 0 else {
        throw wrong(word, "use a number from 1, or `auto`")
      }
      session.settings.rowLimit = rows
    }
  }

  /// The level is a property of the store, so it changes for every process; none may have it open.
  private func setDurability(_ word: String, in session: Session) throws {
    guard let level = Durability(rawValue: word) else {
      let levels = Durability.allCases.map(\.rawValue).joined(separator: ", ")
      throw wrong(
        word,
        Suggestions.question(word, among: Durability.allCases.map(\.rawValue))
          ?? "use one of \(levels)")
    }
    guard !session.isReadOnly else { throw ShellError.readOnly("option durability") }
    try session.whileClosed { path, _ in try Store.change(durability: level, ofStoreAt: path) }
    try session.output.acknowledge(
      Reply(
        ["durability": .text(level.rawValue)], sentences: ["\(level.words)"]))
  }

  private func word(_ isOn: Bool) -> String { isOn ? "on" : "off" }

  private func isOn(_ word: String) throws(ShellError) -> Bool {
    switch word {
    case "on", "yes", "true": true
    case "off", "no", "false": false
    default: throw wrong(word, "use `on` or `off`")
    }
  }

  private func wrong(_ word: String, _ hint: SafeText) -> ShellError {
    ShellError(.usage, "\(rawValue) cannot be \(Array(word.utf8))", hint: hint)
  }
}
