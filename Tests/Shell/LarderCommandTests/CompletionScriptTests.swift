import Foundation
import TestSupport
import Testing

/// Completions in the shells for which they are made, if those shells are installed.
@Suite(.serialized, .timeLimit(.minutes(20))) struct CompletionScriptTests {
  private let fixture = ProgramFixture()

  static func path(of program: String) -> String? {
    ["/bin/", "/usr/bin/", "/usr/local/bin/"].map { $0 + program }
      .first { FileManager.default.isExecutableFile(atPath: $0) }
  }

  /// A shell at a terminal with the completions loaded.
  private func session(
    _ shell: String, _ arguments: [String], taking script: String
  ) throws -> TerminalSession {
    _ = try fixture.answer(to: "larder --completions \(shell) > _larder")
    let session = try TerminalSession(
      running: try #require(Self.path(of: shell)), arguments, showing: nil, home: fixture.home,
      environment: ["PATH": ProgramFixture.programs + ":/usr/bin:/bin", "PS1": "> "])
    try session.type("cd '\(fixture.home.path)'; \(script); echo rea''dy\r")
    expect("the completions taken in", session) { $0.lines.contains("ready") }
    return session
  }

  /// Does not check for unknown sequences: these shells use more sequences than the screen knows.
  private func expect(
    _ wanted: Comment, _ session: TerminalSession, _ isAsAsked: (Screen) -> Bool
  ) {
    let isThere = session.terminal.shows(within: .seconds(20), isAsAsked)
    #expect(isThere, "\(wanted): \(session.screen.lines)")
  }

  private func check(_ session: TerminalSession) throws {
    try session.type("larder --outp\t")
    expect("an option", session) { $0.line.contains("larder --output") }
    try session.type("js\t")
    expect("a value", session) { $0.line.contains("larder --output json") }
    try session.type("\u{15}larder -e nam\t")
    expect("a command", session) { $0.line.contains("larder -e namespaces") }
  }

  @Test(.enabled(if: path(of: "bash") != nil, "bash is not installed"))
  func `bash completes options, their values and commands`() throws {
    try check(try session("bash", ["--norc", "--noprofile", "-i"], taking: ". ./_larder"))
  }

  @Test(.enabled(if: path(of: "zsh") != nil, "zsh is not installed"))
  func `zsh completes options, their values and commands`() throws {
    let script = "fpath=($PWD $fpath); autoload -Uz compinit; compinit -u -D"
    try check(try session("zsh", ["-f", "-i"], taking: script))
  }

  @Test(.enabled(if: path(of: "fish") != nil, "fish is not installed"))
  func `fish completes options, their values and commands`() throws {
    _ = try fixture.answer(to: "larder --completions fish > larder.fish")
    func candidates(_ line: String) throws -> [String] {
      try fixture.answer(
        to: "fish --no-config -c 'source larder.fish; complete -C \"\(line)\"' | cut -f 1"
      ).split(separator: "\n").map(String.init)
    }
    #expect(try candidates("larder --outp") == ["--output"])
    #expect(try candidates("larder x --output js") == ["json", "jsonl"])
    #expect(try candidates("larder x -e names") == ["namespaces"])
  }
}
