import ExampleTesting

@testable import Departures

/// What the cache is worth, over a recorded week.
@Suite(.checkedStores) struct RecordedWeekTests {
  private func requests(
    of sessions: [RecordedWeek.Session], policy: RequestPolicy = .standard
  ) async throws -> (requests: Int, reads: Int, hitRate: Double?) {
    let fixture = try Fixture(at: "2025-07-07T06:00:00+0200", jumps: true)
    let news = try RecordedWeek.news()
    fixture.services.change {
      $0.fields = ["Cache-Control": "max-age=60"]
      $0.news = news
    }
    var app = try SimulatedApp(fixture, policy: policy)
    for session in sessions { try await app.run(session) }
    #expect(app.failures.isEmpty)
    let hitRate = try fixture.store.statistics().reads.hitRate
    return (fixture.services.count, app.reads, hitRate)
  }

  @Test func `a week spares 95 % of requests, the first start 80 %`() async throws {
    let sessions = try RecordedWeek.sessions()
    #expect(sessions.count > 50)
    let plain = try await requests(of: Array(sessions.prefix(3)), policy: .reload)
    #expect(plain.requests == plain.reads, "without a cache each read is a request")
    let cached = try await requests(of: sessions)
    let first = try await requests(of: Array(sessions.prefix(1)))
    print(
      "a week: \(cached.reads) reads, \(cached.requests) requests, hit rate \(cached.hitRate ?? -1);",
      "the first session: \(first.reads) reads, \(first.requests) requests")
    #expect(Double(cached.requests) <= 0.05 * Double(cached.reads))
    #expect(Double(first.requests) <= 0.2 * Double(first.reads))
  }

  @Test func `without services a warm cache answers 99 %`() async throws {
    let fixture = try Fixture(at: "2025-07-07T06:00:00+0200", jumps: true)
    let news = try RecordedWeek.news()
    fixture.services.change { $0.news = news }
    var app = try SimulatedApp(fixture)
    let sessions = try RecordedWeek.sessions()
    let last = try #require(
      sessions.firstIndex { $0.start > (try! moment("2025-07-12T08:30:00+0200")) })
    for session in sessions[..<last] { try await app.run(session) }
    fixture.services.change { $0.isDown = true }
    app.areServicesUp = false
    let before = app.reads
    for session in sessions[last...] { try await app.run(session) }
    #expect(try CalendarDay(of: fixture.clock.now).description == "2025-07-13")
    let reads = app.reads - before
    print("services down: \(reads) reads, \(app.failures.count) without an answer")
    #expect(reads > 1000)
    #expect(Double(app.failures.count) <= 0.01 * Double(reads), "\(app.failures)")
  }

  @Test func `the same again comes from the store`() async throws {
    let clock = ManualClock(now: try moment("2025-07-12T08:00:00+0200"))
    let fake = FakeServices()
    try await withServer(clock) { server, cache in
      server.become { fake.answer($0.path) }
      for _ in 0..<2 {
        for station in 0..<30 { _ = try await cache.board(at: "\(8_503_000 + station)") }
        #expect(server.count == 30)
      }
    }
  }
}
