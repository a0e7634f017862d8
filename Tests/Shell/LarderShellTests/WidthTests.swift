import Foundation
import Larder
import TestSupport
import Testing

@testable import LarderShell
@testable import ShellLanguage

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

  private static func file(_ width: Int) -> URL {
    Repository.root.appending(path: "Tests/Shell/Widths/\(width).txt")
  }

  private func shell(_ width: Int) throws -> Shell {
    let shell = try Shell { $0.hasColor = true }
    shell.window = LarderShell.Host.Window(columns: width, rows: 24)
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
      // Skips Markdown: its lines are for documents, and may be longer.
      if !command.hasPrefix("output") {
        let isDocument = shell.session.settings.mode == .markdown
        for line in answer.split(separator: "\n") where !isDocument {
          #expect(DisplayWidth.of(Frame.plain(String(line))) <= width, "\(command): \(line)")
        }
      }
      answer = answer.replacing("\u{1B}", with: "\\e")
      text += answer + shell.takeAside().map { "? \($0)\n" }.joined() + "\n"
    }
    try expect(text, recordedIn: Self.file(width))
  }
}

/// Tables in windows that are too narrow for all columns.
@Suite struct NarrowTableTests {
  private func shell(_ width: Int, _ keys: [[UInt8]]) throws -> Shell {
    let shell = try Shell()
    shell.window = LarderShell.Host.Window(columns: width, rows: 24)
    for key in keys { try shell.store.namespace("n").set("value", for: key) }
    return shell
  }

  @Test(arguments: [20, 30, 40, 44])
  func `no name is cut below 45 columns`(width: Int) throws {
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
