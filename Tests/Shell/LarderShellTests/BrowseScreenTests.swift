import Larder
import TestSupport
import Testing

@testable import LarderShell
@testable import ShellLanguage

extension Frame {
  /// The text of a row without the blanks at its end.
  fileprivate func text(of row: Int) -> String {
    var text = cells[row * columns..<(row + 1) * columns].map(\.text).joined()
    while text.last == " " { text.removeLast() }
    return text
  }

  fileprivate func rendition(at row: Int, _ column: Int) -> String {
    cells[row * columns + column].rendition
  }
}

@Suite struct BrowseScreenTests {
  private func frame(_ state: BrowseState, hasColor: Bool = false) -> Frame {
    BrowseScreen(
      state,
      for: Presentation(
        .table, isTerminal: true, width: state.size.columns, hasColor: hasColor, clock: stockholm)
    ).frame
  }

  private func lines(_ frame: Frame) -> [String] { (0..<frame.rows).map(frame.text) }

  @Test func `a window of 80 columns has three panes`() {
    let shown = lines(frame(browseState()))
    #expect(
      shown[0].hasPrefix(" store   ")
        && shown[0].hasSuffix("2 namespaces  101 entries  5 kB  \u{25CF} live"))
    #expect(shown[1].hasPrefix("\u{250C} namespaces \u{2500}\u{2500}\u{252C} a \u{2500}"))
    #expect(shown[1].contains("\u{252C} \"00\" \u{2500}") && shown[1].hasSuffix("\u{2510}"))
    #expect(shown[1...8].allSatisfy { DisplayWidth.of($0) == 80 })
    #expect(shown[2].contains("\u{25B8}\"00\"") && shown[2].contains("0 B  never"))
    #expect(shown[8].contains(" 1 of 100 "))
    #expect(
      shown[9]
        == " / filter  \u{23CE} value  s sort  w where  e expire  d evict  p pin  y copy  ? help")
    let colored = frame(browseState(), hasColor: true)
    #expect(
      colored.rendition(at: 2, colored.columns / 4 + 1) != "" || colored.rendition(at: 1, 2) != "")
  }

  @Test func `a narrow window has one pane, and a tiny one asks for room`() {
    var state = browseState(columns: 50)
    #expect(lines(frame(state))[1].hasPrefix("\u{250C} a \u{2500}"))
    state.take(.tab)
    #expect(lines(frame(state))[1].contains("\"00\""))
    state.size = (columns: 39, rows: 24)
    #expect(lines(frame(state))[1] == "40x10 at least; q leaves")
    let (first, second) = (state.take(.text("d")), state.take(.text("q")))
    #expect(first == nil && state.question == nil && second == .leave)
  }

  @Test(arguments: [(40, 10), (40, 24), (80, 10), (80, 24)])
  func `the page of keys shows every word in any window`(columns: Int, rows: Int) {
    var state = with(browseState(columns: columns)) { $0.size = (columns: columns, rows: rows) }
    state.take(.text("?"))
    let isLong = state.mostTop > 0
    var shown: [String] = []
    for step in 0...state.mostTop {
      if step > 0 { state.take(.down) }
      let page = lines(frame(state))
      shown += page.dropFirst(2).dropLast()
      #expect(page.last == (isLong ? " arrows scroll  other keys go back" : " any key goes back"))
    }
    let text = shown.joined(separator: " ")
    for word in ["contain", "where)", "used", "ones", "gone"] { #expect(text.contains(word)) }
    #expect(!text.contains("\u{2026}"))
    state.take(.text("G"))
    state.take(.text("G"))
    state.take(.text("g"))
    #expect(state.helpTop == 0 && state.page == (isLong ? .help : .panes))
    state.take(.text("x"))
    #expect(state.page == .panes)
  }

  @Test func `hostile keys and names stay in their cells`() {
    var state = browseState()
    let keys = [
      "\u{1B}[2J\u{7}\n", "\u{202E}abc", String(repeating: "\u{301}", count: 500),
      "\u{1F468}\u{200D}\u{1F469}",
    ]
    state.show(keys.map { browsedEntry($0) }, for: .top)
    state.namespaces[0] = ("a\u{1B}]0;x\u{7}", Tally(entries: 1, bytes: 1))
    let text = String(decoding: frame(state, hasColor: true).bytes(over: nil), as: UTF8.self)
    #expect(
      text.contains("\\e[2J\\x07\\n") && !text.contains("\u{202E}") && !text.contains("\u{7}"))
    #expect(!text.contains("\u{1B}]"))
    for state in [state, browseState(columns: 61), browseState(columns: 40)] {
      let frame = frame(state)
      for row in 0..<frame.rows { #expect(DisplayWidth.of(frame.text(of: row)) <= frame.columns) }
    }
  }

  @Test func `only cells that differ are written`() {
    let before = frame(browseState())
    var state = browseState()
    state.take(.down)
    let after = frame(state)
    #expect(after.bytes(over: before).count < 120)
    #expect(after.bytes(over: after).isEmpty)
    #expect(String(decoding: after.bytes(over: nil), as: UTF8.self).contains("\u{1B}[2J"))
  }

  @Test func `wide characters are written whole`() {
    var before = Frame(columns: 10, rows: 1)
    before.put("ab\u{4E2D}\u{6587}", at: 0, 0)
    var after = Frame(columns: 10, rows: 1)
    after.put("a\u{4E2D}c\u{6587}", at: 0, 0)
    #expect(String(decoding: after.bytes(over: before), as: UTF8.self) == "\u{1B}[1;2H\u{4E2D}c")
    after.put("\u{4E2D}", at: 0, 9)
    #expect(after.text(of: 0) == "a\u{4E2D}c\u{6587}")
    after.put("x\u{4E2D}y", at: 0, 0, width: 2)
    #expect(after.text(of: 0).hasPrefix("x"))
  }

  /// An entry with a value, and the text of the value in a pane of 23 columns, after two seconds.
  private func pane(
    of text: String, expires: Expiration? = nil
  ) throws -> (Store.Entry, BrowseState.ValueText) {
    let shell = try Shell()
    try shell.store.namespace("a").set(text, for: "key", expires: expires)
    let entry = try #require(try shell.store.namespace("a").entry(for: "key"))
    shell.clock.advance(by: .seconds(2))
    let presentation = Presentation(
      .table, isTerminal: true, width: 23, hasColor: true, clock: stockholm)
    let value = try BrowseState.ValueText(
      entry, width: 23, isWhole: false, in: shell.session, for: presentation)
    return (entry, try #require(value))
  }

  @Test func `a long value is wrapped and scrolls`() throws {
    let (entry, value) = try pane(of: (0..<200).map { "word\($0)" }.joined(separator: " "))
    var state = browseState()
    state.show([entry], for: .top)
    state.value = value
    #expect(value.lines.joined(separator: " ").split(separator: " ").map(String.init).count >= 200)
    #expect(value.lines.allSatisfy { DisplayWidth.of(Frame.plain($0)) <= 23 })
    #expect(value.lines.contains("word0 word1 word2 word3"))
    state.take(.tab, .end)
    #expect(state.valueTop == state.mostTop && state.valueTop > 0)
    state.take(.tab, .tab, .enter, .text("/"))
    state.type("WORD150")
    state.take(.enter)
    #expect(state.valueTop > 0)
  }

  @Test func `an entry that has just expired has no value, but is not negative`() throws {
    let (_, value) = try pane(of: "text", expires: .after(.seconds(1)))
    #expect(value.lines.suffix(2) == ["expired: a read finds", "no value"])
  }

  @Test func `a tab in a text becomes spaces`() throws {
    let (_, value) = try pane(of: "ab\tc\n\td")
    #expect(value.lines.suffix(2) == ["ab      c", "        d"])
  }

  @Test func `JSON keeps its colors across the lines of a narrow pane`() throws {
    let (_, value) = try pane(
      of: "{\"name\":\"" + String(repeating: "q", count: 60) + "\",\"n\":1}")
    var frame = Frame(columns: 23, rows: value.lines.count)
    for (row, line) in value.lines.enumerated() { frame.put(line, at: row, 0) }
    let row = try #require(value.lines.firstIndex { Frame.plain($0).hasPrefix("qqqq") })
    #expect(frame.rendition(at: row, 0) == Color.string.rawValue)
    #expect((0..<frame.rows).map(frame.text).joined().filter { $0 == "q" }.count == 60)
  }
}

@Suite struct BrowseChangeTests {
  /// Opens the view on an entry and types the keys of each step. Calls `between` before every step except the first.
  private func browse(
    _ steps: [String], hiding hidden: String? = nil, _ between: @escaping (Shell) throws -> Void
  ) throws -> Shell {
    let shell = try Shell.filled()
    var left = steps
    var pages = ""
    let screen = Host.Screen(
      size: { (columns: 80, rows: 24) },
      wait: { limit in
        // A running command looks for a key with a limit of zero. Nobody types during a command in this test, so no key comes.
        guard limit > .zero else { return .timeout }
        guard !left.isEmpty else { return .end }
        let keys = left.removeFirst()
        if left.count < steps.count - 1 { try between(shell) }
        return .bytes(Array(keys.utf8))
      }, write: { pages += String(decoding: $0, as: UTF8.self) }, suspend: {}, close: {})
    try BrowseLoop("thumbs", in: shell.session, on: screen).run()
    #expect(left.isEmpty)
    #expect(pages.contains("1 entry") && !(hidden.map { pages.contains($0) } ?? false))
    return shell
  }

  @Test(arguments: ["d", "emidnight\r"])
  func `an entry that was written after the question stays`(keys: String) throws {
    let undisturbed = try browse([keys, "y"]) { _ in }
    let entry = try undisturbed.store.namespace("thumbs").entry(for: [0, 0xFF])
    #expect(entry == nil || entry?.expires != nil)
    let shell = try browse([keys, "y"]) { shell in
      try shell.store.namespace("thumbs").set("new", for: [0, 0xFF])
    }
    let kept = try #require(try shell.store.namespace("thumbs").entry(for: [0, 0xFF]))
    #expect(kept.size == 3 && kept.expires == nil)
  }

  @Test func `undo takes back a change of the view`() throws {
    let shell = try browse(["d", "y"]) { _ in }
    #expect(try shell.store.namespace("thumbs").count() == 0)
    #expect(try shell("undo") == "took back evict of 1 entry\n")
    #expect(try shell.store.namespace("thumbs").entry(for: [0, 0xFF])?.size == 12)
  }

  @Test func `a paused view reads nothing when the mark of a removed row ends`() throws {
    var count = 0
    _ = try browse(["d", "nr", " ", "", "q"], hiding: "unread") { shell in
      count += 1
      let thumbs = shell.store.namespace("thumbs")
      if count == 1 { try thumbs.remove([0, 0xFF]) }
      guard count == 3 else { return }
      try thumbs.set("v", for: "unread")
      shell.clock.advance(by: .seconds(3))
    }
    #expect(count == 4)
  }

  @Test func `a window that is too small waits for a key`() throws {
    let shell = try Shell.filled()
    var limits: [Duration] = []
    let screen = Host.Screen(
      size: { (columns: 30, rows: 8) },
      wait: { limit in
        limits.append(limit)
        return limits.count < 5 ? .timeout : .end
      }, write: { _ in }, suspend: {}, close: {})
    try BrowseLoop("thumbs", in: shell.session, on: screen).run()
    #expect(limits.contains { $0 > .zero })
  }
}
