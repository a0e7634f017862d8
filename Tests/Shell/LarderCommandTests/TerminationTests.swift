import Foundation
import Larder
import TestSupport
import Testing

/// `SIGTERM` ends the program with the status of that signal, whatever program started it. After `SIGKILL`, changes stay.
@Suite(.serialized, .timeLimit(.minutes(20))) struct TerminationTests {
  /// The state of the signals that the program inherits from its parent process.
  enum Parent: CaseIterable { case usual, blocking, ignoring }

  private let home = TemporaryDirectory()

  init() throws { try home.withStore { _ in } }

  private func start(_ arguments: [String], by parent: Parent) throws -> PseudoTerminal {
    let program = ProgramFixture.programs + "/larder"
    let words = parent == .ignoring ? ["-c", "trap '' TERM; exec \"$0\" \"$@\"", program] : []
    return try PseudoTerminal(
      running: parent == .ignoring ? "/bin/sh" : program, words + [home.store] + arguments,
      environment: ["HOME": home.path, "TERM": "xterm-256color", "LANG": "C.UTF-8"],
      blocking: parent == .blocking ? [SIGTERM, SIGINT] : [])
  }

  /// Waits until `watch` shows a change, which proves that the command runs.
  private func waitUntilWatching(_ terminal: PseudoTerminal) throws {
    let isWatching = terminal.shows(within: .seconds(10)) { screen in
      screen.lines.contains { $0.hasSuffix("ready") }
    }
    #expect(isWatching)
    try home.withStore { store in
      var isShown = false
      for number in 0..<100 where !isShown {
        try store.namespace("a").set("x", for: "\(number)")
        isShown = terminal.shows(within: .milliseconds(100)) { screen in
          screen.lines.contains { $0.contains("set") }
        }
      }
      #expect(isShown, "\(terminal.screen.lines)")
    }
  }

  @Test(arguments: Parent.allCases) func `watch ends by SIGTERM`(parent: Parent) throws {
    let terminal = try start(["-e", "echo ready", "-e", "watch"], by: parent)
    try waitUntilWatching(terminal)
    terminal.send(SIGTERM)
    #expect(try terminal.waitForExit() == -SIGTERM)
  }

  @Test(arguments: [Parent.usual, .blocking]) func `watch ends by ^C`(parent: Parent) throws {
    let terminal = try start(["-e", "echo ready", "-e", "watch"], by: parent)
    try waitUntilWatching(terminal)
    try terminal.type("\u{3}")
    #expect(try terminal.waitForExit() == 130)
  }

  @Test(arguments: Parent.allCases)
  func `the prompt gives the terminal back before it ends`(parent: Parent) throws {
    let terminal = try start([], by: parent)
    #expect(terminal.shows { $0.line == "larder>" })
    try terminal.type("count")
    #expect(terminal.shows { $0.line.hasPrefix("larder> count") })
    #expect(!terminal.isCanonical && terminal.screen.isPasteMarked)
    terminal.send(SIGTERM)
    #expect(try terminal.waitForExit() == -SIGTERM)
    #expect(terminal.isCanonical && !terminal.screen.isPasteMarked)
  }

  /// The shell holds the replaced entries only in memory, so after a kill nothing can undo the change.
  @Test func `a killed shell leaves its change, and no other shell takes the change back`() throws {
    try home.withStore { store in
      for number in 1...3 { try store.namespace("departures").set("v", for: number) }
    }
    let killed = try TerminalSession(larder: [home.store], home: home)
    try killed.type("evict @departures * --yes\r")
    killed.expect("the answer") { $0.lines.contains { $0.hasPrefix("evicted 3 entries") } }
    killed.terminal.send(SIGKILL)
    #expect(try killed.terminal.waitForExit() == -SIGKILL)
    let other = try TerminalSession(larder: [home.store], home: home)
    try other.type("undo\r").expect("an error") { screen in
      screen.lines.contains { $0.contains("there is no change to take back") }
    }
    try other.leave(by: "quit\r")
    try home.withStore { store in
      let count = try store.namespace("departures").count()
      #expect(try count == 0 && store.verify().isSound)
    }
  }
}
