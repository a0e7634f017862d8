import Foundation
import TestSupport
import Testing

extension LineEditorTests {
  /// This test has found that libedit 3.1-20221030 left out the rest of a wrapped line on the screen.
  @Test(arguments: ["xterm-256color", "screen-256color", "tmux-256color", "linux"])
  func `the screen shows a line that wraps as it is edited`(term: String) throws {
    var generator = SeededRNG()
    let columns = 20
    let session = try TerminalSession(environment: ["TERM": term], columns: columns)
    var model = EditedText(letters: Array("abcdefghijklmnopqrstuvwxyz\u{E5}\u{F6}"))
    for step in 1...500 {
      let keys = model.edit(using: &generator)
      try session.type(keys)
      let all = Array("probe> ") + model.text
      let rows = stride(from: 0, to: all.count, by: columns).map {
        String(all[$0..<min($0 + columns, all.count)])
      }
      let wanted = rows.last == "probe> " ? ["probe>"] : rows
      let (row, column) = (7 + model.cursor).quotientAndRemainder(dividingBy: columns)
      let isRight = session.terminal.shows(within: .seconds(20)) {
        $0.lines == wanted && $0.row == row && $0.column == column
      }
      guard isRight else {
        session.expect(
          "LARDER_SEED=\(generator.seed), step \(step), after \(keys.debugDescription): \(wanted)"
        ) {
          _ in false
        }
        return
      }
    }
    #expect(session.screen.unknown.isEmpty)
  }

  @Test func `a line of every width is what was edited`() throws {
    var generator = SeededRNG()
    let home = TemporaryDirectory()
    let session = try TerminalSession(home: home, columns: 20)
    var model = EditedText(letters: Array("ab\u{E5}\u{65E5}\u{672C}\u{1F682}"))
    for _ in 0..<300 { try session.type(model.edit(using: &generator)) }
    try session.type("\u{5}.\r").expect("an answer") { $0.line == "probe>" && $0.row > 0 }
    let kept = try String(
      contentsOfFile: home.path + "/.local/state/larder/history", encoding: .utf8)
    #expect(kept == String(model.text) + ".\n", "LARDER_SEED=\(generator.seed)")
  }
}

/// The line that the keys typed so far make.
private struct EditedText {
  let letters: [Character]
  private(set) var text: [Character] = []
  private(set) var cursor = 0

  init(letters: [Character]) { self.letters = letters }

  /// Makes one random change of the text, and returns its keys.
  mutating func edit(using generator: inout SeededRNG) -> String {
    switch Int.random(in: 0..<20, using: &generator) {
    case 0..<9 where text.count < 120:
      let letter = letters.randomElement(using: &generator)!
      text.insert(letter, at: cursor)
      cursor += 1
      return String(letter)
    case 9..<12 where cursor > 0:
      cursor -= 1
      text.remove(at: cursor)
      return "\u{7F}"
    case 12..<14 where cursor < text.count:
      text.remove(at: cursor)
      return "\u{1B}[3~"
    case 14..<16 where cursor > 0:
      cursor -= 1
      return "\u{1B}[D"
    case 16 where cursor < text.count:
      cursor += 1
      return "\u{1B}[C"
    case 17:
      cursor = 0
      return "\u{1B}[H"
    case 18 where Int.random(in: 0..<8, using: &generator) == 0:
      text.removeSubrange(cursor...)
      return "\u{B}"
    default:
      cursor = text.count
      return "\u{1B}[F"
    }
  }
}

extension LineEditorTests {
  /// Terminals treat long rows differently at a new width, so the probe asks for the position of the cursor.
  @Test(arguments: [false, true])
  func `nothing stays behind when the window changes its width`(wrapsAgain: Bool) throws {
    let session = try TerminalSession(columns: 40)
    session.terminal.screen.wrapsAgain = wrapsAgain
    let text = String(repeating: "abcdefghij", count: 5)
    try session.type("first\r" + text)
    session.expect("two rows") { $0.lines.suffix(2).joined() == "probe> " + text }
    for columns in [25, 33, 60, 20, 50] {
      session.terminal.resize(columns: columns, rows: 24)
      let rows = ("probe> " + text).count / columns + 1
      session.expect("\(columns) columns") {
        $0.lines.dropLast(rows) == ["probe> first", "=first"]
          && $0.lines.suffix(rows).joined() == "probe> " + text
      }
    }
    try session.type("k\r").expect("the answer") { $0.lines.contains { $0.hasPrefix("=abc") } }
  }
}
