import Foundation
import Larder
import TestSupport
import Testing

/// The pager and other programs at the prompt. The tests run one at a time: a terminal answers in a moment, unless many
/// terminals answer at once.
@Suite(.serialized, .timeLimit(.minutes(20))) struct PromptProgramTests {
  private let home = TemporaryHome()

  private func start(environment: [String: String] = [:]) throws -> TerminalSession {
    try FileManager.default.createDirectory(atPath: home.path, withIntermediateDirectories: true)
    let store = try Store(at: home.path + "/store")
    try store.namespace("articles").set("text", for: "000011")
    try store.close()
    return try TerminalSession(
      running: ProgramFixture.programs + "/larder", [home.path + "/store"], showing: "larder>",
      home: home, environment: environment, columns: 120)
  }

  /// Expects these lines below the two lines of the banner.
  private func expect(
    _ lines: [String], of session: TerminalSession, at location: SourceLocation = #_sourceLocation
  ) {
    session.expect("\(lines)", at: location) { Array($0.lines.dropFirst(2)) == lines }
  }

  @Test func `the pager says how to leave it, unless LESS is set`() throws {
    try home.write("#!/bin/sh\ncat\necho \"pager $*\"\n", to: "bin/less")
    try FileManager.default.setAttributes(
      [.posixPermissions: 0o755], ofItemAtPath: home.path + "/bin/less")
    let path = home.path + "/bin:/usr/bin:/bin"
    let session = try start(environment: ["PATH": path, "PAGER": "", "LESS": ""])
    try session.type("help\r")
    session.expect("the pager with a prompt") {
      $0.lines.contains("pager -FRX -PSpace continues, q leaves")
    }
    let own = try start(environment: ["PATH": path, "PAGER": "", "LESS": "-S"])
    try own.type("help\r")
    own.expect("the pager of the person") { $0.lines.contains("pager -FRX") }
  }

  @Test func `the keys of signals are for the program that has the terminal`() throws {
    let session = try start()
    try session.type("! trap '' INT QUIT; echo ready; read word; echo got $word\r")
    session.expect("the program") { $0.lines.last == "ready" }
    for count in 1...4 {
      try session.type("\u{3}")
      session.expect("^C") { $0.line.hasSuffix(String(repeating: "^C", count: count)) }
    }
    try session.type("\u{1C}")
    session.expect("^\\") { $0.line.hasSuffix("^\\") }
    try session.type("it\r")
    session.expect("the prompt") { $0.lines.suffix(2) == ["got it", "larder>"] }
    // An interrupt of the program does not interrupt the next command.
    try session.type("count; count\r")
    session.expect("two answers") {
      $0.lines.suffix(3) == ["1 entry, 4 B", "1 entry, 4 B", "larder>"]
    }
  }

  @Test func `the prompt begins a line whatever a program left on it`() throws {
    let session = try start()
    try session.type("get @articles 000011 | cat\r")
    let first = ["larder> get @articles 000011 | cat", "text", "larder>"]
    expect(first, of: session)
    try session.type("! printf two; exit 3\r")
    let second =
      first.dropLast() + ["larder> ! printf two; exit 3", "two", "printf exited with 3", "larder>"]
    expect(Array(second), of: session)
    try session.type("echo three | cat\r")
    expect(second.dropLast() + ["larder> echo three | cat", "three", "larder>"], of: session)
  }
}
