import Testing

@testable import LarderTerminal

extension LineEditorTests {
  @Suite struct PasteTests {
    @Test func `lines that are pasted run once Return is pressed`() throws {
      let session = try TerminalSession()
      #expect(session.screen.isPasteMarked)
      try session.type("a \u{1B}[200~one\rtwo\tthr\u{E5}\r\u{1B}[201~!")
      session.expect("two rows") { $0.lines.first == "probe> a one" && $0.lines.count == 2 }
      #expect(!session.screen.lines.contains { $0.hasPrefix("=") })
      try session.type("\r")
      session.expect("one answer") {
        $0.lines.contains { $0.hasPrefix("=a one|two") && $0.hasSuffix("thr\u{E5}!") }
      }
    }

    @Test func `much can be pasted`() throws {
      let session = try TerminalSession(columns: 200, rows: 40)
      let text = String(repeating: "0123456789", count: 300)
      try session.type("\u{1B}[200~\(text)\u{1B}[201~\r")
      session.expect("all of it twice") { $0.lines.joined() == "probe> \(text)=\(text)probe>" }
    }

    @Test func `Alt-Return begins another row`() throws {
      let session = try TerminalSession()
      try session.type("one\u{1B}\rtwo")
      session.expect(["probe> one", "two"])
      try session.type("\u{3}")
      session.expect(["probe> one", "two^C", "probe>"])
    }

    @Test func `what is pasted holds no keys`() {
      #expect(LineEditor.pasted("a\u{1B}[A\u{0}\u{7}b\nc\rd\n\te\n") == "a[Ab\nc\nd\n\te")
    }
  }
}
