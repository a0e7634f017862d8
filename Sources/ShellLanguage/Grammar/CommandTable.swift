/// The commands, in the order in which help lists them.
package struct CommandTable: Sendable {
  package let commands: [CommandSpec]
  private let index: [String: Int]

  package init(_ commands: [CommandSpec]) {
    self.commands = commands
    var index: [String: Int] = [:]
    for (position, command) in commands.enumerated() {
      for name in [command.name] + command.aliases { index[name] = position }
    }
    self.index = index
  }

  /// By name or alias, whatever the case; never by an abbreviation, which a new command could take.
  package func command(named name: String) -> CommandSpec? {
    index[name.lowercased()].map { commands[$0] }
  }

  /// Names and aliases, names first.
  package var names: [String] { commands.map(\.name) + commands.flatMap(\.aliases) }

  /// The command that a word stands for, or the error that says what was meant.
  package func command(_ word: Word) throws(ShellError) -> CommandSpec {
    let name = word.bareText
    if let name, let command = command(named: name) { return command }
    let hint: SafeText =
      if let name {
        CommandSynonyms.answer(name, in: self) ?? Suggestions.question(name, among: names)
          ?? "help lists the commands"
      } else {
        "commands are written without quotes"
      }
    throw ShellError(
      .unknownCommand, "there is no command \(word.bytes)", at: word.range, hint: hint)
  }
}

/// Words that other tools use. They are no aliases, which would grow a second vocabulary, but the
/// answer names the command.
package enum CommandSynonyms {
  private static let meanings: [String: String] = [
    "scan": "keys",
    "select": "use",
    "dbsize": "count",
    "bigkeys": "sizes",
    "top": "sizes",
    "flushall": "clear",
    "flushdb": "clear",
    "drop": "clear",
    "pttl": "ttl",
    "find": "search",
    "vacuum": "compact",
    "fsck": "verify",
    "dump": "export",
    "load": "import",
    ".tables": "namespaces",
    ".mode": "output",
    ".help": "help",
  ]

  /// Nil for a word that no other tool is known for, or whose command the table lacks.
  package static func answer(_ word: String, in table: CommandTable) -> SafeText? {
    guard let command = meanings[word.lowercased()], table.command(named: command) != nil else {
      return nil
    }
    return "here it is \(command)   (help \(command))"
  }
}
