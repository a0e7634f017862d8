import Foundation

/// A built program with a store in a temporary folder.
public struct TestedProgram: Sendable {
  public let folder: TemporaryFolder
  public let store: String
  private let name: String

  /// - Parameters:
  ///   - name: the program's name.
  ///   - store: the store's name.
  public init(_ name: String, store: String) throws {
    folder = try TemporaryFolder()
    self.name = name
    self.store = folder.url.path + "/" + store
  }

  public func run(_ arguments: String...) async throws -> Outcome { try await run(arguments) }

  /// The decoded output of a command with `--json`.
  public func answer<Value: Decodable>(
    _ type: Value.Type, _ arguments: String...
  ) async throws -> Value {
    let outcome = try await run(arguments + ["--json"])
    guard outcome.code == 0, outcome.error.isEmpty else { throw Failed(outcome: outcome) }
    return try JSONDecoder().decode(type, from: Data(outcome.output.utf8))
  }

  /// The outputs of the commands in its closing lines.
  public func lastAnswers(of outcome: Outcome) async throws -> [String] {
    var answers: [String] = []
    for line in outcome.suggestions {
      let answer = try await Outcome(line: line)
      guard answer.code == 0, answer.error.isEmpty else { throw Failed(outcome: answer) }
      answers.append(answer.output)
    }
    return answers
  }

  public struct Failed: Error {
    public var outcome: Outcome
  }

  public func run(_ arguments: [String]) async throws -> Outcome {
    try await Outcome(of: [name] + arguments + ["--store", store])
  }
}
