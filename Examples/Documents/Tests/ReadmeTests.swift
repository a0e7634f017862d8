import Foundation
import TestSupport
import Testing

/// Checks that the examples on pages are compiled, and give the results that the pages show.
@Suite struct ReadmeTests {
  @Test(arguments: [
    ("README.md", "QuickStart/QuickStart"), ("Docs/Learn/Tutorial.md", "Tutorial/Weather"),
    ("Examples/README.md", "Rates/Rates"),
  ])
  func `the program on a page is the one that is compiled`(page: String, file: String) throws {
    let program = try Repository.text("Examples/\(file).swift")
    #expect(try Repository.text(page).contains("```swift\n" + program + "```"))
  }

  @Test func `the session in the README is what the programs answer`() throws {
    let session = Transcript(document: try Repository.text("README.md"))
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
