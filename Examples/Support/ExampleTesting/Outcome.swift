import Foundation
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
    self = try await withCheckedThrowingContinuation { continuation in
      Thread.detachNewThread {
        continuation.resume(with: Result { try Outcome(ofShell: line) })
      }
    }
  }

  private init(ofShell line: String) throws {
    (code, output, error) = try ProgramFixture().run(line)
  }

  /// The last lines of the output, which call `larder`.
  public var suggestions: [String] {
    output.split(separator: "\n").map(String.init).filter { $0.hasPrefix("  larder ") }
  }
}
