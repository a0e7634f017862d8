import Foundation
import Larder
import TestSupport
import Testing

/// A program at a terminal. The default program is the probe of the line editor. `deinit` removes the home directory.
final class TerminalSession {
  let terminal: PseudoTerminal

  /// - Parameter prompt: The prompt to wait for. Nil means that the initializer does not wait.
  init(
    running program: String = probe, _ arguments: [String] = [], showing prompt: String? = "probe>",
    home: TemporaryDirectory = TemporaryDirectory(), environment: [String: String] = [:],
    columns: Int = 80, rows: Int = 24
  ) throws {
    self.home = home
    var all = ["HOME": home.path, "TERM": "xterm-256color", "LANG": "C.UTF-8"]
    all.merge(environment) { $1 }
    terminal = try PseudoTerminal(
      running: program, arguments, environment: all, columns: columns, rows: rows)
    if let prompt { expect(line: prompt, column: prompt.count + 1) }
  }

  convenience init(
    larder arguments: [String], showing prompt: String? = "larder>", home: TemporaryDirectory,
    environment: [String: String] = [:], columns: Int = 120, rows: Int = 24
  ) throws {
    try self.init(
      running: ProgramFixture.programs + "/larder", arguments, showing: prompt, home: home,
      environment: environment, columns: columns, rows: rows)
  }

  /// An interactive shell without an editor of its own.
  static func shell(home: TemporaryDirectory = TemporaryDirectory()) throws -> TerminalSession {
    try TerminalSession(
      running: "/bin/sh", ["-i"], showing: "sh:", home: home, environment: ["PS1": "sh: "])
  }

  static let probe = ProgramFixture.programs + "/LineEditorProbe"
  private let home: TemporaryDirectory
  var screen: Screen { terminal.screen }

  @discardableResult func type(_ keys: String) throws -> TerminalSession {
    try terminal.type(keys)
    return self
  }

  /// Waits until the screen meets a condition. The message of a failure has the screen.
  func expect(
    _ wanted: Comment, at location: SourceLocation = #_sourceLocation, _ isAsAsked: (Screen) -> Bool
  ) {
    let isThere = terminal.shows(isAsAsked)
    let shown = terminal.screen
    let picture = shown.lines.map { "    |\($0)" }.joined(separator: "\n")
    #expect(
      isThere, "\(wanted) at \(shown.row),\(shown.column):\n\(picture)", sourceLocation: location)
    #expect(shown.unknown.isEmpty, sourceLocation: location)
  }

  func expect(_ lines: [String], at location: SourceLocation = #_sourceLocation) {
    expect("\(lines)", at: location) { $0.lines == lines }
  }

  /// Expects these rows below the two rows of the banner.
  func expect(belowBanner lines: [String], at location: SourceLocation = #_sourceLocation) {
    expect("\(lines)", at: location) { Array($0.lines.dropFirst(2)) == lines }
  }

  /// Waits for the probe's answer and next prompt. Keys that are typed before that prompt would go to the terminal itself.
  func expect(answer: String, at location: SourceLocation = #_sourceLocation) {
    expect("the answer \(answer)", at: location) {
      $0.lines.contains("=" + answer) && $0.line == "probe>"
    }
  }

  func expect(row: String, at location: SourceLocation = #_sourceLocation) {
    expect("the row \(row)", at: location) { $0.lines.contains(row) }
  }

  /// Expects this text in the row of the cursor, and the cursor in the column.
  func expect(line: String, column: Int? = nil, at location: SourceLocation = #_sourceLocation) {
    expect("\(line)", at: location) { $0.line == line && (column ?? $0.column) == $0.column }
  }

  /// Types keys that end the program, and expects its exit status.
  func leave(
    by keys: String, status: Int32 = 0, at location: SourceLocation = #_sourceLocation
  ) throws {
    try type(keys)
    #expect(try terminal.waitForExit() == status, sourceLocation: location)
  }
}

extension TemporaryDirectory {
  var store: String { path + "/store" }

  func withStore(_ body: (Store) throws -> Void) throws {
    let store = try Store(at: store)
    try body(store)
    try store.close()
  }
}
