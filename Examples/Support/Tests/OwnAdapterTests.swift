import ExampleTesting

/// The adapter on the examples' page works. Tests of pages check that the page shows the compiled program.
@Suite struct OwnAdapterTests {
  @Test func `it answers what the page says it does, and asks once`() async throws {
    let page = try Repository.text("Examples/README.md")
    let fixture = ProgramFixture()
    let known = ["/2026-01-05": "0.9312", "/2026-01-06": "0.9298"]
    try await LocalServer.run { server in
      server.become { request in
        guard let rate = known[request.path] else { return .init(404) }
        return .init(200, text: #"{"base": "EUR", "rates": {"CHF": \#(rate)}}"#)
      }
      func run(_ line: some StringProtocol) async throws -> Outcome {
        try await Outcome(line: String(line), in: fixture)
      }
      let step = try #require(Transcript(document: page).steps.first)
      let command = step.command.replacing("https://rates.example", with: server.base)
      let first = try await run(command)
      #expect(first.code == 0 && step.accepts(first.output) && server.count == 2, "\(first)")
      let second = try await run(command)
      #expect(second.output.contains("2026-01-05 0.9312 memory") && server.count == 2)
      let listed = try await run(try #require(step.answer.split(separator: "\n").last))
      #expect(listed.code == 0 && listed.output.contains("2026-01-06"))
      #expect(try await run(command + " 2026-01-07").code == 5, "a day without rates")
    }
  }
}
