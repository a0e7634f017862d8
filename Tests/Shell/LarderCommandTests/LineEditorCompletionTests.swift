import Testing

@testable import LarderTerminal

extension LineEditorTests {
  @Suite struct CompletionTests {
    @Test func `the only candidate is inserted whole, and none changes nothing`() throws {
      let session = try TerminalSession()
      try session.type("ge\t").expect(line: "probe> get KEY...", column: 11)
      try session.type("\u{15}zz\tz\r").expect(["probe> zzz", "=zzz", "probe>"])
    }

    @Test func `what the candidates share is inserted and then they are listed`() throws {
      let session = try TerminalSession()
      try session.type("k\t").expect(line: "probe> ke", column: 9)
      try session.type("\t").expect(["probe> ke", "keep  keys", "\u{2026} and more", "probe> ke"])
      try session.type("y\t").expect(line: "probe> keys", column: 12)
    }

    @Test func `a word is quoted if it must be, and completed where it is`() throws {
      let session = try TerminalSession()
      try session.type("get Mal\t").expect(line: "probe> get \"Malm\u{F6}:0", column: 19)
      try session.type("8\t.\r").expect(answer: "get \"Malm\u{F6}:08\" .")
      try session.type("ge \u{E5}\u{65E5}\u{1B}[D\u{1B}[D\u{1B}[D\t")
      session.expect(line: "probe> get  \u{E5}\u{65E5}", column: 11)
    }

    @Test func `the list is below a line that wraps`() throws {
      try TerminalSession(columns: 20).type("0123456789 0123456789 ke\t").expect([
        "probe> 0123456789 01", "23456789 ke", "keep  keys", "\u{2026} and more",
        "probe> 0123456789 01", "23456789 ke",
      ])
    }
  }
}

@Suite struct CompletionTests {
  @Test func `what is shared may end within a letter, and labels are laid out in columns`() {
    #expect(Completion(from: 0, ["e\u{301}a", "e\u{300}b"]).commonPrefix == "e")
    #expect(Completion(from: 0, []).commonPrefix == "")
    let rows = Completion.columns(of: ["a", "bbb", "cc", "d", "e"], columns: 12, rows: 20)
    #expect(rows == ["a    d", "bbb  e", "cc"])
    let labels = (0..<100).map { "label\($0)" }
    let first = Completion.columns(of: labels, columns: 12, rows: 2, canShowMore: true)
    #expect(first == ["label0", "label1", "\u{2026} 98 more; type more or press Tab again"])
    let second = Completion.columns(of: labels, columns: 12, rows: 3)
    #expect(second == ["label0", "label1", "label2", "\u{2026} 97 more"])
  }
}

extension LineEditorTests {
  @Suite struct PasteTests {
    @Test func `lines that are pasted run once Return is pressed`() throws {
      let session = try TerminalSession()
      #expect(session.screen.isPasteMarked)
      try session.type("a \u{1B}[200~one\rtwo\tthr\u{E5}\r\u{1B}[201~!")
      session.expect("two rows") { $0.lines.first == "probe> a one" && $0.lines.count == 2 }
      #expect(!session.screen.lines.contains { $0.hasPrefix("=") })
      try session.type("\r").expect("one answer") {
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
      try session.type("one\u{1B}\rtwo").expect(["probe> one", "two"])
      try session.type("\u{3}").expect(["probe> one", "two^C", "probe>"])
    }

    @Test func `what is pasted holds no keys`() {
      #expect(LineEditor.pasted("a\u{1B}[A\u{0}\u{7}b\nc\rd\n\te\n") == "a[Ab\nc\nd\n\te")
    }
  }
}

/// Tests how ^C interrupts the reading of pasted text. Needs no terminal.
@Suite struct PasteReaderTests {
  /// Typed bytes, and the number of bytes after which ^C comes.
  private final class Input {
    private var left: ArraySlice<UInt8>
    private var untilInterrupted: Int?
    /// The numbers of bytes after which the input pauses.
    var pauses: Set<Int> = []

    init(_ text: String, interruptedAfter count: Int?) {
      left = Array(text.utf8)[...]
      untilInterrupted = count
    }

    var rest: String { String(decoding: left, as: UTF8.self) }

    var reader: PasteReader {
      PasteReader(
        next: { () throws(TerminalError) in
          if self.untilInterrupted == self.left.startIndex { return nil }
          return self.left.popFirst().map { Unicode.Scalar($0) }
        },
        nextByte: { () throws(TerminalError) in
          self.pauses.remove(self.left.startIndex) == nil ? self.left.popFirst() : nil
        })
    }
  }

  private static let text = "one\revict @a --yes\rthree\u{1B}[201~"

  @Test func `what stands before the mark is the text`() throws {
    let input = Input(Self.text + "keys\r", interruptedAfter: nil)
    #expect(try input.reader.read() == "one\revict @a --yes\rthree")
    #expect(input.rest == "keys\r")
  }

  @Test(arguments: 0..<text.utf8.count)
  func `nothing of an interrupted paste is left to run`(place: Int) throws {
    let input = Input(Self.text + "keys\r", interruptedAfter: place)
    #expect(try input.reader.read() == nil)
    #expect(input.rest == "keys\r")
  }

  @Test func `a paste whose mark never comes ends when no more comes, or with the input`() throws {
    let input = Input("one\rtwo\rkeys\r", interruptedAfter: 2)
    input.pauses = [8]
    #expect(try input.reader.read() == nil)
    #expect(input.rest == "keys\r")
    #expect(try Input("one\u{1B}[201", interruptedAfter: nil).reader.read() == nil)
  }
}
