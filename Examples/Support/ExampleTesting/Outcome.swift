import Foundation
import Synchronization
import TestSupport

/// The result of a built program.
///
/// A thread of its own waits for the program: a test that blocked its thread would stop the servers of the tests.
public struct Outcome: Sendable {
  public var code: Int32
  public var output: String
  public var error: String

  /// Runs a shell command line with the built programs in the PATH: `larder my.larder -e keys`.
  public init(line: String) async throws {
    let arguments = ["-c", "PATH=\"$1:$PATH\"; \(line)", "sh", ProgramFixture.programs]
    self = try await withCheckedThrowingContinuation { continuation in
      Thread.detachNewThread {
        continuation.resume(with: Result { try Outcome(ofShell: arguments) })
      }
    }
  }

  /// The last lines of the output, which call `larder`.
  public var suggestions: [String] {
    output.split(separator: "\n").map(String.init).filter { $0.hasPrefix("  larder ") }
  }

  /// A lock for the start of a process: Foundation has crashed when many threads started processes at once.
  private static let starting = Mutex(())

  private init(ofShell arguments: [String]) throws {
    let process = Process()
    let (output, error) = (Pipe(), Pipe())
    process.executableURL = URL(filePath: "/bin/sh")
    process.arguments = arguments
    process.standardInput = FileHandle.nullDevice
    process.standardOutput = output
    process.standardError = error
    try Self.starting.withLock { _ in try process.run() }
    // Standard error fits into the pipe's buffer, so the streams can be read one after the other.
    self.output = String(
      decoding: try output.fileHandleForReading.readToEnd() ?? Data(), as: UTF8.self)
    self.error = String(
      decoding: try error.fileHandleForReading.readToEnd() ?? Data(), as: UTF8.self)
    process.waitUntilExit()
    code = process.terminationStatus
  }
}
