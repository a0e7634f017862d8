import ExampleTesting

@testable import Articles

/// Kills a process during its sync, and counts the requests that the next sync still makes.
@Suite(.serialized) struct KilledProcessTests {
  /// The number of requests that the server answers. The process is killed at the next request.
  @Test(arguments: [0, 1, 2, 3, 6, 9, 10, 14, 19, 24, 30])
  func `a killed sync goes on where it was, whenever it was killed`(count: Int) async throws {
    let program = TestedProgram("larder-articles")
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
          // Kills only once, because after the kill another process may get the same process id.
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

      // Removes the leases of the killed process, so that the loads of this process need not wait for them.
      try? FileManager.default.removeItem(atPath: path + "/leases")
      // The clock does not move, so that no request reaches its time limit on a busy machine.
      let clock = ManualClock(now: Timestamp(Date()))
      let store = try Store(at: path, options: Store.Options(clock: clock))
      let network = FaultyTransport(over: URLSessionTransport())
      let reader = Fixture.reader(in: store, at: server.base, over: network)
      let bodies = try reader.articles.keys().compactMap(\.string)
      let images = try reader.images.keys().compactMap(\.string)
      // Bodies are fetched one by one, and each is stored before the next request. So all answered bodies are stored.
      let answered = Set(server.received.prefix(count).map(\.path))
      #expect(bodies.count >= answered.count { $0.hasSuffix("/article") })
      let result = try await reader.sync().result()
      #expect(
        result.kept == 10 && result.failed == 0 && result.skipped == bodies.count, "\(result)")
      // The server may still receive requests of the killed process, so the requests of this process are counted here.
      let asked = network.requests.compactMap(\.path)
      #expect(asked.count == 1 + 10 - bodies.count + 20 - images.count)
      let stored =
        bodies.map { "/api/bookmarks/\($0)/article" }
        + images.map { String($0.dropFirst(server.base.count)) }
      #expect(Set(asked).isDisjoint(with: stored))
      #expect(try reader.usage().articles == 10 && reader.usage().images == 20)
      try store.finish()
    }
  }
}
