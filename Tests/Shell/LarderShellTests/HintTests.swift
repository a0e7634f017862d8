import Larder
import TestSupport
import Testing

@testable import LarderShell
@testable import ShellLanguage

/// Each command in a hint runs, with values in place of its placeholders.
@Suite struct HintTests {
  private func shell(_ lines: [String] = []) throws -> Shell {
    let shell = try Shell.filled(hasPerson: true)
    for line in ["use departures"] + lines { try shell(line) }
    return shell
  }

  /// The commands in a hint, with values instead of the placeholders.
  private func commands(_ hint: String) -> [String] {
    let values = [
      "N": "9", "SIZE": "1MB", "KEY": "\"Kiruna:05\"", "VALUE": "v", "NAME": "departures",
      "@NS": "@departures", "D": "1h", "EXPR": "true", "DIRECTORY": TemporaryDirectory.unusedPath,
    ]
    return hint.split(separator: "`", omittingEmptySubsequences: false).enumerated()
      .filter { $0.offset % 2 == 1 }
      .map { $0.element.split(separator: " ").map { values[String($0)] ?? String($0) } }
      .filter { $0.count > 1 && CommandTable.standard.command(named: $0[0]) != nil }
      .map { $0.joined(separator: " ") }
  }

  @Test(arguments: [
    ([], "flushall", "clear @*"), ([], "setnx a b", "set \"Kiruna:05\" v --if-absent"),
    ([], "where", "keys --where true"), ([], "keys -h", "help keys"),
    ([], "keys --output=json", "output json"), ([], "evict", "evict @*"),
    ([], "persist", "persist @*"), ([], "clear articles", "clear @articles"),
    ([], "get @articles zzz", "keys @articles"),
    ([], "evict @articles 0000", "evict @articles 0000*"),
    ([], "get @departures 'Malm\u{F6} C:1'", "keys @departures \"Malm\u{F6} C:\"*"),
    ([], "get @departures .train", "get @departures * .train"),
    ([], "evict articles", "evict @articles"), ([], "expire articles 1h", "expire @articles"),
    ([], "expire 2h @articles 000011", "expire @articles 000011 2h"),
    ([], "touch @articles 000011 2h", "touch @articles 000011 --ttl 2h"),
    ([], "purge articles --dry-run", "purge @articles --dry-run"),
    (["set e v --until 2020-01-01"], "get e", "keys @departures --expired"),
    (
      ["limits @articles --entries 3 --policy refuse"], "set @articles x y",
      "limits @articles --entries 9"
    ),
    (
      ["limits @articles --entry-size 3B"], "set @articles x long",
      "limits @articles --entry-size 1MB"
    ),
    ([], "browse", "keys @*"),
  ])
  func `the command of a hint runs`(setup: [String], line: String, command: String) throws {
    let shell = try shell(setup)
    let hint = try #require(try shell.error(line).hint?.description)
    let shown = commands(hint)
    #expect(shown.first == command, "\(hint)")
    for command in shown where !command.hasPrefix("expire @articles") || command.hasSuffix("h") {
      try shell(command)
    }
  }

  @Test(arguments: ["a\"b c\"", "caf\u{E9}\"x\"y", "a'b c'd", "\u{4E2D}\u{6587}\", b"])
  func `a word in which a quote opens is written as its hint shows`(word: String) throws {
    let shell = try Shell(.plain)
    let hint = try #require(try shell.error("set @x k \(word)").hint?.description)
    guard hint.hasPrefix("write ") else {
      // The quote has no end, or would end the word.
      return #expect(hint == "quote the whole word")
    }
    try shell("set @x k \(hint.dropFirst(6))")
    #expect(try shell("get @x k") == word + "\n" || shell("get @x k") == "\n\(word)\n")
  }
}
