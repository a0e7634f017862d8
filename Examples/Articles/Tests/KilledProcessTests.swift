import ExampleTesting

@testable import Articles

/// A process is killed during a sync, and the next sync makes only the requests that were not yet answered.
@Suite(.serialized) struct KilledProcessTests {
  /// The number of requests that the server answers before it kills the process in the next request.
  @Test(arguments: [0, 1, 2, 3, 6, 9, 14, 24, 30])
  func `a killed sync goes on where it was, whenever it was killed`(count: Int) async throws {
    let program = TestedProgram("larder-articles", store: "articles")
    defer { withExtendedLifetime(program) {} }
    let path = program.store
    let readeck = FakeReadeck()
    readeck.fill(10, images: 2)
    try await LocalServer.run { server in
      let account = "--server \(server.base)/api --token \(FakeReadeck.token)"
      try await program.check("settings --images \(account)")
      let ended = Gate()
      let isKilled = Atomic(false)
      server.become { request in
        if server.count > count {
          // Kills only once: another process may get the number of the dead process.
          if !isKilled.exchange(true, ordering: .relaxed) {
            let number = try String(contentsOfFile: path + "-process", encoding: .utf8)
            kill(try #require(Int32(number.trimmingBlanks)), SIGKILL)
          }
          await ended.pass()
        }
        return readeck.answer(request)
      }
      let killed = try await Outcome(
        line: "echo $$ > \(path)-process; exec larder-articles sync --store \(path) \(account)")
      #expect(killed.code == SIGKILL)
      ended.open()
      server.become { readeck.answer($0) }
      // Without this file, the dead process holds no leases for its loads, so the next sync does not wait until the leases end.
      try? FileManager.default.removeItem(atPath: path + "/leases")
      let clock = ManualClock(now: Timestamp(Date()))
      let store = try Store(at: path, options: Store.Options(clock: clock))
      let network = FaultyTransport(over: URLSessionTransport())
      let reader = Fixture.reader(in: store, at: server.base, over: network)
      let bodies = try reader.articles.keys().compactMap(\.string)
      let pictures = try reader.images.keys().compactMap(\.string)
      // The process fetched one body after the other, so the store has all answered bodies.
      let answered = Set(server.received.prefix(count).map(\.path))
      #expect(bodies.count >= answered.count { $0.hasSuffix("/article") })
      let result = try await reader.sync().result()
      #expect(
        result.kept == 10 && result.failed == 0 && result.skipped == bodies.count, "\(result)")
      // The server may still count requests of the dead process, so the test counts the requests of this process's network.
      let asked = network.requests.compactMap(\.path)
      #expect(asked.count == 1 + 10 - bodies.count + 20 - pictures.count)
      #expect(try reader.usage().articles == 10 && reader.usage().images == 20)
      await reader.finish()
      try store.finish()
    }
  }
}
