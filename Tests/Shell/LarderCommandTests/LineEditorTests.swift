import Foundation
import TestSupport
import Testing

/// The tests run one at a time, because many terminals at the same time would answer slowly.
@Suite(.serialized, .timeLimit(.minutes(20))) struct LineEditorTests {
  @Test func `a line is what was typed, and bytes that are not UTF-8 are seen`() throws {
    let session = try TerminalSession()
    session.expect(["probe>"])
    #expect(session.screen.rendition(of: "probe") == "1;36")
    #expect(session.screen.rendition(of: ">") == "")
    try session.type("keys\r").expect(["probe> keys", "=keys", "probe>"])
    try session.terminal.type(bytes: [0x61, 0xE5, 0x62, 0xFF, 0x63, 0x0D])
    session.expect([
      "probe> keys", "=keys", "probe> a\u{FFFD}b\u{FFFD}c", "=a\u{FFFD}b\u{FFFD}c", "probe>",
    ])
  }

  @Test(arguments: ["C.UTF-8", "C", "sv_SE.UTF-8"])
  func `letters of every width are edited`(locale: String) throws {
    let session = try TerminalSession(environment: ["LC_ALL": locale])
    try session.type("a\u{E5}\u{65E5}\u{672C}\u{1F682}z")
    session.expect(line: "probe> a\u{E5}\u{65E5}\u{672C}\u{1F682}z", column: 16)
    try session.type("\u{1B}[D\u{7F}").expect(line: "probe> a\u{E5}\u{65E5}\u{672C}z", column: 13)
    try session.type("\u{1B}[D\u{1B}[D\u{1B}[3~\u{F6}\r")
    session.expect(["probe> a\u{E5}\u{F6}\u{672C}z", "=a\u{E5}\u{F6}\u{672C}z", "probe>"])
  }

  @Test func `^C drops the line and nothing else, and ^L everything else`() throws {
    let session = try TerminalSession()
    try session.type("evict everything").expect(line: "probe> evict everything")
    try session.type("\u{1}\u{3}").expect(["probe> evict everything^C", "probe>"])
    try session.type("keys\r")
    session.expect(["probe> evict everything^C", "probe> keys", "=keys", "probe>"])
    try session.type("two").expect(line: "probe> two")
    try session.type("\u{C}").expect(["probe> two"])
  }

  @Test func `^C below a wrapped line leaves all of it`() throws {
    let session = try TerminalSession(columns: 20)
    try session.type("abcdefghijklmnopqrstuvwxyz\u{1}")
    session.expect("home") { $0.lines.count == 2 && $0.row == 0 && $0.column == 7 }
    try session.type("\u{3}").expect(["probe> abcdefghijklm", "nopqrstuvwxyz^C", "probe>"])
  }

  @Test func `^D leaves from an empty line only`() throws {
    let session = try TerminalSession()
    try session.type("ab\u{1}\u{4}").expect(line: "probe> b", column: 7)
    try session.leave(by: "\u{B}\u{4}")
    #expect(session.screen.lines.last == "bye")
    #expect(!session.screen.isPasteMarked)
  }

  @Test func `a hint is dim and no part of the line`() throws {
    let session = try TerminalSession()
    try session.type("get ").expect(line: "probe> get KEY...", column: 11)
    #expect(session.screen.rendition(of: "KEY") == "2")
    try session.type("x").expect(line: "probe> get x", column: 12)
    try session.type("\u{7F}").expect(line: "probe> get KEY...", column: 11)
    try session.type("\r").expect(
      ["probe> get", "=get ", "probe>"].map { $0.trimmingCharacters(in: .whitespaces) })
  }

  @Test func `a line is edited on when the window has another width`() throws {
    let session = try TerminalSession()
    try session.type("0123456789abcdefghij").expect(line: "probe> 0123456789abcdefghij")
    session.terminal.resize(columns: 40, rows: 20)
    try session.type("klmnopqrstuvwxyz").expect("two rows") {
      $0.lines.suffix(2) == ["probe> 0123456789abcdefghijklmnopqrstuvw", "xyz"]
    }
    session.terminal.resize(columns: 60, rows: 20)
    try session.type("\r").expect(answer: "0123456789abcdefghijklmnopqrstuvwxyz")
  }

  @Test func `keys of vi are had by editrc`() throws {
    let home = TemporaryDirectory()
    try home.write("larder:bind -v\n", to: ".editrc")
    let session = try TerminalSession(home: home)
    try session.type("abc def").expect(line: "probe> abc def")
    #expect(!session.screen.isPasteMarked)
    try session.type("\u{1B}0x").expect(line: "probe> bc def", column: 7)
    try session.type("A!\r").expect(["probe> bc def!", "=bc def!", "probe>"])
    try session.type("ge\t").expect(line: "probe> get KEY...")
  }

  @Test func `^Z gives the terminal back and fg takes it again`() throws {
    let session = try TerminalSession.shell()
    try session.type("\(TerminalSession.probe)\n").expect(line: "probe>")
    try session.type("abc").expect(line: "probe> abc")
    try session.type("\u{1A}").expect(line: "sh:")
    #expect(!session.screen.isPasteMarked)
    // A shell without its own line editor needs the echo of the terminal, but the typed line must appear only once.
    try session.type("echo back\n").expect("the answer of the shell") {
      $0.lines.suffix(3) == ["sh: echo back", "back", "sh:"]
    }
    try session.type("fg\n").expect(line: "probe> abc")
    #expect(session.screen.isPasteMarked)
    try session.type("d\r").expect(answer: "abcd")
    #expect(session.screen.lines.suffix(3) == ["probe> abcd", "=abcd", "probe>"])
    try session.type("\u{4}").expect(line: "sh:")
  }
}

@Suite(.serialized, .timeLimit(.minutes(20))) struct PlainLinesTests {
  @Test func `lines are answered as they come, and every byte of a pipe comes through`() throws {
    let pipeline = try Pipeline(running: TerminalSession.probe)
    for number in 0..<3 {
      try pipeline.write(Array("line \(number)\n".utf8))
      #expect(try pipeline.read(upTo: 8) == Array("=line \(number)\n".utf8))
    }
    let odd: [UInt8] = [0, 0xFF, 0xE5, 0x0D, 0x09, 0x1B]
    try pipeline.write(odd + Array("\n\nlast".utf8))
    try pipeline.closeInput()
    #expect(try pipeline.readAll() == [0x3D] + odd + Array("\n=\n=last\nbye\n".utf8))
    #expect(pipeline.waitForExit() == 0)
  }

  @Test func `a line may be of any length`() throws {
    let pipeline = try Pipeline(running: TerminalSession.probe)
    let length = 1_000_000
    let writer = Thread {
      let line = [UInt8](repeating: UInt8(ascii: "x"), count: length)
      // A failed write also makes the check of the length below fail, so this thread only prints the error.
      do {
        try pipeline.write(line + Array("\ny\n".utf8))
        try pipeline.closeInput()
      } catch { print(error) }
    }
    writer.start()
    let bytes = try pipeline.readAll()
    #expect(bytes.count == 1 + length + 1 + "=y\nbye\n".utf8.count)
    #expect(bytes.suffix(7) == Array("=y\nbye\n".utf8))
  }

  @Test func `a reader that is gone is an error and no signal`() throws {
    let pipeline = try Pipeline(running: TerminalSession.probe)
    try pipeline.closeOutput()
    try pipeline.write(Array("one\n".utf8))
    #expect(pipeline.waitForExit() == 3)
  }

  @Test func `SIGINT is seen while nothing comes and drops the unfinished line`() throws {
    let pipeline = try Pipeline(running: TerminalSession.probe)
    try pipeline.write(Array("one\nunfinished".utf8))
    #expect(try pipeline.read(upTo: 5) == Array("=one\n".utf8))
    pipeline.interrupt()
    #expect(try pipeline.read(upTo: 12) == Array("interrupted\n".utf8))
    try pipeline.write(Array("two\n".utf8))
    try pipeline.closeInput()
    #expect(try pipeline.readAll() == Array("=two\nbye\n".utf8))
    #expect(pipeline.waitForExit() == 0)
  }

  @Test func `a dumb terminal has plain lines and a plain prompt`() throws {
    let session = try TerminalSession(environment: ["TERM": "dumb"])
    #expect(session.screen.rendition(of: "probe") == "")
    try session.type("one\r").expect(["probe> one", "=one", "probe>"])
    try session.type("two").expect(line: "probe> two")
    try session.type("\u{3}").expect(["probe> one", "=one", "probe> two^C", "probe>"])
    try session.leave(by: "\u{4}")
    #expect(session.screen.lines.last == "bye")
  }
}

struct Pipeline {
  private let process = Process()
  private let input = Pipe()
  private let output = Pipe()

  init(running program: String) throws {
    process.executableURL = URL(fileURLWithPath: program)
    process.environment = ["TERM": "xterm-256color"]
    process.standardInput = input
    process.standardOutput = output
    try process.run()
  }

  func write(_ bytes: [UInt8]) throws { try input.fileHandleForWriting.write(contentsOf: bytes) }
  func closeInput() throws { try input.fileHandleForWriting.close() }

  /// Reads at most `count` bytes. Returns as soon as some bytes have come.
  func read(upTo count: Int) throws -> [UInt8] {
    [UInt8](try output.fileHandleForReading.read(upToCount: count) ?? Data())
  }

  func readAll() throws -> [UInt8] {
    [UInt8](try output.fileHandleForReading.readToEnd() ?? Data())
  }

  func closeOutput() throws { try output.fileHandleForReading.close() }
  func interrupt() { process.interrupt() }

  /// The exit status. The number is negative if a signal ended the program.
  func waitForExit() -> Int32 {
    process.waitUntilExit()
    return process.terminationReason == .exit
      ? process.terminationStatus : -process.terminationStatus
  }
}
