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
    for (name, table) in [("commands", Self.commands), ("exit codes", Self.exitCodes)] {
      let start = try #require(lines.firstIndex(of: "<!-- \(name) -->"))
      let end = try #require(lines[start...].firstIndex(of: "<!-- end -->"))
      lines.replaceSubrange(start + 1..<end, with: table)
    }
    try expect(lines.joined(separator: "\n"), recordedIn: Self.url)
  }

  private static var commands: [String] {
    CommandSpec.Group.allCases.flatMap { group -> [String] in
      return ["", "**\(group.rawValue)**", "", "| Command | Also | |", "| --- | --- | --- |"]
        + CommandTable.standard.commands.filter { $0.group == group }.map { command in
          // The table in the document omits the options, because `help COMMAND` lists the options.
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
        let asked = shell.questions.count
        let command = String(line.dropFirst(prompt.count))
        let answer = try shell.shown(command, promptWidth: prompt.count)
        result += [line] + shell.questions.dropFirst(asked).map { $0 + " [y/N] y" }
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

/// The text that a terminal of a certain width receives, with the bytes of its colors. With `RECORD` set, the tests write the
/// answers to the files. A person must read the files before a commit.
@Suite struct WidthTests {
  private static let commands = [
    "namespaces", "keys @lego.parts", "keys @lego.part_colors --long",
    "keys @sets --show .name,.year --sort .year", "get @sets \"75-1\"", "info @sets \"75-1\"",
    "sizes @*", "limits @sets", "plot sizes @*", "count @sets --by .year", "search castle @*",
    "output markdown", "keys @sets --limit 1", "output table", "help keys", "help where",
    "expire @sets \"75-1\" 1mo",
    "get @sets \"74-1\"", "keys @sets --where '.year >= and .name ~ \"a\" and .year < 2000'",
    "kesy", "evict @sets", "limits @sets --entries 5000 --bytes 10kB", "stats @sets", "namespaces",
  ]

  private func shell(_ width: Int) throws -> Shell {
    let shell = try Shell { $0.hasColor = true }
    shell.window = (columns: width, rows: 24)
    for number in 1...3 {
      try shell.store.namespace("lego.parts").set(
        String(repeating: "p", count: 40 * number),
        for: "part/with/a/long/name/and/number/\(number)")
      try shell.store.namespace("lego.part_colors").set(
        "color", for: "\u{8272}\u{5F69}\(number)", expires: .after(.hours(number)))
    }
    let sets = shell.store.namespace("sets")
    let names = ["Cinderella's Castle", "Hogwarts\u{2122} Castle", "\u{57CE}"]
    for (number, name) in names.enumerated() {
      try sets.set(
        "{\"name\":\"\(name)\",\"year\":\(2018 - number),\"tags\":[\"castle\",null,true],\"parts\":{\"plates\":\(number * 1000)}}",
        for: "7\(5 + number)-1", expires: .after(.hours(21)))
    }
    return shell
  }

  @Test(arguments: [40, 80, 120]) func `answers fit the window`(width: Int) throws {
    let shell = try shell(width)
    var text = ""
    for command in Self.commands {
      text += "larder> \(command)\n"
      var answer = try shell.shown(command, promptWidth: 8, columns: width)
      // Skips Markdown output, because its lines are for documents and may be longer than the terminal is wide.
      if !command.hasPrefix("output") {
        for line in answer.split(separator: "\n") where shell.session.settings.mode != .markdown {
          #expect(DisplayWidth.of(Frame.plain(String(line))) <= width, "\(command): \(line)")
        }
      }
      answer = answer.replacing("\u{1B}", with: "\\e")
      text += answer + shell.takeAside().map { "? \($0)\n" }.joined() + "\n"
    }
    try expect(text, recordedIn: Repository.root.appending(path: "Tests/Shell/Widths/\(width).txt"))
  }
}

@Suite struct NarrowTableTests {
  private func shell(_ width: Int, _ keys: [[UInt8]]) throws -> Shell {
    let shell = try Shell()
    shell.window = (columns: width, rows: 24)
    for key in keys { try shell.store.namespace("n").set("value", for: key) }
    return shell
  }

  @Test(arguments: [20, 30, 40, 44]) func `no name is cut below 45 columns`(width: Int) throws {
    let keys = (1...3).map { bytes("a-long/path/of/directories/to/the/file/number-\($0)") }
    let answer = try shell(width, keys)("keys @n")
    for key in keys { #expect(answer.contains(Quoting.quoted(key)), "\(answer)") }
  }

  @Test(arguments: [50, 60, 80])
  func `a table fits its window, and no two rows read the same`(width: Int) throws {
    let pad = String(repeating: "p", count: 30)
    let alike = (1...3).map { bytes("\(pad)\($0)\(pad)") }
    let rows = try shell(width, alike)("keys @n").split(separator: "\n")
    #expect(Set(rows.filter { $0.contains("\"") }).count == 3, "\(rows)")
    let apart = (1...3).map { bytes("\($0)\(pad)\(pad)") }
    for row in try shell(width, apart)("keys @n").split(separator: "\n") {
      #expect(DisplayWidth.of(row) <= width, "\(row)")
    }
  }

  @Test(arguments: [#"\x1b"#, #"\u{202e}"#, #"\n"#, #"\\"#, #"\u001b"#])
  func `no cut falls inside an escape`(escape: String) {
    let text = "a" + String(repeating: escape, count: 12) + "b"
    for width in 5..<DisplayWidth.of(text) {
      for cut in [
        DisplayWidth.fitEnds(text, to: width, mark: "~"),
        DisplayWidth.fit(text, to: width, mark: "~"),
      ] {
        #expect(DisplayWidth.of(cut) <= width)
        #expect(["a~", "a~b"].contains(cut.replacing(escape, with: "")), "\(cut)")
      }
    }
  }
}
