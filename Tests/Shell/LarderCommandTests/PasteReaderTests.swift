import TestSupport
import Testing

@testable import LarderTerminal

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
