import ExampleTesting
import Foundation
import Testing

/// What the page shows is what happens.
@Suite struct ReadmeTests {
  @Test func `every line of the session is printed by its commands`() async throws {
    let page = try String(
      contentsOf: Folders.examples.appending(path: "Departures/README.md"), encoding: .utf8)
    let session = page.split(separator: "\n").filter { $0.hasPrefix("    ") }
      .map { $0.dropFirst(4) }
    let start = try #require(session.firstIndex { $0.hasPrefix("$ ") })
    let folder = try TemporaryFolder()
    func run(_ line: Substring) async throws -> [Substring] {
      let outcome = try await Outcome(line: "cd '\(folder.url.path)' && \(line)")
      #expect(outcome.code == 0 && outcome.error == "", "\(line): \(outcome.error)")
      return outcome.output.split(separator: "\n")
    }
    var (printed, commands) = ([Substring](), 0)
    for line in session[start...] where line.hasPrefix("$ ") {
      // The widget that goes on is asked before and after instead.
      let command = line.dropFirst(2).replacing(" --watch", with: "").prefix { $0 != "&" }
      printed += try await run(command)
      commands += 1
    }
    #expect(commands == 6)
    printed += try await run("larder-departures widget --offline --store boats.larder")
    for line in session[start...] where !line.hasPrefix("$ ") && line != "..." {
      #expect(printed.contains(line), "\(line)")
    }
  }
}
