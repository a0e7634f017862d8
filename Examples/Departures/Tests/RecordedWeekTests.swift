import ExampleTesting

@testable import Departures

/// The requests that the cache spares in a recorded week of an app. Each line of `Sample/week.txt` has the time of opening, the
/// minutes, the landing that was shown, and whether the map was shown.
///
/// At its start the app shows the boards of its five favourites. Every half minute it draws the board with the names of
/// ships, and once the weather and the water of a lake. Then it goes to the background.
@Suite(.checkedStores) struct RecordedWeekTests {
  private static let favourites = ["8503651", "8503669", "8503675", "8503674", "8503681"]

  private typealias Session = (start: Timestamp, minutes: Int, station: String, hasMap: Bool)

  private static func time(_ text: String) throws -> Timestamp {
    try moment("2025-07-\(text):00+0200")
  }

  private static func sessions() throws -> [Session] {
    try Repository.text("Examples/Departures/Sample/week.txt").split(separator: "\n").map { line in
      let words = line.split(separator: " ").map(String.init)
      return (try time(words[0]), Int(words[1])!, words[2], words[3] == "map")
    }
  }

  private struct App {
    let fixture: Fixture
    var cache: DeparturesCache
    var reads = 0
    var failures = 0
    /// Whether fetches in the background, or ahead of use, succeed.
    var areServicesUp = true
    var clock: JumpingClock { fixture.clock }

    init(_ policy: RequestPolicy = .standard) throws {
      fixture = try Fixture(at: "2025-07-07T06:00:00+0200")
      cache = fixture.with(policy)
      // The times at which boats were late, so that a board was right only for a minute.
      let news = try [
        ("8503651", "07T17:00", "07T17:30", 3), ("8503651", "09T12:00", "09T12:10", 2),
        ("8503651", "11T16:20", "11T16:50", 6), ("8503669", "12T14:10", "12T14:40", 9),
      ].map { station, from, to, minutes in
        (station: station, span: try RecordedWeekTests.time(from)..<time(to), minutes: minutes)
      }
      fixture.services.change { $0.news = news }
    }

    mutating func run(_ session: Session) async throws {
      if session.start > clock.now { clock.set(to: session.start) }
      let lake = Lake.known[0]
      for station in RecordedWeekTests.favourites {
        try await read { try await $0.board(at: station).isStale }
      }
      for half in 0..<(session.minutes * 2) {
        try await read { try await $0.board(at: session.station).isStale }
        try await read { try await $0.ships(on: $0.today).isStale }
        if half == 4 {
          try await read { try await $0.forecasts(for: lake).isStale }
          try await read { try await $0.temperature(of: lake).isStale }
          try await read { try await $0.level(of: lake).isStale }
        }
        for tile in 0..<(half == 6 && session.hasMap ? 9 : 0) {
          try await read { try await $0.tile(zoom: 13, x: tile % 3, y: tile / 3).isStale }
        }
        clock.advance(by: .seconds(30))
      }
      if cache.policy == .reload { return }
      for await step in try cache.enterBackground(RecordedWeekTests.favourites) where areServicesUp
      {
        if case .widget = step.key { continue }
        reads += 1
        if case .failed = step.outcome { failures += 1 }
      }
    }

    /// Reads a value. An app would wait for half a minute, in which a refresh ends; this method waits for the refresh itself.
    private mutating func read(
      _ body: @escaping @Sendable (DeparturesCache) async throws -> Bool
    ) async throws {
      reads += 1
      let cache = cache
      do {
        guard try await body(cache), areServicesUp else { return }
        try await waitUntil(within: .seconds(1)) { try await !body(cache) }
      } catch is NeverTrue {
        // The refresh was refused.
      } catch { failures += 1 }
    }
  }

  @Test func `a week spares 95 % of requests, the first start 80 %`() async throws {
    let sessions = try Self.sessions()
    #expect(sessions.count > 50)
    var (plain, first, week) = (try App(.reload), try App(), try App())
    for session in sessions.prefix(3) { try await plain.run(session) }
    #expect(plain.fixture.services.count == plain.reads, "without a cache each read is a request")
    try await first.run(sessions[0])
    for session in sessions { try await week.run(session) }
    for (app, share) in [(first, 0.2), (week, 0.05)] {
      print("\(app.reads) reads, \(app.fixture.services.count) requests")
      #expect(app.failures == 0)
      #expect(Double(app.fixture.services.count) <= share * Double(app.reads))
    }
  }

  @Test func `with the service down a warm cache answers 99 %`() async throws {
    var app = try App()
    let sessions = try Self.sessions()
    let fall = try Self.time("12T08:30")
    for session in sessions where session.start < fall { try await app.run(session) }
    app.fixture.services.change { $0.answers["/"] = FakeServices.down }
    (app.areServicesUp, app.reads, app.failures) = (false, 0, 0)
    for session in sessions where session.start >= fall { try await app.run(session) }
    print("services down: \(app.reads) reads, \(app.failures) without an answer")
    #expect(app.reads > 1000 && Double(app.failures) <= 0.01 * Double(app.reads))
  }

  @Test func `a repeat needs no request, and so is more than 10 times as fast`() async throws {
    let fixture = try Fixture()
    for _ in 0..<2 {
      for station in 0..<30 { _ = try await fixture.cache.board(at: "\(8_503_000 + station)") }
      #expect(fixture.services.count == 30)
    }
  }
}
