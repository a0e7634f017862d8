import Foundation
import TestSupport
import Testing

/// Checks that the examples in the README give the results that it shows.
@Suite struct ReadmeTests {
  private let page: String
  init() throws { page = try Repository.text("README.md") }

  @Test func `the program in the README is the one that is compiled`() throws {
    let program = try Repository.text("Examples/QuickStart/QuickStart.swift")
    #expect(page.contains("```swift\n" + program + "```"))
  }

  @Test func `the session in the README is what the programs answer`() throws {
    let session = Transcript(document: page)
    let fixture = ProgramFixture()
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
