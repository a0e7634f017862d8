import Foundation
import Larder
import TestSupport
import Testing

@testable import LarderTerminal

@Suite struct TerminalTests {
  @Test(arguments: [
    (["LANG": "sv_SE.UTF-8"], true), (["LANG": "C.utf8"], true),
    (["LANG": "de_CH.UTF-8@euro"], true), (["LANG": "sv_SE.UTF-8", "LC_ALL": "C"], false),
    (["LANG": "C", "LC_CTYPE": "UTF-8"], true), (["LANG": "sv_SE.ISO8859-1", "LC_ALL": ""], false),
    (["LANG": "sv_SE"], false), ([:], false),
  ])
  func `the locale's name tells whether it is one of UTF-8`(
    environment: [String: String], isUTF8: Bool
  ) { #expect(Terminal.speaksUTF8(environment: environment) == isUTF8) }

  @Test func `only the name of a prompt has a color`() {
    #expect(Prompt("ab").colored(mark: "|") == "|\u{1B}[1;36m|ab|\u{1B}[0m|> ")
    #expect(Prompt("").colored(mark: "|") == "> ")
  }

  @Test func `what signals did before the whole screen was taken they do again`() {
    func action(_ signal: Int32) -> sigaction {
      var action = sigaction()
      _ = unsafe sigaction(signal, nil, &action)
      return action
    }
    func address(_ action: sigaction) -> Int {
      unsafe unsafeBitCast(action.__sigaction_handler, to: Int.self)
    }
    let before = signal(SIGUSR2) { _ in }
    defer { _ = signal(SIGUSR2, before) }
    let own = address(action(SIGUSR2))
    EmergencyExit.arm(restoring: termios())
    // After a stop, the program calls `arm` again. This second call must keep the action that `disarm` restores.
    EmergencyExit.arm(restoring: termios())
    #expect(address(action(SIGUSR2)) != own)
    EmergencyExit.disarm()
    #expect(address(action(SIGUSR2)) == own)
  }

  @Test(arguments: [
    ("", [0, 0]), ("123456789", [0, 9]), ("1234567890", [1, 0]), ("12345678\u{65E5}", [1, 0]),
    ("123456789\u{65E5}", [1, 2]), ("a\nb", [1, 1]), ("a\tb", [0, 9]), ("\u{3}", [0, 2]),
    ("e\u{301}", [0, 1]),
  ]) func `a place is where the terminal's cursor would be`(text: String, expected: [Int]) {
    Terminal.useUTF8Characters()
    let place = LineDisplay.Place(after: text.unicodeScalars, columns: 10)
    #expect([place.row, place.column] == expected)
  }
}

@Suite struct ByteFileTests {
  private let home = TemporaryDirectory()
  private var files: FileManager { .default }
  init() throws { try home.write("old", to: "file") }

  private func write(_ text: String, to name: String, replaces: Bool) throws {
    let file = try ByteFile(writing: home.path + "/" + name, replaces: replaces)
    try file.write(Array(text.utf8).span)
    try file.finish()
  }

  private func text(_ name: String) throws -> String {
    try String(contentsOfFile: home.path + "/" + name, encoding: .utf8)
  }

  @Test func `a link stands for the file that it names`() throws {
    try home.write("", to: "other/x")
    try files.createSymbolicLink(atPath: home.path + "/other/link", withDestinationPath: "../file")
    #expect(throws: TerminalError.failed(operation: "open", code: EEXIST)) {
      try write("new", to: "other/link", replaces: false)
    }
    #expect(try text("file") == "old")
    let unfinished = try ByteFile(writing: home.path + "/other/link", replaces: true)
    try unfinished.write(Array("new".utf8).span)
    #expect(try text("file") == "old")
    try unfinished.finish()
    #expect(try text("file") == "new" && text("other/link") == "new")
    #expect(try files.destinationOfSymbolicLink(atPath: home.path + "/other/link") == "../file")
    #expect(try files.contentsOfDirectory(atPath: home.path).sorted() == ["file", "other"])
  }

  /// The program must append to the text that the process has already written to the file.
  @Test(arguments: ["/proc/self/fd/", "/dev/fd/"])
  func `the file of a descriptor is written on`(folder: String) throws {
    let descriptor = unsafe open(home.path + "/file", O_WRONLY | O_APPEND)
    defer { close(descriptor) }
    let file = try ByteFile(writing: "\(folder)\(descriptor)", replaces: false)
    try file.write(Array(" and new".utf8).span)
    try file.finish()
    #expect(try text("file") == "old and new")
    #expect(fcntl(descriptor, F_GETFD) >= 0)
  }

  @Test func `an unfinished file of an earlier process is in nobody's way`() throws {
    try home.write("half", to: "new.\(getpid()).part")
    try write("whole", to: "new", replaces: false)
    #expect(try text("new") == "whole")
  }

  @Test func `a name that begins with a combining mark is a name`() throws {
    let name = String(repeating: "d", count: 60) + "/\u{301}"
    try home.write("old", to: name)
    try write("new", to: name, replaces: true)
    #expect(try text(name) == "new")
  }

  @Test func `of two new files with one name the first stays`() throws {
    let second = try ByteFile(writing: home.path + "/new", replaces: false)
    try write("first", to: "new", replaces: false)
    #expect(throws: TerminalError.failed(operation: "write", code: EEXIST)) { try second.finish() }
    #expect(try text("new") == "first")
    #expect(try permissions(of: home.path + "/new") == 0o600, "nobody else can read it")
  }

  /// The system cannot read this file at the offset 0. So `read` must fail, and must not report the end of the file.
  @Test func `a fault of the disk is not the end of the file`() throws {
    let file = try ByteFile(reading: "/proc/self/mem")
    #expect(throws: TerminalError.failed(operation: "read", code: EIO)) { try file.read() }
  }

  @Test func `a program gets its text byte for byte`() throws {
    let text = Array("test '".utf8) + [0xFF] + Array("' = \"$(printf '\\377')\"".utf8)
    #expect(try ChildProgram(text).run() == nil)
  }
}

/// `SIGTERM` ends the program, even if the parent blocked or ignored the signal. Changes committed before `SIGKILL` stay.
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
