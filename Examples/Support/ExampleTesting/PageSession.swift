public import Foundation
import Testing

/// A session on a page of the examples: commands after `    $ `, and their output below them.
public struct PageSession {
  /// A command and its output; `...` stands for any lines.
  public struct Step {
    public var command: String
    public var answer: [String]

    /// Whether the output is that of the page.
    public func fits(_ output: String) -> Bool {
      var lines = output.split(separator: "\n", omittingEmptySubsequences: false)
        .map { Self.plain(String($0)) }[...]
      if lines.last == "" { lines.removeLast() }
      let answer = answer.map(Self.plain)
      let pieces = answer.split(separator: "...", omittingEmptySubsequences: false)
      guard pieces.count > 1 else { return Array(lines) == answer }
      return lines.starts(with: pieces[0]) && lines.reversed().starts(with: pieces[1].reversed())
        && lines.count >= pieces[0].count + pieces[1].count
    }

    /// The line without digests of users, which differ between stores.
    private static func plain(_ line: String) -> String {
      line.replacing(#/[0-9a-f]{32}/#, with: "DIGEST")
    }
  }

  public var steps: [Step] = []

  /// - Parameter page: its path in the examples.
  public init(of page: String) throws {
    let file = Folders.examples.appending(path: page)
    var isInside = false
    for line in try String(contentsOf: file, encoding: .utf8).components(separatedBy: "\n") {
      if line.hasPrefix("    $ ") {
        steps.append(Step(command: String(line.dropFirst(6)), answer: []))
        isInside = true
      } else if isInside, line.hasPrefix("    ") {
        steps[steps.count - 1].answer.append(String(line.dropFirst(4)))
      } else {
        isInside = false
      }
    }
  }

  /// Runs the commands in a folder, and expects the outputs of the page.
  public func check(in folder: URL) async throws {
    for step in steps {
      let outcome = try await Outcome(line: "cd '\(folder.path)'; \(step.command)")
      #expect(outcome.code == 0 && step.fits(outcome.output), "\(step.command): \(outcome)")
    }
  }
}
