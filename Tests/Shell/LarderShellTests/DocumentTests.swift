import Foundation
import Larder
import TestSupport
import Testing

@testable import LarderShell
@testable import ShellLanguage

/// Checks `Docs/Use/Shell.md`. With `RECORD` set, the tests rewrite the page. A person must read the page before a commit.
@Suite(.serialized) struct DocumentTests {
  private static let url = Repository.root.appending(path: "Docs/Use/Shell.md")

  private let text: String

  init() throws { text = try String(contentsOf: Self.url, encoding: .utf8) }

  @Test func `the tables are those of the commands and the exit codes`() throws {
    var lines = text.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
    let tables = [("commands", Self.commands), ("exit codes", Self.exitCodes)]
    for (name, table) in tables {
      let start = try #require(lines.firstIndex(of: "<!-- \(name) -->"))
      let end = try #require(lines[start...].firstIndex(of: "<!-- end -->"))
      lines.replaceSubrange(start + 1..<end, with: table)
    }
    try expect(lines.joined(separator: "\n"), recordedIn: Self.url)
  }

  private static var commands: [String] {
    CommandSpec.Group.allCases.flatMap { group -> [String] in
      let commands = CommandTable.standard.commands.filter { $0.group == group }
      return ["", "**\(group.rawValue)**", "", "| Command | Also | |", "| --- | --- | --- |"]
        + commands.map { command in
          // The table has no options, because `help COMMAND` lists the options.
          let words = [command.name] + command.argumentUsage.dropLast(command.ownOptions.count)
          let usage = words.joined(separator: " ").replacingOccurrences(of: "|", with: "\\|")
          let aliases = command.aliases.map { "`\($0)`" }.joined(separator: " ")
          return "| `\(usage)` | \(aliases) | \(command.summary) |"
        }
    } + [""]
  }

  private static var exitCodes: [String] {
    ["", "| Exit code | Meaning | JSON `code` |", "| --- | --- | --- |"]
      + ExitCode.all.map { exit in
        let codes = exit.errors.map { "`\($0.rawValue)`" }.joined(separator: " ")
        return "| \(exit.code) | \(exit.meaning) | \(codes) |"
      } + [""]
  }

  /// One shell runs all sessions of the document, one after the other.
  @Test func `the sessions at the prompt answer as they are shown`() throws {
    let shell = try Shell(hasPerson: true)
    try shell.fillStation()
    var result: [String] = []
    var isSession = false
    var isAnswer = false
    for line in text.split(separator: "\n", omittingEmptySubsequences: false).map(String.init) {
      if line.hasPrefix("```") {
        isSession = line == "```larder"
        isAnswer = false
        result.append(line)
        continue
      }
      let prompt = shell.session.promptName + "> "
      if isSession, line.hasPrefix(prompt) {
        isAnswer = true
        result.append(line)
        let answer = try shell.answer(to: String(line.dropFirst(prompt.count)), behind: prompt)
        result += answer.split(separator: "\n", omittingEmptySubsequences: false).dropLast()
          .map(String.init)
      } else if !isAnswer {
        result.append(line)
      }
    }
    try expect(result.joined(separator: "\n"), recordedIn: Self.url)
  }
}

extension Shell {
  /// The text that a person would see below a line at the prompt.
  fileprivate func answer(to line: String, behind prompt: String) throws -> String {
    let asked = questions.count
    let answer = try shown(line, promptWidth: prompt.count)
    return questions.dropFirst(asked).map { $0 + " [y/N] y\n" }.joined() + answer
  }

  /// The store of the document: the departures of two stations, articles and a picture.
  fileprivate func fillStation() throws {
    let departures = store.namespace("departures")
    for number in 1...40 {
      let key = "Malm\u{F6} C:" + (number < 10 ? "0" : "") + "\(number)"
      let value =
        "{\"train\":\(300 + number),\"to\":\"\(number.isMultiple(of: 3) ? "Kiruna" : "Lund")\",\"track\":\(number % 8 + 1)}"
      try departures.set(value, for: key, expires: .after(.minutes(number)))
    }
    for number in 1...8 {
      try departures.set(
        "{\"train\":\(90 + number)}", for: "Kiruna:0\(number)", expires: .after(.hours(number)))
    }
    let articles = store.namespace("articles")
    for number in 11...25 {
      try articles.set(String(repeating: "news ", count: number * 20), for: "0000\(number)")
    }
    let png: [UInt8] = [
      0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A, 0, 0, 0, 13, 73, 72, 68, 82,
    ]
    try store.namespace("thumbs").set(png, for: "0113")
    clock.advance(by: .seconds(90))
  }
}
