import Foundation
import TestSupport
import Testing

/// A program at a terminal, by default the probe, with a home directory that goes when the session does.
final class TerminalSession {
  let terminal: PseudoTerminal

  /// - Parameters:
  ///   - program: Its path.
  ///   - prompt: What it shows when it is ready; nil if that is not to be waited for.
  ///   - home: Whose history and settings it finds.
  ///   - environment: In addition to what a terminal's shell sets.
  init(
    running program: String = probe, _ arguments: [String] = [],
    showing prompt: String? = "probe>", home: TemporaryHome = TemporaryHome(),
    environment: [String: String] = [:],
    columns: Int = 80, rows: Int = 24
  ) throws {
    self.home = home
    var all = ["HOME": home.path, "TERM": "xterm-256color", "LANG": "C.UTF-8"]
    all.merge(environment) { $1 }
    terminal = try PseudoTerminal(
      running: program, arguments, environment: all, columns: columns, rows: rows)
    if let prompt { expect(line: prompt, column: prompt.count + 1) }
  }

  static let probe = ProgramFixture.programs + "/LineEditorProbe"

  private let home: TemporaryHome

  var screen: Screen { terminal.screen }

  func type(_ keys: String) throws { try terminal.type(keys) }

  /// Expects the screen to come to look as asked; what it shows instead is in the message.
  func expect(
    _ wanted: Comment, at location: SourceLocation = #_sourceLocation,
    _ isAsAsked: (Screen) -> Bool
  ) {
    let isThere = terminal.shows(isAsAsked)
    let shown = terminal.screen
    let picture = shown.lines.map { "    |\($0)" }.joined(separator: "\n")
    #expect(
      isThere, "\(wanted) at \(shown.row),\(shown.column):\n\(picture)", sourceLocation: location)
    #expect(shown.unknown.isEmpty, sourceLocation: location)
  }

  /// Expects these rows on the screen and nothing else.
  func expect(_ lines: [String], at location: SourceLocation = #_sourceLocation) {
    expect("\(lines)", at: location) { $0.lines == lines }
  }

  /// Expects the probe's answer to a line, and its next prompt: keys typed before that would go to the terminal's own line.
  func expect(answer: String, at location: SourceLocation = #_sourceLocation) {
    expect("the answer \(answer)", at: location) {
      $0.lines.contains("=" + answer) && $0.line == "probe>"
    }
  }

  /// Expects the row of the cursor to be this, with the cursor in the column.
  func expect(
    line: String, column: Int? = nil, at location: SourceLocation = #_sourceLocation
  ) {
    expect("\(line)", at: location) { $0.line == line && (column ?? $0.column) == $0.column }
  }
}
