import Foundation
import LarderHTTPTesting
import TestSupport
import Testing

/// The pages show the programs that are compiled, and the commands in the sessions of the pages give the answers shown there.
@Suite struct PageTests {
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
      // The page shows both streams in their order, and no exit code.
      let answer = try fixture.answer(to: step.command, asAtTerminal: true)
        .split(separator: "\n").filter { !$0.hasPrefix("? ") }
        .map { ($0.hasPrefix("! ") ? $0.dropFirst(2) : $0) + "\n" }.joined()
      #expect(step.accepts(answer), "\(step.command): \(answer)")
    }
  }

  @Test func `the sessions of the tutorial are what the programs answer`() async throws {
    let fixture = ProgramFixture()
    try await LocalServer.run { server in
      server.become { request in
        let file = URL(fileURLWithPath: fixture.home.path + "/service" + request.path)
        guard let data = try? Data(contentsOf: file) else { return .init(404) }
        return .init(200, ["Content-Type": "application/json"], body: data)
      }
      // Runs outside the threads of tasks: a command waits for the server, which needs such a thread.
      let faults = try await withCheckedThrowingContinuation { continuation in
        Thread.detachNewThread {
          continuation.resume(with: Result { try Self.faults(server.base, in: fixture) })
        }
      }
      #expect(faults.isEmpty, "\(faults)")
    }
  }

  /// The commands whose answers differ from the page.
  private static func faults(_ base: String, in fixture: ProgramFixture) throws -> [String] {
    let page = try Repository.text("Docs/Learn/Tutorial.md")
    var faults: [String] = []
    _ = try fixture.answer(to: "mkdir service")
    for line in page.split(separator: "\n") where line.hasPrefix("    echo ") {
      _ = try fixture.answer(to: String(line))
    }
    // In the last part of the page the service is down, so its commands get an address without a server.
    let parts = page.components(separatedBy: "## 6.")
    for (part, address) in zip(parts, [base, "http://127.0.0.1:1"]) {
      for step in Transcript(document: part).steps {
        let answer = try fixture.answer(
          to: "export SERVICE=\(address); " + step.command, asAtTerminal: true)
        if !step.accepts(answer) { faults.append("\(step.command): \(answer)") }
      }
    }
    return faults + (parts.count == 2 ? [] : ["the page has no part 6"])
  }
}
