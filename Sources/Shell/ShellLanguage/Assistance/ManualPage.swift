/// The manual page of the program, `larder.1`, generated from the command table.
package struct ManualPage {
  private let table: CommandTable
  private var lines: [String] = []

  package init(_ table: CommandTable, version: String) {
    self.table = table
    lines.append(".TH LARDER 1 \"\" \"larder \(Self.escaped(version))\" \"User Commands\"")
    section("NAME", "larder - inspect and modify a Larder store")
    lines += [
      ".SH SYNOPSIS", ".B larder",
      "[\\fIoptions\\fR] \\fISTORE\\fR [\\fICOMMAND\\fR [\\fIWORD\\fR...]]",
    ]
    section(
      "DESCRIPTION",
      "A store is a cache on disk that any number of processes share. larder explores one at a prompt, runs commands from its arguments or files, and is a filter in a pipe.",
      "STORE is the directory of a store; $LARDER_STORE is the default for -e and -f.")
    lines.append(".SH OPTIONS")
    verbatim(DisplayWidth.wrapColumns(ProgramOptions.list, columns: 78))
    lines.append(".SH COMMANDS")
    for group in CommandSpec.Group.allCases { commands(of: group) }
    for topic in HelpTopic.all {
      lines.append(".SH \(topic.name.uppercased())")
      verbatim(topic.text)
    }
    section(
      "FILES",
      "$XDG_CONFIG_HOME/larder/rc holds commands that run when the prompt begins, such as output and option.",
      "$XDG_STATE_HOME/larder/history holds the lines typed at the prompt.")
    section(
      "ENVIRONMENT",
      "LARDER_STORE names the store. PAGER shows answers longer than the screen. NO_COLOR, if it is not empty, and TERM=dumb turn colors off. LARDER_HISTORY=off keeps no history. LANG and LC_ALL decide whether blocks and dashes can be drawn, TZ is the time zone."
    )
  }

  package var text: String { lines.joined(separator: "\n") + "\n" }

  private mutating func section(_ title: String, _ paragraphs: String...) {
    lines += [".SH \(title)", paragraphs.map(Self.escaped).joined(separator: "\n.PP\n")]
  }

  private mutating func commands(of group: CommandSpec.Group) {
    lines.append(".SS \(Self.escaped(group.rawValue))")
    for command in table.commands where command.group == group {
      lines += [".TP", ".B \(Self.escaped(command.usage))", Self.escaped(command.summary)]
      if !command.aliases.isEmpty {
        lines.append(Self.escaped("Also: \(command.aliases.joined(separator: ", "))."))
      }
      guard !command.ownOptions.isEmpty else { continue }
      lines.append(".RS")
      for option in command.ownOptions {
        lines += [".TP", ".B \(Self.escaped(option.usage))", Self.escaped(option.summary)]
      }
      lines.append(".RE")
    }
  }

  /// Shows a text that ends with a newline as it is.
  private mutating func verbatim(_ text: String) {
    let shown = text.split(separator: "\n", omittingEmptySubsequences: false).dropLast()
    lines += [".nf"] + shown.map { Self.escaped(String($0)) } + [".fi"]
  }

  /// Escapes text for the formatter of manual pages, so that a dash stays a dash and a leading period does not begin a request.
  package static func escaped(_ text: String) -> String {
    let result = text.unicodeScalars.map { scalar -> String in
      guard !scalar.isASCII else { return escapes[scalar] ?? String(scalar) }
      let digits = String(scalar.value, radix: 16, uppercase: true)
      return "\\[u" + String(repeating: "0", count: max(4 - digits.count, 0)) + digits + "]"
    }.joined()
    return result.hasPrefix(".") ? "\\&" + result : result
  }

  private static let escapes: [Unicode.Scalar: String] = [
    "\\": "\\e", "-": "\\-", "'": "\\(aq", "`": "\\(ga", "^": "\\(ha", "~": "\\(ti", "\"": "\\(dq",
  ]
}
