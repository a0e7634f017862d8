/// The commands, in the order in which help lists them.
package struct CommandTable: Sendable {
  package let commands: [CommandSpec]

  package init(_ commands: [CommandSpec]) { self.commands = commands }

  /// Finds a command by its name or alias, in any case. Abbreviations find nothing: a new command could make them ambiguous.
  package func command(named name: String) -> CommandSpec? {
    let name = name.lowercased()
    return commands.first { $0.name == name || $0.aliases.contains(name) }
  }

  package var names: [String] { commands.map(\.name) + commands.flatMap(\.aliases) }

  /// The command that a word names; for an unknown word, throws an error with a suggestion.
  func command(_ word: Word, argumentCount: Int) throws(ShellError) -> CommandSpec {
    let name = word.bareText
    if let name, let command = command(named: name) { return command }
    let hint: SafeText =
      if let name {
        CommandSynonyms.hint(name, argumentCount: argumentCount)
          ?? Suggestions.question(name, among: names) ?? "`help` lists the commands"
      } else {
        "commands are written without quotes"
      }
    throw ShellError(.unknownCommand, "unknown command \(word.bytes)", at: word.range, hint: hint)
  }
}

/// Commands of other tools. These names only give hints and are no aliases, so that each command of the shell has one name.
enum CommandSynonyms {
  private static let equivalents: [String: String] = [
    "scan": "keys", "select": "use", "dbsize": "count", "bigkeys": "sizes", "top": "sizes",
    "flushall": "clear @*", "flushdb": "clear", "drop": "clear", "truncate": "clear",
    "mv": "rename", "pttl": "ttl", "find": "search", "vacuum": "compact", "fsck": "verify",
    "dump": "export", "load": "import", "cat": "get", ".tables": "namespaces",
    ".mode": "output", ".help": "help", ".dump": "export", ".quit": "quit", ".exit": "quit",
    ".schema": "info", ".databases": "namespaces", "describe": "info", "desc": "info",
    "flush": "clear", "delete-all": "clear @*", "unlink": "evict", "remove": "evict",
    "setex": "set KEY VALUE --ttl D", "psetex": "set KEY VALUE --ttl D",
    "setnx": "set KEY VALUE --if-absent", "mget": "get", "mset": "set", "strlen": "info",
    "pexpire": "expire", "expireat": "expire", "pexpireat": "expire", "object": "info",
    "type": "info", "memory": "sizes", "config": "limits", "dir": "namespaces",
    "backup": "compact --to DIRECTORY", "restore": "import", "tail": "watch", "vi": "edit",
    "nano": "edit", "where": "keys --where EXPR", "clean": "purge", "gc": "purge",
    "tree": "sizes", "largest": "sizes --by key", "biggest": "sizes --by key",
  ]

  static func hint(_ word: String, argumentCount: Int = 0) -> SafeText? {
    let word = word.lowercased()
    // In SQL, `select * from t` asks for rows: the hint is `keys`. In Redis, `select 1` chooses a database: the hint is `use`.
    let command = word == "select" && argumentCount > 1 ? "keys" : equivalents[word]
    return command.map { "the equivalent command is `\($0)`" }
  }
}
