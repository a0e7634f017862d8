import ShellLanguage

/// What `option` sets.
enum ShellOption: String, CaseIterable {
  case color, pager, timing, confirm, utc, limit, hints

  var summary: String {
    switch self {
    case .color: "colours"
    case .pager: "answers longer than the screen go through a pager"
    case .timing: "each command says how long it took"
    case .confirm: "changes of what a pattern found are asked about"
    case .utc: "times are read and shown in UTC"
    case .limit: "how many rows a list shows at once: a number, or auto for what fits"
    case .hints: "what may come next is shown while one types"
    }
  }

  func value(in settings: Settings) -> String {
    switch self {
    case .color: settings.hasColor ? "on" : "off"
    case .pager: settings.usesPager ? "on" : "off"
    case .timing: settings.showsTiming ? "on" : "off"
    case .confirm: settings.answersYes ? "off" : "on"
    case .utc: settings.isUTC ? "on" : "off"
    case .limit: settings.rowLimit.map(String.init) ?? "auto"
    case .hints: settings.showsHints ? "on" : "off"
    }
  }

  func set(_ word: String, in settings: inout Settings) throws(ShellError) {
    switch self {
    case .color: settings.hasColor = try isOn(word)
    case .pager: settings.usesPager = try isOn(word)
    case .timing: settings.showsTiming = try isOn(word)
    case .confirm: settings.answersYes = try !isOn(word)
    case .utc: settings.isUTC = try isOn(word)
    case .hints: settings.showsHints = try isOn(word)
    case .limit:
      guard word != "auto" else {
        settings.rowLimit = nil
        return
      }
      guard let rows = Int(word), rows > 0 else {
        throw wrong(word, "say a number from 1, or auto")
      }
      settings.rowLimit = rows
    }
  }

  private func isOn(_ word: String) throws(ShellError) -> Bool {
    switch word {
    case "on", "yes", "true": true
    case "off", "no", "false": false
    default: throw wrong(word, "say on or off")
    }
  }

  private func wrong(_ word: String, _ hint: SafeText) -> ShellError {
    ShellError(.usage, "\(rawValue) cannot be \(Array(word.utf8))", hint: hint)
  }
}
