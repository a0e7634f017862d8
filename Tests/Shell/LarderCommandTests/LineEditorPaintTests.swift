import Foundation
import TestSupport
import Testing

/// The colors that the editor draws over the line of libedit. The probe shows digits in magenta.
@Suite(.serialized, .timeLimit(.minutes(20))) struct LineEditorPaintTests {
  @Test func `parts of the line have colors, which go with their text and change no text`() throws {
    let session = try TerminalSession()
    try session.type("ab12c").expect("colored digits") {
      $0.line == "probe> ab12c" && $0.rendition(of: "12") == "35" && $0.column == 12
    }
    #expect(session.screen.rendition(of: "ab") == "")
    #expect(session.screen.rendition(of: "c") == "")
    try session.type("\u{1}\u{1B}[3~x\r")
    session.expect("the answer") { $0.lines.suffix(2) == ["=xb12c", "probe>"] }
    try session.type("a1\u{1B}[D")
    session.expect("a digit") { $0.rendition(of: "1") == "35" && $0.column == 8 }
    try session.type("\u{1B}[3~z")
    session.expect("no digit") { $0.line == "probe> az" && $0.rendition(of: "z") == "" }
  }

  @Test func `a full row keeps its place, and a line that wraps is painted in its rows`() throws {
    let session = try TerminalSession(columns: 20)
    try session.type("abcdefghijkl1").expect("a full row") { $0.lines[0] == "probe> abcdefghijkl1" }
    try session.type("2\u{7F}\u{7F}x\r").expect(answer: "abcdefghijklx")
    try session.type("\u{C}abcdefghijkl34567890z").expect("the second row") {
      $0.lines == ["probe> abcdefghijkl3", "4567890z"] && $0.rendition(of: "4567") == "35"
        && $0.rendition(of: "3", in: 0) == "35"
    }
    try session.type("\u{1}")
    session.expect("the cursor at the beginning") { $0.row == 0 && $0.column == 7 }
    try session.type("\u{5}\u{7F}\u{7F}\r").expect(answer: "abcdefghijkl3456789")
  }
}

/// Keys move over whole visible characters and delete whole visible characters.
@Suite(.serialized, .timeLimit(.minutes(20))) struct LineEditorClusterTests {
  /// `family`: an emoji of three persons, joined by U+200D. `accented`: an `e` with a combining accent.
  private static let family = "\u{1F469}\u{200D}\u{1F469}\u{200D}\u{1F466}"
  private static let accented = "e\u{301}"

  @Test(arguments: [family, accented, "\u{1F1F8}\u{1F1EA}", "\u{1F44D}\u{1F3FD}"])
  func `a character of several scalars is deleted as one`(character: String) throws {
    let session = try TerminalSession()
    try session.type("a\(character)\u{7F}b\r").expect(answer: "ab")
    try session.type("a\(character)z\u{1B}[D\u{1B}[D\u{1B}[3~\r").expect(answer: "az")
    try session.type("c\(character)\u{2}\u{4}\r").expect(answer: "c")
    try session.type("d\(character)\u{1B}[D\u{1B}[Ck\u{2}\u{2}x\r")
    session.expect(answer: "dx\(character)k")
  }

  @Test(arguments: [[:], ["NO_COLOR": "1"]])
  func `no text stays behind beside joined characters`(environment: [String: String]) throws {
    let session = try TerminalSession(environment: environment)
    let shown = "\u{1F469}\u{1F469}\u{1F466}"
    try session.type("a\(Self.family)b\(Self.accented)c")
    session.expect("the line") { $0.line == "probe> a\(shown)b\(Self.accented)c" }
    try session.type("\u{2}\u{2}\u{7F}1").expect("a change") {
      $0.line == "probe> a\(shown)1\(Self.accented)c" && $0.column == 15
    }
    try session.type("\u{2}\u{7F}").expect("no joined ones") {
      $0.line == "probe> a1\(Self.accented)c" && $0.column == 8
    }
    try session.type("\u{1}\u{4}\r").expect(answer: "1\(Self.accented)c")
  }

  @Test func `^W deletes a word with its marks`() throws {
    let session = try TerminalSession()
    try session.type("keys r\(Self.accented)sum\(Self.accented)\u{17}x\r").expect(answer: "keys x")
    try session.type("a.b  \u{17}\u{17}c\r").expect(answer: "c")
  }

  @Test func `random keys and the arrows never split a character`() throws {
    // The terminal is so wide that the line stays in one row, where the test can compare the line.
    let session = try TerminalSession(columns: 600)
    var random = SeededRNG()
    var model = EditedText(letters: ["a", Character(Self.accented), Character(Self.family), "z"])
    let typed = (0..<200).map { _ in model.edit(using: &random) }.joined()
    try session.type(typed + "\u{5}.\r")
    let wanted = "=" + String(model.text) + "."
    session.expect("LARDER_SEED=\(random.seed): \(wanted)") {
      $0.lines.contains { $0.unicodeScalars.elementsEqual(wanted.unicodeScalars) }
    }
  }
}

extension LineEditorTests {
  /// In libedit 3.1-20221030, the rest of a wrapped line was missing on the screen. This test found that fault.
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
        ) { _ in false }
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

/// The line that results from the keys typed so far.
private struct EditedText {
  let letters: [Character]
  private(set) var text: [Character] = []
  private(set) var cursor = 0

  init(letters: [Character]) { self.letters = letters }

  /// Makes one random change of the text. Returns the keys that make this change.
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
  /// At a new width, some terminals wrap long rows again and others do not, so the probe asks for the position of the cursor.
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
