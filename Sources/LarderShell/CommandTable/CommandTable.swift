/// The commands, in the order in which help lists them.
package struct CommandTable: Sendable {
  package let commands: [CommandSpec]
  private let index: [String: Int]

  init(_ commands: [CommandSpec]) {
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
  var names: [String] { commands.map(\.name) + commands.flatMap(\.aliases) }

  /// The command that a word stands for, or the error that says what was meant.
  func command(_ word: Word) throws(ShellError) -> CommandSpec {
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
