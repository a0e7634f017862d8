import Foundation
import TestSupport
import Testing

@Suite(.serialized, .timeLimit(.minutes(20))) struct PlainLinesTests {
  @Test func `every byte of a pipe comes through`() throws {
    let pipeline = try Pipeline(running: TerminalSession.probe)
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
      // This thread only prints an error. If the write fails, the check of the length below fails, too.
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

  @Test func `lines are answered as they come`() throws {
    let pipeline = try Pipeline(running: TerminalSession.probe)
    for number in 0..<3 {
      try pipeline.write(Array("line \(number)\n".utf8))
      #expect(try pipeline.read(upTo: 8) == Array("=line \(number)\n".utf8))
    }
    try pipeline.closeInput()
    #expect(pipeline.waitForExit() == 0)
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

/// A program between two pipes.
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

  /// Reads all bytes until the program ends.
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
