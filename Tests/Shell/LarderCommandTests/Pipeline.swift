import Foundation
import TestSupport

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

  /// At most `count` bytes, as soon as some bytes come.
  func read(upTo count: Int) throws -> [UInt8] {
    [UInt8](try output.fileHandleForReading.read(upToCount: count) ?? Data())
  }

  /// All bytes until the program ends.
  func readAll() throws -> [UInt8] {
    [UInt8](try output.fileHandleForReading.readToEnd() ?? Data())
  }

  func closeOutput() throws { try output.fileHandleForReading.close() }

  func interrupt() { process.interrupt() }

  /// The exit status; negative if a signal ended the program.
  func waitForExit() -> Int32 {
    process.waitUntilExit()
    return process.terminationReason == .exit
      ? process.terminationStatus : -process.terminationStatus
  }
}
