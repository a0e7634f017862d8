import Foundation
import TestSupport
import Testing

/// Checks that the examples in the README give the results that it shows.
@Suite struct ReadmeTests {
  /// The first block of a language in a page.
  private static func block(_ language: String, in page: String) throws -> String {
    let start = try #require(page.range(of: "```\(language)\n"))
    let end = try #require(page[start.upperBound...].range(of: "```"))
    return String(page[start.upperBound..<end.lowerBound])
  }

  @Test func `the program in the README is the one that is compiled`() throws {
    let shown = try Self.block("swift", in: try Repository.text("README.md"))
    #expect(shown == (try Repository.text("Examples/QuickStart/QuickStart.swift")))
  }

  @Test func `the session in the README is what the programs answer`() throws {
    let session = Transcript(try Self.block("console", in: try Repository.text("README.md")))
    let fixture = try ProgramFixture()
    #expect(session.steps.count > 4)
    for step in session.steps {
      // A reader sees both streams in their order, and no exit code.
      let answer = try fixture.answer(to: step.command, asAtTerminal: true)
        .split(separator: "\n").filter { !$0.hasPrefix("? ") }
        .map { ($0.hasPrefix("! ") ? $0.dropFirst(2) : $0) + "\n" }.joined()
      #expect(step.accepts(answer), "\(step.command): \(answer)")
    }
  }
}
