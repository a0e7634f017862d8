import Departures
import Larder

/// A week of an app, session by session, in the form of its log: when it was opened, for how many minutes, the landing that
/// was looked at, and whether the map was. Nobody's own: written down as one person would use it.
///
/// At the start it asks for the boards of its five favourites and for the ships; while it is open it draws the board anew
/// every half minute, with the ships' names; and on opening a lake's page it asks for the weather, the water and the sun.
struct Week {
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

  static func sessions() throws -> [Session] {
    try log.split { $0 == ";" || $0 == "\n" }.compactMap { line in
      let words = line.split(separator: " ").map(String.init)
      guard words.count == 4 else { return nil }
      return Session(
        start: try moment("2025-07-" + words[0] + ":00+0200"), minutes: Int(words[1])!,
        station: words[2], hasMap: words[3] == "map")
    }
  }
}

/// Asks what an app asks, and counts.
struct Visitor {
  let cache: DeparturesCache
  let clock: ManualClock
  /// What is asked: the cache as an app uses it, or the services each time.
  var policy = RequestPolicy.standard
  private(set) var reads = 0
  private(set) var failures: [any Error] = []

  init(_ bench: Bench, policy: RequestPolicy = .standard) {
    cache = bench.cache
    clock = bench.clock
    self.policy = policy
  }

  mutating func visit(_ session: Week.Session) async throws {
    if session.start > clock.now {
      clock.advance(by: clock.now.duration(to: session.start))
    }
    let (cache, policy) = (cache, policy)
    for station in Week.favourites {
      await read { _ = try await cache.board(at: station, policy: policy) }
    }
    for half in 0..<(session.minutes * 2) {
      await read { _ = try await cache.board(at: session.station, policy: policy) }
      await read { _ = try await cache.ships(policy: policy) }
      if half == 4 { await lookAtLake() }
      if half == 6, session.hasMap { await lookAtMap() }
      clock.advance(by: .seconds(30))
    }
  }

  private mutating func lookAtLake() async {
    let (cache, policy) = (cache, policy)
    let lake = cache.lakes[0]
    await read { _ = try await cache.forecast(of: lake, policy: policy) }
    await read { _ = try await cache.temperature(of: lake, policy: policy) }
    await read { _ = try await cache.level(of: lake, policy: policy) }
  }

  private mutating func lookAtMap() async {
    let (cache, policy) = (cache, policy)
    for tile in 0..<9 {
      await read {
        _ = try await cache.tile(zoom: 13, x: 4290 + tile % 3, y: 2870 + tile / 3, policy: policy)
      }
    }
  }

  private mutating func read(_ body: () async throws -> Void) async {
    reads += 1
    do { try await body() } catch { failures.append(error) }
  }
}
