import Larder
import TestSupport
import Testing

@testable import LarderShell
@testable import ShellLanguage

/// Tables in windows that are too narrow for them.
@Suite struct NarrowTableTests {
  private func shell(_ mode: OutputMode, _ width: Int, _ keys: [[UInt8]]) throws -> Shell {
    let shell = try Shell(mode) { $0.isTerminal = true }
    shell.window = LarderShell.Host.Window(columns: width, rows: 24)
    for key in keys { try shell.store.namespace("n").set("value", for: key) }
    return shell
  }

  @Test(arguments: [20, 30, 40, 44])
  func `no name is cut below 45 columns`(width: Int) throws {
    let keys = (1...3).map { bytes("a-long/path/of/directories/to/the/file/number-\($0)") }
    let answer = try shell(.table, width, keys)("keys @n")
    for key in keys { #expect(answer.contains(Quoting.quoted(key)), "\(answer)") }
  }

  @Test(arguments: [50, 60, 80])
  func `a table fits its window, and no two rows read the same`(width: Int) throws {
    let pad = String(repeating: "p", count: 30)
    let alike = (1...3).map { bytes("\(pad)\($0)\(pad)") }
    let rows = try shell(.table, width, alike)("keys @n").split(separator: "\n")
    #expect(Set(rows.filter { $0.contains("\"") }).count == 3, "\(rows)")
    let apart = (1...3).map { bytes("\($0)\(pad)\(pad)") }
    for row in try shell(.table, width, apart)("keys @n").split(separator: "\n") {
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

  @Test(arguments: [OutputMode.table, .markdown])
  func `the running total is a share wherever it has a title`(mode: OutputMode) throws {
    let shell = try shell(mode, 120, [[1], [2]])
    #expect(try shell("sizes @n --by key").contains("100 %"))
  }
}
