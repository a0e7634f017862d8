import ExampleTesting

@testable import Departures

/// Boards that are asked for again before their lifetime ends: before a departure, and where a busy station's ends.
@Suite(.checkedStores) struct BoardNewsTests {
  @Test func `a board is asked for again before a departure of which nothing was known`()
    async throws
  {
    let fixture = try Fixture()
    var cache = fixture.cache
    cache.waitsForNewer = true
    _ = try await cache.board(at: "1")
    for (time, requests) in [
      ("08:44", 1), ("08:45", 2), ("08:54", 2), ("08:55", 3), ("09:00", 3), ("12:44", 3),
    ] {
      fixture.clock.set(to: try moment("2025-07-12T\(time):00+0200"))
      _ = try await cache.board(at: "1")
      #expect(fixture.services.count == requests, "\(time)")
    }
    // Work ahead of use takes it as it is, and an app shows it at once.
    fixture.clock.set(to: try moment("2025-07-12T12:45:00+0200"))
    #expect(try await cache.publish("1").first?.leaves == moment("2025-07-12T13:00:00+0200"))
    #expect(fixture.services.count(of: "stationboard") == 3)
    fixture.services.change { $0.delay = 20 }
    #expect(try await fixture.cache.board(at: "1").source == .stale)
    try await waitUntil { try await cache.board(at: "1", policy: .cacheOnly).value.isLive }
  }

  @Test func `without the service a board before a departure is stale, and says so`() async throws {
    let fixture = try Fixture()
    var cache = fixture.cache
    cache.waitsForNewer = true
    _ = try await cache.board(at: "1")
    fixture.services.change { $0.isDown = true }
    fixture.clock.advance(by: .minutes(50))
    let kept = try await cache.board(at: "1")
    #expect(kept.source == .stale && kept.error != nil && kept.value.departures.count == 12)
  }

  @Test
  func `an incomplete board says how far it reaches, and goes on near the time of the next one`()
    async throws
  {
    let fixture = try Fixture(at: "2025-07-12T05:00:00+0200")
    var cache = fixture.cache
    cache.waitsForNewer = true
    fixture.services.change { state in
      state.times = (0..<90).map { String(format: "%02d:%02d", 6 + $0 / 6, $0 % 6 * 10) }
      state.atOnce = 60
    }
    let board = try await cache.board(at: "1").value
    #expect(!board.isWhole && fixture.services.count == 8)
    #expect(try board.departures.last?.time == moment("2025-07-12T13:30:00+0200"))
    #expect(try board.gap == "reaches until 13:30 only")
    fixture.clock.set(to: try moment("2025-07-12T13:25:00+0200"))
    let next = try await cache.next(after: board, rows: 100)
    #expect(next.count == Widget.most, "all at half past one")
    fixture.clock.set(to: try moment("2025-07-12T18:00:00+0200"))
    #expect(try await cache.next(after: board, rows: 100) == [], "not those of tomorrow")
    #expect(try board.absence == "no departures are known after 13:30")
    let stored = try await cache.board(at: "1", policy: .cacheOnly)
    #expect(stored.value == board && fixture.services.count(of: "stationboard") == 8)
    let later = try await cache.board(at: "1")
    #expect(later.source == .loaded && later.value.upcoming(at: fixture.clock.now).count == 17 * 60)
    #expect(try later.value.gap == "some before 17:30 are missing")
    #expect(later.value.begins != nil && later.value.reaches == nil)
    #expect(fixture.services.count(of: "stationboard") == 16)
  }

  @Test(arguments: [
    (420, nil, 2880), (100, "some before 11:30 are missing; reaches until 17:13 only", 788),
  ])
  func `of a busy station the rest of the day comes first`(cap: Int, gap: String?, count: Int)
    async throws
  {
    let clock = ManualClock(now: try moment("2025-07-12T12:00:00+0200"))
    try await withServer(clock) { server, cache in
      server.become { request in
        let time = (request.parameter("datetime") ?? "").suffix(5).split(separator: ":")
          .compactMap { Int($0) }
        let limit = min(Int(request.parameter("limit") ?? "") ?? 0, cap)
        // Two a minute.
        let runs = (0..<limit).map { index in
          let second = 1_752_271_200 + (time[0] * 60 + time[1] + index / 2) * 60
          return #"{"stop": {"departureTimestamp": \#(second)}, "number": "\#(index % 2)"}"#
        }
        let list = runs.joined(separator: ", ")
        return .init(200, text: #"{"station": {"id": "1"}, "stationboard": [\#(list)]}"#)
      }
      let board = try await cache.board(at: "1").value
      #expect(try board.gap == gap && board.departures.count == count && server.count == 8)
    }
  }
}
