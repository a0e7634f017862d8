import Departures
import ExampleTesting

/// A week of an app, session by session, in the form of its log: when it was opened, for how many minutes, the landing that
/// was shown, and whether the map was.
///
/// At the start the app requests the boards of its five favourites; while it is open it draws the board every half minute, with
/// the names of ships; on the page of a lake it requests the weather and the water. When it leaves the screen it updates the
/// widget, and fetches the boards of tomorrow.
struct RecordedWeek {
  struct Session {
    var start: Timestamp
    var minutes: Int
    var station: String
    var hasMap: Bool
  }

  static let favourites = ["8503651", "8503669", "8503675", "8503674", "8503681"]

  private static let log = """
    07T06:50 12 8503651 -; 07T07:25 9 8503651 -; 07T09:40 4 8503669 -; 07T11:55 8 8503651 map; 07T12:40 5 8503669 -;
    07T16:45 11 8503651 -; 07T17:20 14 8503651 -; 07T19:05 6 8503669 -; 07T21:30 4 8503651 -;
    08T06:48 7 8503651 -; 08T07:22 12 8503651 -; 08T10:10 3 8503675 -; 08T12:05 9 8503651 -; 08T13:15 4 8503669 -;
    08T16:40 13 8503651 -; 08T17:15 16 8503651 map; 08T18:50 7 8503669 -; 08T22:10 5 8503651 -;
    09T06:51 6 8503651 -; 09T07:24 10 8503651 -; 09T12:00 8 8503651 -; 09T15:30 5 8503674 -; 09T16:44 12 8503651 -;
    09T17:18 15 8503651 -; 09T19:40 6 8503669 -; 09T21:05 4 8503651 -;
    10T06:49 7 8503651 -; 10T07:27 11 8503651 -; 10T09:15 4 8503669 -; 10T12:10 9 8503651 -; 10T14:05 5 8503681 map;
    10T16:42 12 8503651 -; 10T17:17 14 8503651 -; 10T20:00 8 8503669 -; 10T23:50 12 8503651 -;
    11T06:50 6 8503651 -; 11T07:23 10 8503651 -; 11T11:50 10 8503651 -; 11T13:00 5 8503669 -; 11T16:30 15 8503651 -;
    11T17:05 17 8503651 -; 11T18:30 9 8503669 map; 11T20:45 7 8503651 -;
    12T08:10 12 8503651 map; 12T09:05 18 8503669 -; 12T10:30 14 8503669 -; 12T11:45 16 8503675 -; 12T13:10 11 8503675 -;
    12T14:20 15 8503669 map; 12T15:35 19 8503651 -; 12T17:00 14 8503651 -; 12T18:40 12 8503651 -; 12T21:15 6 8503669 -;
    13T09:00 14 8503651 -; 13T10:15 17 8503674 map; 13T11:30 12 8503674 -; 13T13:20 16 8503681 -; 13T14:45 13 8503651 -;
    13T16:10 18 8503651 -; 13T17:35 11 8503669 -; 13T20:30 7 8503651 -
    """

  /// When boats were late, so that a board was right for a minute only.
  static func news() throws -> [FakeServices.News] {
    try [
      ("8503651", "07T17:00", "07T17:30", 3), ("8503651", "09T12:00", "09T12:10", 2),
      ("8503651", "11T16:20", "11T16:50", 6), ("8503669", "12T14:10", "12T14:40", 9),
    ].map { station, from, to, minutes in
      .init(station: station, span: try time(from)..<time(to), minutes: minutes)
    }
  }

  private static func time(_ text: String) throws -> Timestamp {
    try moment("2025-07-" + text + ":00+0200")
  }

  static func sessions() throws -> [Session] {
    try log.split { $0 == ";" || $0 == "\n" }.compactMap { line in
      let words = line.split(separator: " ").map(String.init)
      guard words.count == 4 else { return nil }
      return Session(
        start: try time(words[0]), minutes: Int(words[1])!, station: words[2],
        hasMap: words[3] == "map")
    }
  }
}

/// Makes the requests of an app, and counts them.
struct SimulatedApp {
  let cache: DeparturesCache
  let clock: JumpingClock
  /// The cache as an app uses it, or the services each time.
  let policy: RequestPolicy
  /// Whether what is fetched in the background, or ahead, arrives.
  var areServicesUp = true
  private(set) var reads = 0
  private(set) var failures: [any Error] = []

  init(_ fixture: Fixture, policy: RequestPolicy = .standard) throws {
    try Widget(fixture.store).save(WidgetSettings(stations: RecordedWeek.favourites))
    (cache, clock, self.policy) = (fixture.cache, fixture.clock, policy)
  }

  mutating func run(_ session: RecordedWeek.Session) async throws {
    if session.start > clock.now { clock.advance(by: clock.now.duration(to: session.start)) }
    for station in RecordedWeek.favourites { try await readBoard(at: station) }
    for half in 0..<(session.minutes * 2) {
      try await readBoard(at: session.station)
      try await readShips()
      if half == 4 { try await readLake() }
      if half == 6, session.hasMap { try await readMap() }
      clock.advance(by: .seconds(30))
    }
    try await leave()
  }

  private mutating func leave() async throws {
    guard policy == .standard else {
      for days in 0...1 {
        for station in RecordedWeek.favourites { try await readBoard(at: station, inDays: days) }
      }
      return try await readShips()
    }
    for await step in try cache.enterBackground() where areServicesUp {
      reads += 1
      if case .failed(let error) = step.outcome { failures.append(error) }
    }
  }

  private mutating func readBoard(at station: String, inDays days: Int = 0) async throws {
    let day = try cache.today.advanced(by: days)
    try await read(.boards, DeparturesCache.boardKey(station, on: day)) { cache, policy in
      try await cache.board(at: station, on: day, policy: policy).source
    }
  }

  private mutating func readShips() async throws {
    try await read(.ships, "\(cache.today)") { try await $0.ships(policy: $1).source }
  }

  private mutating func readLake() async throws {
    let lake = cache.lakes[0]
    try await read(.weather, lake.id) { try await $0.forecast(of: lake, policy: $1).source }
    try await read(.temperatures, lake.id) {
      try await $0.temperature(of: lake, policy: $1)?.source
    }
    try await read(.levels, lake.id) { try await $0.level(of: lake, policy: $1)?.source }
  }

  private mutating func readMap() async throws {
    for tile in 0..<9 {
      let (x, y) = (4290 + tile % 3, 2870 + tile / 3)
      try await read(.tiles, "13/\(x)/\(y)") {
        try await $0.tile(zoom: 13, x: x, y: y, policy: $1).source
      }
    }
  }

  private mutating func read<Source: Equatable>(
    _ namespace: BoatNamespace, _ key: String,
    _ body: (DeparturesCache, RequestPolicy) async throws -> Source
  ) async throws {
    reads += 1
    do {
      guard "\(try await body(cache, policy))".contains("stale"), areServicesUp else { return }
    } catch {
      failures.append(error)
      return
    }
    // Half a minute is more than a refresh takes; here it is over at once, and the refresh is waited for instead, for a
    // second at most.
    let entries = cache.store.namespace(namespace.name)
    do {
      try await waitUntil(within: .seconds(1)) { try entries.entry(for: key)?.state == .fresh }
    } catch is NeverTrue {
      // The refresh was refused.
    }
  }
}
