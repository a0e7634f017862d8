import Foundation

/// A built program, as a test runs it from outside, with a store in a folder that lasts as long as this does.
public struct TestedProgram: Sendable {
  public let folder: TemporaryFolder
  public let store: String
  private let name: String

  /// - Parameters:
  ///   - name: as it is called.
  ///   - store: the name of its store.
  public init(_ name: String, store: String) throws {
    folder = try TemporaryFolder()
    self.name = name
    self.store = folder.url.path + "/" + store
  }

  public func run(_ arguments: String...) async throws -> Outcome { try await run(arguments) }

  /// What it prints with `--json`, decoded.
  public func answer<Value: Decodable>(
    _ type: Value.Type, _ arguments: String...
  ) async throws -> Value {
    let outcome = try await run(arguments + ["--json"])
    guard outcome.code == 0, outcome.error.isEmpty else { throw Failed(outcome: outcome) }
    return try JSONDecoder().decode(type, from: Data(outcome.output.utf8))
  }

  /// What the commands in its last words answer when they are typed.
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

  private func run(_ arguments: [String]) async throws -> Outcome {
    try await Outcome(of: [name] + arguments + ["--store", store])
  }
}
