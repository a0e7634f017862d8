import ExampleTesting

/// Tests of the built program as a process, with the recording in the repository.
@Suite struct ProgramTests {
  private let program = TestedProgram("larder-departures", store: "my store")

  @Test func `a service that fails or refuses is named, and hides no other`() async throws {
    let fake = FakeServices()
    try await LocalServer.run { server in
      server.become { request in
        if request.path.contains("forecast") { return .init(500, json: #"{"message": "no"}"#) }
        return try fake.answer(request.path)
      }
      let base = "--now 2025-07-12T08:30:00+0200 --base \(server.base)"
      let morning = "--now 2025-07-13T05:00:00+0200 --base \(server.base)"
      try await program.check(
        """
        lake thunersee \(base) | temperature  18.7 C | weather      unknown: the service answered 500: no
        publish 1 \(base)      | ^1: 20 departures
        """)
      fake.change { $0.answers["/"] = .init(403, text: "no") }
      try await program.check(
        """
        favourites 2 \(base) = 5 | ! ^2: the service answered 403
        favourites 8503669 --offline             | ^1 loaded
        favourites 2 \(base) --no-network = 4    | ^0 loaded | ! ^2: the service cannot be reached
        board 8503669 \(base) --no-network = 4   | ! there is no network
        board 1 \(morning) | 09:00     BAT 91 | stale: the service answered 403 | ! ^names of ships: the service answered 403
        """)
    }
  }

  @Test func `the page shows the lines that matter as they are`() throws {
    let page = try Repository.text("Examples/Departures/README.md")
    let lines = page.components(separatedBy: "```")[1].dropFirst("swift\n".count)
    let source = try Repository.text("Examples/Departures/Departures/DeparturesCache.swift")
    #expect(source.contains(lines))
  }
}
