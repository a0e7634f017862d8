import Testing

@testable import LarderTerminal

extension LineEditorTests {
  @Suite struct CompletionTests {
    @Test func `the only candidate is inserted whole`() throws {
      let session = try TerminalSession()
      try session.type("ge\t").expect(line: "probe> get KEY...", column: 11)
    }

    @Test func `what the candidates share is inserted and then they are listed`() throws {
      let session = try TerminalSession()
      try session.type("k\t").expect(line: "probe> ke", column: 9)
      try session.type("\t").expect(["probe> ke", "keep   keys", "\u{2026} and more", "probe> ke"])
      try session.type("y\t").expect(line: "probe> keys", column: 12)
    }

    @Test func `a word is quoted if it must be`() throws {
      let session = try TerminalSession()
      try session.type("get Mal\t").expect(line: "probe> get \"Malm\u{F6}:0", column: 19)
      try session.type("8\t.\r").expect(answer: "get \"Malm\u{F6}:08\" .")
    }

    @Test func `a word in the middle is completed where it is`() throws {
      let session = try TerminalSession()
      try session.type("ge \u{E5}\u{65E5}\u{1B}[D\u{1B}[D\u{1B}[D\t")
      session.expect(line: "probe> get  \u{E5}\u{65E5}", column: 11)
    }

    @Test func `the list is below a line that wraps`() throws {
      let session = try TerminalSession(columns: 20)
      try session.type("0123456789 0123456789 ke\t").expect([
        "probe> 0123456789 01", "23456789 ke", "keep   keys", "\u{2026} and more",
        "probe> 0123456789 01", "23456789 ke",
      ])
    }

    @Test func `nothing fits`() throws {
      let session = try TerminalSession()
      try session.type("zz\tz\r").expect(["probe> zzz", "=zzz", "probe>"])
    }
  }
}

@Suite struct CompletionTests {
  @Test func `what is shared may end within a letter`() {
    let completion = Completion(
      from: 0, ["e\u{301}a", "e\u{300}b"].map { Completion.Candidate($0) })
    #expect(completion.commonPrefix == "e")
    #expect(Completion(from: 0, []).commonPrefix == "")
  }

  @Test func `labels are laid out in columns`() {
    let rows = Completion.columns(of: ["a", "bbb", "cc", "d", "e"], columns: 12, rows: 20)
    #expect(rows == ["a    d", "bbb  e", "cc"])
  }

  @Test func `a list longer than its room says what it leaves out`() {
    let labels = (0..<100).map { "label\($0)" }
    let first = Completion.columns(of: labels, columns: 12, rows: 2, canShowMore: true)
    #expect(first == ["label0", "label1", "\u{2026} 98 more; type more or press Tab again"])
    let second = Completion.columns(of: labels, columns: 12, rows: 3)
    #expect(second == ["label0", "label1", "label2", "\u{2026} 97 more"])
  }
}
