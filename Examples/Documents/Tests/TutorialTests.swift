import Foundation
import LarderHTTPTesting
import Synchronization
import TestSupport
import Testing

/// The tutorial works as written: its program is compiled as shown, and its sessions are run.
@Suite struct TutorialTests {
  @Test func `the program of the tutorial is the one that is compiled`() throws {
    let page = try Repository.text("Docs/Learn/Tutorial.md")
    let program = try Repository.text("Examples/Tutorial/Weather.swift")
    #expect(page.contains("```swift\n" + program + "```"))
    // Each step of the tutorial in the reference has lines of the program, in their order.
    func lines(_ text: String) -> [String] {
      text.split(separator: "\n").map { $0.trimmingCharacters(in: .whitespaces) }
    }
    let steps = try (1...3).map {
      try Repository.text("Sources/Core/Larder/Larder.docc/Resources/weather-\($0).swift")
    }
    #expect(lines(steps[2]) == lines(program))
    for step in steps {
      var rest = lines(program)[...]
      for line in lines(step) {
        let index = try #require(rest.firstIndex(of: line), "\(line)")
        rest = rest[(index + 1)...]
      }
    }
  }

  @Test func `the sessions of the tutorial are what the programs answer`() async throws {
    let folder = Mutex("")
    try await LocalServer.run { server in
      server.become { request in
        let file = URL(fileURLWithPath: folder.withLock { $0 } + request.path)
        guard let data = try? Data(contentsOf: file) else { return .init(404) }
        return .init(200, ["Content-Type": "application/json"], body: data)
      }
      // Runs outside the threads of tasks: a command waits for the server, which needs such a thread.
      let faults = try await withCheckedThrowingContinuation { continuation in
        Thread.detachNewThread {
          continuation.resume(
            with: Result { try Self.faults(server.base) { path in folder.withLock { $0 = path } } })
        }
      }
      #expect(faults.isEmpty, "\(faults)")
    }
  }

  /// The commands whose answers differ from the page.
  private static func faults(_ base: String, serve: (String) -> Void) throws -> [String] {
    let page = try Repository.text("Docs/Learn/Tutorial.md")
    let fixture = ProgramFixture()
    serve(fixture.home.path + "/service")
    var faults: [String] = []
    _ = try fixture.answer(to: "mkdir service")
    for line in page.split(separator: "\n") where line.hasPrefix("    echo ") {
      _ = try fixture.answer(to: String(line))
    }
    // In the page's last part the service is down.
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
