import Articles
import ExampleTesting

/// The pace of a sync: its requests at a time, their priority, and its reaction when the service asks it to wait.
@Suite(.fixture(Fixture.self)) struct PacingTests {
  private let fixture = Fixture.current

  @Test func `four images of an article are fetched at a time`() async throws {
    fixture.readeck.fill(2, images: 9)
    func images() -> Int { fixture.server.received.count { $0.bare.hasPrefix("/img") } }
    let gate = fixture.hold { $0.bare.hasPrefix("/img") }
    let run = try fixture.reader.sync()
    try await waitUntil { images() >= 4 }
    // No further requests come while these four are held.
    try await Task.sleep(for: .milliseconds(100))
    #expect(images() == 4)
    gate.open()
    #expect(await run.result().images == 18)
  }

  @Test func `priorities of syncs and images`() async throws {
    fixture.readeck.fill(3, images: 2)
    func watch(_ run: SyncRun) async {
      // An iteration does not raise the priority, but a wait for the result does.
      for await _ in run {}
    }
    func expect(pages: TaskPriority) {
      for (path, priority) in fixture.network.sent {
        #expect(priority == (path.hasPrefix("/img") ? .background : pages), "\(path)")
      }
      #expect(!fixture.network.sent.isEmpty)
      fixture.network.sent = []
    }
    await watch(try #require(try fixture.reader.syncIfDue()))
    expect(pages: .background)
    try await fixture.reader.signOut()
    await watch(try fixture.reader.sync())
    expect(pages: .utility)
  }

  @Test func `a server that asks to wait ends the sync`() async throws {
    fixture.readeck.fill(10)
    fixture.answer(Fixture.body(5)) { $0 = .init(429, ["Retry-After": "600"]) }
    let result = try await fixture.sync()
    #expect(result.outcome == .partial && result.isStopped && result.stored == 4)
    #expect(fixture.asked().bodies.count == 5)
  }
}
