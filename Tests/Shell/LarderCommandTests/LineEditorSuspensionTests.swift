import TestSupport
import Testing

extension LineEditorTests {
  @Test func `^Z gives the terminal back and fg takes it again`() throws {
    let home = TemporaryHome()
    let terminal = try PseudoTerminal(
      running: "/bin/sh", ["-i"],
      environment: ["HOME": home.path, "TERM": "xterm-256color", "PS1": "sh: ", "LANG": "C.UTF-8"])
    func expect(_ line: String, at location: SourceLocation = #_sourceLocation) {
      let isThere = terminal.shows { $0.line == line }
      #expect(isThere, "\(line): \(terminal.screen.lines)", sourceLocation: location)
    }
    expect("sh:")
    try terminal.type("\(TerminalSession.probe)\n")
    expect("probe>")
    try terminal.type("abc")
    expect("probe> abc")
    try terminal.type("\u{1A}")
    expect("sh:")
    #expect(!terminal.screen.isPasteMarked)
    try terminal.type("echo back\n")
    // A shell without an editor of its own needs the terminal's echo: the typed line shows once.
    #expect(terminal.shows { $0.lines.suffix(3) == ["sh: echo back", "back", "sh:"] })
    try terminal.type("fg\n")
    expect("probe> abc")
    #expect(terminal.screen.isPasteMarked)
    try terminal.type("d\r")
    expect("probe>")
    #expect(terminal.screen.lines.suffix(3) == ["probe> abcd", "=abcd", "probe>"])
    try terminal.type("\u{4}")
    expect("sh:")
  }
}
