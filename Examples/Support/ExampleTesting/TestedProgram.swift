import Foundation
package import TestSupport
public import Testing

/// A built program with a store in a temporary folder.
public struct TestedProgram: Sendable {
  private let folder = TemporaryDirectory()
  public let store: String
  private let name: String

  public init(_ name: String, store: String = "store") {
    self.name = name
    self.store = folder.path + "/" + store
  }

  /// Runs the commands of a table, one after the other, and checks their outcomes.
  ///
  ///     sync --offline             | 6 of 6 articles: done
  ///     show nosuch --offline = 1  | ! error: the service answered 404
  ///
  /// A row has a command for a shell, its exit code (0 by default), and pieces of its output, or with `!` of standard error.
  /// For `^piece` the output must begin with the piece; `_` means a line feed. If the exit code is 0 and no piece is for
  /// standard error, standard error must be empty.
  public func check(
    _ table: String, sourceLocation: SourceLocation = #_sourceLocation
  ) async throws {
    for row in table.split(separator: "\n") {
      let parts = row.components(separatedBy: " | ").map { $0.trimmingCharacters(in: .whitespaces) }
      let words = parts[0].components(separatedBy: " = ")
      let outcome = try await run(words[0])
      let code = words.count > 1 ? Int32(words[1].trimmingCharacters(in: .whitespaces)) : 0
      let pieces = parts.dropFirst()
      let isQuiet = code == 0 && !pieces.contains { $0.hasPrefix("!") }
      let fits = pieces.allSatisfy { Self.has(outcome, $0) }
      #expect(
        outcome.code == code && fits && (!isQuiet || outcome.error == ""),
        "\(parts[0]): \(outcome)", sourceLocation: sourceLocation)
    }
  }

  private static func has(_ outcome: Outcome, _ piece: String) -> Bool {
    var (text, piece) = (outcome.output, piece)
    if piece.hasPrefix("!") {
      (text, piece) = (outcome.error, piece.dropFirst().trimmingCharacters(in: .whitespaces))
    }
    piece = piece.replacing("_", with: "\n")
    return piece.hasPrefix("^") ? text.hasPrefix(piece.dropFirst()) : text.contains(piece)
  }

  /// Runs a command that a shell would split into words.
  public func run(_ line: String) async throws -> Outcome {
    try await Outcome(line: "\(name) \(line) --store '\(store)'")
  }
}

/// The result of a built program. A thread of its own waits for it: a blocked test would stop the servers of the tests.
public struct Outcome: Sendable {
  public var code: Int32
  public var output: String
  public var error: String

  /// Runs a shell command line with the built programs in the PATH, in the directory of a fixture: `larder my.larder -e keys`.
  package init(line: String, in fixture: ProgramFixture = ProgramFixture()) async throws {
    let answer: (code: Int32, output: String, error: String) =
      try await withCheckedThrowingContinuation { continuation in
        Thread.detachNewThread { continuation.resume(with: Result { try fixture.run(line) }) }
      }
    (code, output, error) = answer
  }

  /// The last lines of the output, which call `larder`.
  public var suggestions: [String] {
    output.split(separator: "\n").map(String.init).filter { $0.hasPrefix("  larder ") }
  }
}
