import Foundation
import Larder
import TestSupport
import Testing

/// The tests run one at a time, because many terminals at the same time would answer slowly.
@Suite(.serialized, .timeLimit(.minutes(20))) struct PromptTests {
  private let home = TemporaryDirectory()

  @Test func `a banner says where one is, and use changes the prompt`() throws {
    let session = try home.prompt()
    session.expect("the banner") { screen in
      screen.lines.first == "larder 1.0-dev   \(home.store)   2 namespaces, 4 entries, 37 B"
        && screen.lines.dropFirst().first == "help lists the commands, Tab completes, ^D leaves."
    }
    try session.type("use articles\rkeys\r").expect(belowBanner: [
      "larder> use articles", "articles> keys", "key       size  expires",
      "\"000011\"   4 B  never", "articles>",
    ])
    try session.leave(by: "quit 3\r", status: 3)
  }

  @Test func `an error points at the word and ends nothing`() throws {
    let session = try home.prompt(["-n", "departures"], showing: "departures>")
    try session.type("expire Malm* 1mo\r").expect(belowBanner: [
      "departures> expire Malm* 1mo", "                         ^^^",
      "error: \"1mo\" is not a duration: months vary in length", "hint: use `30d` or `4w`",
      "departures>",
    ])
  }

  @Test func `an error in JSON is one line at a narrow terminal, too`() throws {
    try home.withStore { _ in }
    let session = try TerminalSession(
      larder: [home.store, "get", "@a", "k", "-o", "json"], showing: nil, home: home, columns: 55)
    #expect(try session.terminal.waitForExit() == 1)
    #expect(session.screen.lines.joined().contains("\"message\":\"no namespace "))
  }

  @Test func `no number of interrupts ends the prompt`() throws {
    let session = try home.prompt()
    for _ in 0..<30 { session.terminal.send(SIGINT) }
    session.expect("a prompt behind ^C") {
      $0.line == "larder>" && $0.lines.contains { $0.contains("^C") }
    }
    try session.type("echo alive\r").expect(row: "alive")
  }

  @Test func `what a pattern found is asked about`() throws {
    let session = try home.prompt()
    for (answer, row) in [("n", "nothing changed"), ("y", "evicted 3 entries, 33 B, 0 left")] {
      try session.type("evict @departures Malm*\r").expect("the question") {
        $0.line.hasPrefix("Evict 3 entries (33 B) in departures, such as")
      }
      try session.type(answer + "\r").expect("the answer") {
        $0.lines.contains(row) && $0.line == "larder>"
      }
    }
  }

  @Test func `an answer that was typed before the question is none`() throws {
    let session = try home.prompt()
    try session.type("evict @departures Malm*\ry\r")
    session.expect("the question") { $0.lines.contains { $0.hasPrefix("Evict 3 entries (33 B)") } }
    try session.type("\r").expect(row: "nothing changed")
    try session.type("count @departures\r").expect(row: "3 entries, 33 B")
  }

  @Test func `Tab completes commands, namespaces, options and keys`() throws {
    let session = try home.prompt()
    try session.type("cou\t@dep\t--exp\t\t").expect(row: "--expiring  --expired")
    try session.type("\u{3}").expect(line: "larder>")
    try session.type("get @departures M\t2\t\r").expect(row: "{ \"train\": 2 }")
  }

  @Test func `a quote that is open goes on in the next line`() throws {
    let session = try home.prompt()
    try session.type("set @notes k 'one\r").expect(line: "     \u{2026}>")
    try session.type("two'\r").expect(row: "set notes \"k\" (7 B), never expires")
    try session.type("get 'open\r").expect(line: "     \u{2026}>")
    try session.type("\u{3}").expect(line: "larder>")
    try session.type("get @notes k\r")
    session.expect("the value") { $0.lines.suffix(3) == ["one", "two", "larder>"] }
  }

  @Test(arguments: [
    ("stats --every 1h", "hit rate", "^C"), ("watch", "watching all namespaces", "^C 0 events in "),
  ])
  func `^C stops a command that waits, and the next command runs`(
    line: String, beginning: String, end: String
  ) throws {
    let session = try home.prompt()
    try session.type(line + "\r")
    session.expect("its first lines") { $0.lines.contains { $0.hasPrefix(beginning) } }
    try session.type("\u{3}").expect("its end and the prompt") {
      $0.line == "larder>" && $0.lines.contains { $0.hasPrefix(end) }
    }
    try session.type("echo still here\r").expect(row: "still here")
  }

  @Test func `a store that is open for reading shows it`() throws {
    let session = try home.prompt(["--read-only"], showing: "larder (read-only)>")
    try session.type("set @a k v\r")
    session.expect("the refusal") { $0.lines.contains { $0.contains("open read-only") } }
  }

  @Test func `the rc file is run at the prompt, unless it is not wanted`() throws {
    try home.write("use articles\nkesy\n", to: ".config/larder/rc")
    let session = try home.prompt(showing: "articles>")
    session.expect("its error") { $0.lines.contains { $0.contains("rc:2:1: unknown command") } }
    _ = try home.prompt(["--no-rc"])
  }

  @Test func `what others have changed is told behind the next answer`() throws {
    let session = try home.prompt()
    let store = try Store(at: home.store)
    try store.namespace("articles").set("new", for: "000012")
    try store.namespace("articles").set("new", for: "000013")
    // A rewrite is reported as `set`, even if the number of bytes stays the same.
    try store.namespace("articles").set("news", for: "000011")
    try store.namespace("departures").remove("Malm\u{F6} C:01")
    try session.type("echo hello\r").expect(belowBanner: [
      "larder> echo hello", "hello",
      "(store changed: 3 set, 1 removed since the last command)", "larder>",
    ])
    // Changes by the command itself are not reported.
    try session.type("\u{C}evict @articles 000013\r\r").expect("nothing more") {
      $0.lines == [
        "larder> evict @articles 000013", "evicted 1 entry, 3 B, 2 left", "larder>", "larder>",
      ]
    }
    try store.close()
  }

  @Test func `a prompt that waits does not let the file grow`() throws {
    /// The size of the data file after many rewrites of a store.
    func size(_ isWatched: Bool) throws -> Int {
      let session = isWatched ? try home.prompt() : nil
      try session?.type("count @departures\rkeys @departures\r").expect("the keys") {
        $0.lines.contains("3 entries, 33 B") && $0.lines.contains { $0.hasPrefix("key ") }
          && $0.line == "larder>"
      }
      let path = home.path + (isWatched ? "/store" : "/alone")
      let store = try Store.durable(at: path)
      let names = store.namespace("names")
      for round in 0..<60 {
        try store.write { batch in
          for number in 0..<50 {
            try batch.set(String(repeating: "x", count: 2000 + round), for: "\(number)", in: names)
          }
        }
      }
      try store.close()
      try session?.leave(by: "\u{4}")
      return try #require(
        try FileManager.default.attributesOfItem(atPath: path + "/data.mdb")[.size] as? Int)
    }
    let (watched, alone) = (try size(true), try size(false))
    #expect(watched < alone + 100_000, "\(watched) and \(alone)")
  }

  @Test func `a history that cannot be kept is reported once and ends nothing`() throws {
    try home.write("", to: "state")
    let file = home.path + "/state/larder/history"
    let session = try home.prompt(environment: ["XDG_STATE_HOME": home.path + "/state"])
    try session.type("count @articles\rhistory\rcount @departures\r")
    session.expect("both answers") { screen in
      screen.lines.contains("1 entry, 4 B") && screen.lines.contains("3 entries, 33 B")
        && screen.line == "larder>"
    }
    let text = session.screen.lines.joined(separator: " ")
    #expect(text.hasPrefix("note: the history is not kept: \(file): "))
    #expect(text.components(separatedBy: "note: ").count == 2)
    try session.type("\u{1B}[A").expect(line: "larder> count @departures")
  }
}

extension Store {
  /// A store without checkpoints. At other levels of durability, a checkpoint is a reader, too, and also keeps old pages.
  fileprivate static func durable(at path: String) throws -> Store {
    try Store(at: path, options: Store.Options(durability: .durable))
  }
}

extension TemporaryDirectory {
  /// The prompt on a store with three departures and an article.
  func prompt(
    _ arguments: [String] = [], showing prompt: String? = "larder>",
    environment: [String: String] = [:]
  ) throws -> TerminalSession {
    let store = try Store.durable(at: store)
    for number in 1...3 {
      try store.namespace("departures").set("{\"train\":\(number)}", for: "Malm\u{F6} C:0\(number)")
    }
    try store.namespace("articles").set("text", for: "000011")
    try store.close()
    return try TerminalSession(
      larder: [self.store] + arguments, showing: prompt, home: self, environment: environment)
  }
}
