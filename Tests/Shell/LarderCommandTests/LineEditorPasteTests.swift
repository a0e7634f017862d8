import TestSupport
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

/// Reads of pasted text that ^C interrupts, without a terminal.
@Suite struct PasteReaderTests {
  /// Typed bytes, and the place of ^C among them.
  private final class Input {
    private var left: ArraySlice<UInt8>
    private var untilInterrupted: Int?
    /// The places after which no byte comes for a while.
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

  @Test func `a paste whose mark never comes ends when no more comes`() throws {
    let input = Input("one\rtwo\rkeys\r", interruptedAfter: 2)
    input.pauses = [8]
    #expect(try input.reader.read() == nil)
    #expect(input.rest == "keys\r")
  }

  @Test func `the end of the input ends a paste`() throws {
    #expect(try Input("one\u{1B}[201", interruptedAfter: nil).reader.read() == nil)
  }
}
