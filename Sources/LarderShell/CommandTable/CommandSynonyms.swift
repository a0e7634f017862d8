/// Words that other tools use. They are no aliases, which would grow a second vocabulary, but the
/// answer names the command.
enum CommandSynonyms {
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
  static func answer(_ word: String, in table: CommandTable) -> SafeText? {
    guard let command = meanings[word.lowercased()], table.command(named: command) != nil else {
      return nil
    }
    return "here it is \(command)   (help \(command))"
  }
}
