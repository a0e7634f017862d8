import Foundation
import Larder
import TestSupport
import Testing

/// The pager and other programs at the prompt. The tests run one at a time: a terminal answers in a moment, unless many
/// terminals answer at once.
@Suite(.serialized, .timeLimit(.minutes(20))) struct PromptProgramTests {
  private let home = TemporaryDirectory()

  @Test func `the pager says how to leave it, unless LESS is set`() throws {
    try home.write("#!/bin/sh\ncat\necho \"pager $*\"\n", to: "bin/less")
    try FileManager.default.setAttributes(
      [.posixPermissions: 0o755], ofItemAtPath: home.path + "/bin/less")
    let path = home.path + "/bin:/usr/bin:/bin"
    let session = try home.prompt(environment: ["PATH": path, "PAGER": "", "LESS": ""])
    try session.type("help\r").expect("the pager with a prompt") {
      $0.lines.contains("pager -FRX -PSpace continues, q leaves")
    }
    let own = try home.prompt(environment: ["PATH": path, "PAGER": "", "LESS": "-S"])
    try own.type("help\r").expect(row: "pager -FRX")
  }

  @Test func `the keys of signals are for the program that has the terminal`() throws {
    let session = try home.prompt()
    try session.type("! trap '' INT QUIT; echo ready; read word; echo got $word\r")
    session.expect("the program") { $0.lines.last == "ready" }
    for count in 1...4 {
      try session.type("\u{3}")
      session.expect("^C") { $0.line.hasSuffix(String(repeating: "^C", count: count)) }
    }
    try session.type("\u{1C}").expect("^\\") { $0.line.hasSuffix("^\\") }
    try session.type("it\r").expect("the prompt") { $0.lines.suffix(2) == ["got it", "larder>"] }
    // An interrupt of the program does not interrupt the next command.
    try session.type("count @articles; count @articles\r").expect("two answers") {
      $0.lines.suffix(3) == ["1 entry, 4 B", "1 entry, 4 B", "larder>"]
    }
  }

  @Test func `the prompt begins a line whatever a program left on it`() throws {
    let session = try home.prompt()
    try session.type("get @articles 000011 | cat\r")
    let first = ["larder> get @articles 000011 | cat", "text", "larder>"]
    session.expect(belowBanner: first)
    try session.type("! printf two; exit 3\r")
    let second =
      first.dropLast() + ["larder> ! printf two; exit 3", "two", "printf exited with 3", "larder>"]
    session.expect(belowBanner: Array(second))
    try session.type("echo three | cat\r").expect(
      belowBanner: second.dropLast() + ["larder> echo three | cat", "three", "larder>"])
  }

  @Test func `an answer longer than the screen goes through the pager`() throws {
    let session = try home.prompt(environment: ["PAGER": "sed s/^/paged:/"])
    try session.type("help\r").expect("the end of the help") { screen in
      screen.lines.contains { $0.hasPrefix("paged:help COMMAND explains one") }
        && screen.line == "larder>"
    }
    try session.type("\u{C}count @departures\r").expect(row: "3 entries, 33 B")
    let plain = try home.prompt(["--no-pager"], environment: ["PAGER": "sed s/^/paged:/"])
    try plain.type("help\r").expect("the end of the help") { screen in
      screen.lines.contains { $0.hasPrefix("help COMMAND explains one") }
    }
  }

  @Test func `leaving the pager early ends the command and nothing else`() throws {
    let session = try home.prompt(environment: ["PAGER": "true"])
    try session.type("help\rcount @departures\r").expect(row: "3 entries, 33 B")
  }

  @Test func `nothing of the store is held while somebody reads`() throws {
    let session = try home.prompt(environment: ["PAGER": "cat; echo waiting; read line </dev/tty"])
    let store = try Store(at: home.store)
    let names = store.namespace("names")
    try store.write { batch in
      for number in 0..<2000 { try batch.set("x", for: "key \(number)", in: names) }
    }
    try session.type("keys @names --limit 500\r").expect(row: "waiting")
    try names.set("y", for: "later")
    #expect(try store.statistics().readers.allSatisfy { $0.age ?? 0 == 0 })
    try session.type("\r").expect("the prompt") { $0.line == "larder>" }
    try store.close()
  }
}
