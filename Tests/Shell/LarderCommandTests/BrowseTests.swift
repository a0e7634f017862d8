import Foundation
import Larder
import TestSupport
import Testing

/// Tests of the full-screen view in a terminal, one at a time, because many terminals at the same time would answer slowly.
@Suite(.serialized, .timeLimit(.minutes(20))) struct BrowseTests {
  private let home = TemporaryDirectory()
  private func start(
    _ arguments: [String] = ["browse"], entries: Int = 40, environment: [String: String] = [:],
    columns: Int = 80, rows: Int = 24, showing text: String? = "1 of"
  ) throws -> TerminalSession {
    try home.withStore { store in
      for number in 10..<10 + entries {
        try store.namespace("sets").set("{\"number\":\(number)}", for: "set-\(number)")
      }
      try store.namespace("web").set("text", for: "page\n1", expires: .after(.hours(5)))
    }
    let session = try TerminalSession(
      larder: [home.store] + arguments, showing: nil, home: home, environment: environment,
      columns: columns, rows: rows)
    if let text { session.expect(Comment(rawValue: text)) { $0.has(text) } }
    return session
  }

  private func expectRestored(
    _ terminal: PseudoTerminal, _ comment: Comment? = nil,
    at location: SourceLocation = #_sourceLocation
  ) {
    #expect(terminal.isCanonical, comment, sourceLocation: location)
    let screen = terminal.screen
    #expect(
      !screen.isAlternate && !screen.isCursorHidden && !screen.isPasteMarked, comment,
      sourceLocation: location)
  }

  @Test func `lists, filters, shows values and leaves`() throws {
    let session = try start(["browse", "@sets"])
    session.expect("three panes") { screen in
      screen.has("namespaces") && screen.has("set-10") && screen.has("1 of 40")
        && screen.has("\"number\": 10") && screen.lines[0].hasSuffix("live")
    }
    #expect(session.screen.isAlternate && session.screen.isCursorHidden)
    try session.type("jj").expect("the third") { $0.has("3 of 40") && $0.has("\"number\": 12") }
    try session.type("G").expect("the last") { $0.has("40 of 40") && $0.has("set-49") }
    try session.type("\u{1B}[5~").expect("a page up") { $0.has("20 of 40") }
    try session.type("g/T-3").expect("no such text in this case") { $0.has("no entries") }
    try session.type("\u{7F}\u{7F}\u{7F}t-3")
    session.expect("ten") { $0.has("1 of 10") && $0.has("set-39") && !$0.has("set-40") }
    try session.type("\r\r")
    session.expect("the whole value") { $0.has("lines") && $0.has("sets \"set-30\"") }
    try session.type("q").expect("the panes") { $0.has("1 of 10") }
    try session.type("\u{1B}").expect("without filter") { $0.has("1 of 40") }
    try session.leave(by: "q")
    expectRestored(session.terminal)
  }

  @Test func `a condition narrows the list`() throws {
    let session = try start(["browse", "@*"])
    try session.type("w.number >=")
    session.expect("the line") { $0.lines.last?.hasPrefix(" where: .number >=") == true }
    try session.type("\r")
    session.expect("the error") { $0.lines.last?.contains("expected a value after") == true }
    try session.type(" 48\r")
    session.expect("two") { $0.has("1 of 2") && $0.has("set-48") && !$0.has("set-47") }
    try session.leave(by: "q")
  }

  @Test func `changes of other processes appear`() throws {
    let session = try start(["browse", "@sets"])
    session.expect("all counted") { $0.has("1 of 40") }
    try home.withStore { store in
      try store.namespace("sets").set("{\"number\":0}", for: "set-10")
      try store.namespace("sets").set("new", for: "set-11a")
      try store.namespace("sets").remove("set-13")
    }
    session.expect("marks") { screen in
      screen.row("set-10")?.contains("~") == true && screen.row("set-11a")?.contains("+") == true
        && screen.row("set-13")?.contains("-  ") == true || screen.row("set-13") == nil
    }
    session.expect("the new value") { $0.has("\"number\": 0") }
    session.expect("no marks") { screen in
      screen.row("set-13") == nil && screen.row("set-10")?.contains("~") == false
        && screen.has("1 of 40")
    }
    try session.leave(by: "q")
  }

  @Test func `changes ask first`() throws {
    let session = try start(["browse", "@sets"], entries: 3)
    try session.type("d").expect("the question") {
      $0.lines.last == " Evict 1 entry (13 B) in sets, such as \"set-10\"? [y/N]"
    }
    try session.type("\r").expect("declined") { $0.lines.last == " nothing changed" }
    try session.type("mmd")
    session.expect("both") { $0.lines.last?.contains("2 entries (26 B) in sets,") == true }
    try session.type("y")
    session.expect("the answer") { $0.lines.last?.contains("evicted 2 entries") == true }
    session.expect("one left") { $0.has("1 of 1") && $0.has("set-12") }
    try session.type("e2 hours\r").expect("the error") {
      $0.lines.last?.hasPrefix(" expire 1 entry at or in: 2 hours_") == true
    }
    try session.type("\u{15}2h\r")
    session.expect("the question") { $0.lines.last?.hasPrefix(" Expire at 2h: 1 entry (") == true }
    try session.type("y")
    session.expect("the answer") { $0.lines.last?.contains("was never, now in 2 h") == true }
    try session.leave(by: "pyq")
    try home.withStore { store in
      let entry = try #require(try store.namespace("sets").entry(for: "set-12"))
      #expect(entry.isPinned && entry.expires != nil)
      #expect(try store.namespace("sets").entry(for: "set-10") == nil)
      #expect(try store.verify().isSound)
    }
  }

  @Test func `a change of other entries than the question names is not made`() throws {
    let session = try start(["browse", "@sets"], entries: 3)
    session.expect("all") { $0.has("1 of 3") }
    try session.type(" mmd")
    session.expect("the question") { $0.lines.last?.contains("2 entries (26 B) in sets,") == true }
    try home.withStore { store in try store.namespace("sets").remove("set-10") }
    try session.type("y")
    session.expect("the refusal") { $0.lines.last?.contains("entries have changed") == true }
    try session.leave(by: "q")
    try home.withStore { store in
      let left = try store.namespace("sets").count()
      #expect(left == 2)
    }
  }

  @Test(arguments: ["q", "\u{3}", "\u{4}", "\u{1B}"])
  func `every key that leaves restores the terminal`(key: String) throws {
    let session = try start()
    try session.type(key)
    #expect(try session.terminal.waitForExit() == 0)
    expectRestored(session.terminal)
  }

  @Test(arguments: [SIGTERM, SIGHUP, SIGQUIT, SIGUSR1, SIGXCPU, SIGSEGV, SIGBUS, SIGABRT])
  func `a signal that ends the program restores the terminal`(signal: Int32) throws {
    let session = try start()
    session.terminal.send(signal)
    #expect(try session.terminal.waitForExit() == -signal)
    expectRestored(session.terminal)
  }

  @Test func `interrupts that come too fast to be answered restore the terminal`() throws {
    let session = try start(entries: 2000)
    session.terminal.send(SIGSTOP)
    session.terminal.send(SIGINT)
    session.terminal.send(SIGCONT)
    for _ in 0..<4 { session.terminal.send(SIGINT) }
    #expect(try [0, 130].contains(session.terminal.waitForExit()))
    expectRestored(session.terminal)
  }

  /// A change that another program makes to the data file while the view shows the store.
  enum Attack: CaseIterable { case overwritten, truncated, deleted }

  @Test(arguments: Attack.allCases)
  func `a store that is destroyed meanwhile does not cost the terminal`(attack: Attack) throws {
    let session = try start(["browse", "@sets"], entries: 2000)
    let file = try FileHandle(forUpdating: URL(fileURLWithPath: home.store + "/data.mdb"))
    switch attack {
    case .overwritten:
      let size = try file.seekToEnd()
      try file.seek(toOffset: 8192)
      try file.write(contentsOf: Data(repeating: 0xA5, count: Int(size) - 8192))
    case .truncated: try file.truncate(atOffset: 8192)
    case .deleted: try FileManager.default.removeItem(atPath: home.store)
    }
    try file.close()
    // The program may have ended after the first key. In this case the next key cannot be sent, so the loop stops.
    for key in ["G", "r", "g", "\u{3}", "q", "q"] { do { try session.type(key) } catch { break } }
    let status = try session.terminal.waitForExit()
    expectRestored(session.terminal, "after exit code \(status)")
  }

  @Test func `^Z and fg give the terminal back and take it again`() throws {
    try home.withStore { try $0.namespace("sets").set("v", for: "set-10") }
    let session = try TerminalSession.shell(home: home)
    try session.type("\(ProgramFixture.programs)/larder \(home.store) browse\n")
    session.expect("the view") { $0.has("1 of 1") }
    try session.type("\u{1A}").expect("the shell") { !$0.isAlternate && $0.line == "sh:" }
    #expect(!session.screen.isCursorHidden && !session.screen.isPasteMarked)
    try session.type("echo back\n").expect("the answer of the shell") {
      $0.lines.suffix(3) == ["sh: echo back", "back", "sh:"]
    }
    session.terminal.resize(columns: 100, rows: 30)
    try session.type("fg\n").expect("the view") {
      $0.isAlternate && $0.has("1 of 1") && $0.lines.count == 30
    }
    try session.type("q").expect("the shell") { !$0.isAlternate && $0.line == "sh:" }
  }

  @Test func `another size is drawn at once`() throws {
    let session = try start(entries: 100)
    for (columns, rows) in [(120, 40), (50, 12), (30, 8), (80, 24)] {
      session.terminal.resize(columns: columns, rows: rows)
      session.expect("\(columns)x\(rows)") { screen in
        columns < 40
          ? screen.has("too small")
          : screen.lines.count == rows && screen.has("\u{2510}")
            && screen.lines.allSatisfy { $0.count <= columns }
      }
    }
    try session.leave(by: "q")
  }

  @Test func `the prompt goes on behind it`() throws {
    let session = try start([], showing: "larder>")
    try session.type("use sets\rbrowse\r")
    session.expect("the view") { $0.isAlternate && $0.has("1 of 40") }
    try session.type("q").expect("the prompt") { !$0.isAlternate && $0.line == "sets>" }
    try session.type("count\r").expect("an answer") { $0.has("40 entries") && $0.line == "sets>" }
    try session.leave(by: "\u{4}")
  }

  @Test func `a terminal without cursor is refused`() throws {
    let session = try start(environment: ["TERM": "dumb"], showing: nil)
    #expect(try session.terminal.waitForExit() == 2)
    #expect(session.screen.has("browse works at a terminal only"))
    expectRestored(session.terminal)
  }

  @Test func `no color and plain lines are respected`() throws {
    let session = try start(entries: 3, environment: ["NO_COLOR": "1", "LANG": "C"])
    session.expect("lines") { $0.has("+ namespaces -") && $0.has("\"page\\n1\"") }
    #expect(session.screen.lines.joined().utf8.allSatisfy { $0 < 0x80 })
    #expect(session.screen.cells.allSatisfy { $0.allSatisfy { $0.rendition.isEmpty } })
    try session.leave(by: "q")
  }
}

extension Screen {
  fileprivate func has(_ text: String) -> Bool { row(text) != nil }
  fileprivate func row(_ text: String) -> String? { lines.first { $0.contains(text) } }
}
