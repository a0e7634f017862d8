import ExampleTesting

@testable import Departures

/// The number of requests that the cache avoids in a recorded week of an app. A line of `Sample/week.txt` has the time at which
/// the app was opened, for how many minutes, the landing that was shown, and whether the map was shown. A line of
/// `Sample/delays.txt` has a landing, and a time in which its next boats were late: its board was then fresh for only a minute.
@Suite(.fixture(TestedStores.self)) struct RecordedWeekTests {
  private typealias Session = (start: Timestamp, minutes: Int, station: String, hasMap: Bool)

  private static func rows(_ file: String) throws -> [[String]] {
    try Repository.text("Examples/Departures/Sample/\(file).txt").split(separator: "\n")
      .map { $0.split(separator: " ").map(String.init) }
  }

  private static func sessions() throws -> [Session] {
    try rows("week").map { (try moment($0[0]), Int($0[1])!, $0[2], $0[3] == "map") }
  }

  private struct App {
    let fixture: Fixture
    var cache: DeparturesCache
    var reads = 0
    var failures = 0
    private let favourites = ["8503651", "8503669", "8503675", "8503674", "8503681"]

    init(_ policy: RequestPolicy = .standard) throws {
      fixture = try Fixture(at: "2025-07-07T06:00:00+0200")
      cache = fixture.under(policy)
      // An app shows a stale value while it fetches a newer value. The test waits for the newer value, with equal requests.
      cache.waitsForNewer = true
      let delays = try RecordedWeekTests.rows("delays").map {
        (station: $0[0], time: try moment($0[1])..<moment($0[2]), minutes: Int($0[3]))
      }
      fixture.services.change { [clock = fixture.clock] in
        $0.delay = { station, leaves in
          let now = clock.now
          guard leaves >= now, leaves < now.advanced(by: .hours(1)) else { return nil }
          return delays.first { $0.station == station && $0.time.contains(now) }?.minutes
        }
      }
    }

    /// When the app starts, it shows the boards of its five favourites. Every 30 s it draws the board with the names of ships.
    /// In the third minute, it draws the weather and the water of a lake.
    mutating func show(_ session: Session) async {
      if session.start > fixture.clock.now { fixture.clock.set(to: session.start) }
      let lake = Lake.known[0]
      for station in favourites { await read { try await $0.board(at: station) } }
      for half in 0..<(session.minutes * 2) {
        await read { try await $0.board(at: session.station) }
        await read { try await $0.ships() }
        if half == 4 {
          await read { try await $0.forecasts(for: lake) }
          await read { try await $0.temperature(of: lake) }
          await read { try await $0.level(of: lake) }
        }
        for tile in 0..<(half == 6 && session.hasMap ? 9 : 0) {
          await read { try await $0.tile(zoom: 13, x: tile % 3, y: tile / 3) }
        }
        fixture.clock.advance(by: .seconds(30))
      }
    }

    private mutating func read<Value>(
      _ lookup: (DeparturesCache) async throws -> CacheResult<Value>
    ) async {
      reads += 1
      do { _ = try await lookup(cache) } catch { failures += 1 }
    }

    mutating func enterBackground() async throws {
      for await step in try cache.enterBackground(favourites) {
        if case .widget = step.key { continue }
        reads += 1
        if case .failed = step.outcome { failures += 1 }
      }
    }
  }

  @Test func `a week spares 95 % of requests, the first start 80 %`() async throws {
    let sessions = try Self.sessions()
    #expect(sessions.count > 50)
    var (plain, first, week) = (try App(.reload), try App(), try App())
    for session in sessions.prefix(3) { await plain.show(session) }
    #expect(plain.fixture.services.count == plain.reads, "without a cache each read is a request")
    await first.show(sessions[0])
    try await first.enterBackground()
    for session in sessions {
      await week.show(session)
      try await week.enterBackground()
    }
    for (app, share) in [(first, 0.2), (week, 0.05)] {
      #expect(app.failures == 0)
      #expect(Double(app.fixture.services.count) <= share * Double(app.reads))
    }
  }

  @Test func `with the service down a warm cache answers 99 %`() async throws {
    var app = try App()
    let sessions = try Self.sessions()
    let fall = try moment("2025-07-12T08:30:00+0200")
    for session in sessions where session.start < fall {
      await app.show(session)
      try await app.enterBackground()
    }
    app.fixture.services.change { $0.answers["/"] = FakeServices.down }
    (app.cache.waitsForNewer, app.reads, app.failures) = (false, 0, 0)
    for session in sessions where session.start >= fall { await app.show(session) }
    #expect(app.reads > 1000 && Double(app.failures) <= 0.01 * Double(app.reads))
  }
}
