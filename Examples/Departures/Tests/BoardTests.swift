import ExampleTesting

@testable import Departures

/// Boards of a station and a day.
@Suite(.checkedStores) struct BoardTests {
  @Test func `a board is requested once a day in Zurich`() async throws {
    let fixture = try Fixture(at: "2025-07-12T00:30:00+0200")
    let first = try await fixture.cache.board(at: "8503651")
    #expect(first.source == .loaded && first.value.departures.count == 12 && first.value.isWhole)
    #expect(first.value.day.description == "2025-07-12", "the day before, in UTC")
    fixture.clock.advance(by: .hours(3))
    #expect(try await fixture.cache.board(at: "8503651").source == .memory)
    #expect(
      fixture.services.asked == [
        "/v1/stationboard?id=8503651&limit=200&datetime=2025-07-12%2000%3A00"
      ])
    #expect(
      try fixture.store.namespace("boat.boards").page().items.map(\.key.string) == [
        "8503651_2025-07-12"
      ])
  }

  @Test(arguments: [
    ("2026-03-29", ["00:30", "01:30", "02:30", "03:30", "23:30"], [0, 60, 90, 120, 1320]),
    // At three it is two again: what leaves at half past two leaves before that.
    ("2026-10-25", ["00:30", "01:30", "02:30", "03:30", "23:30"], [0, 60, 120, 240, 1440]),
    ("2026-07-12", ["00:30", "01:30", "02:30", "03:30", "23:30"], [0, 60, 120, 180, 1380]),
  ]) func `days of 23, 24 and 25 hours`(day: String, times: [String], minutes: [Int]) async throws {
    let fixture = try Fixture(at: day + "T12:00:00Z")
    fixture.services.change { $0.times = times }
    let board = try await fixture.cache.board(at: "1").value
    #expect(board.day.description == day && board.isWhole)
    let start = try board.day.span.lowerBound
    #expect(
      board.departures.map { Int(start.duration(to: $0.time) / .seconds(60)) - 30 } == minutes)
    // What leaves in the first minutes of the next day is of that.
    let last = try #require(board.departures.last)
    for (moment, isToday) in [(last.time, true), (last.time.advanced(by: .minutes(30)), false)] {
      fixture.clock.set(to: moment)
      #expect(try (fixture.cache.today == board.day) == isToday)
    }
  }

  @Test func `a stale board is returned at once while a newer one is fetched`() async throws {
    let fixture = try Fixture()
    fixture.services.change { $0.times = ["09:00"] }
    let tomorrow = try day("2025-07-13")
    _ = try await fixture.cache.board(at: "1", on: tomorrow)
    // At four o'clock it is not fresh any more, but still to be shown.
    fixture.clock.advance(by: .hours(21))
    fixture.services.change { $0.times = ["09:00", "10:00"] }
    let shown = try await fixture.cache.board(at: "1")
    #expect(shown.source == .stale && shown.error == nil && shown.value.departures.count == 1)
    var now = try await fixture.cache.board(at: "1")
    while now.source == .stale {
      try await Task.sleep(for: .milliseconds(1))
      now = try await fixture.cache.board(at: "1")
    }
    #expect(now.value.departures.count == 2)
    #expect(fixture.services.count == 2)
  }

  @Test func `without the service a board is stale for a day`() async throws {
    let fixture = try Fixture()
    let today = try fixture.cache.today
    _ = try await fixture.cache.board(at: "1")
    fixture.services.change { $0.isDown = true }
    fixture.clock.advance(by: .hours(30))
    for policy in [RequestPolicy.standard, .revalidate, .cacheElseLoad, .cacheOnly] {
      let shown = try await fixture.cache.board(at: "1", on: today, policy: policy)
      #expect(shown.source == .stale && shown.value.departures.count == 12, "\(policy)")
      if policy == .revalidate {
        #expect("\(try #require(shown.error))".contains("answered 500: Error from timetable"))
      }
    }
    await #expect(throws: (any Error).self, "a reload has nothing to fall back on") {
      try await fixture.cache.board(at: "1", on: today, policy: .reload)
    }
    #expect(try await fixture.cache.board(at: "1", on: today, policy: .cacheOnly).source == .stale)
    fixture.clock.advance(by: .hours(24))
    for policy in RequestPolicy.allCases {
      await #expect(throws: (any Error).self, "\(policy)") {
        try await fixture.cache.board(at: "1", on: today, policy: policy)
      }
    }
  }

  @Test func `no departures are an answer, and one that stays; a failure is none`() async throws {
    let fixture = try Fixture()
    fixture.services.change { $0.empty = ["1"] }
    #expect(try await fixture.cache.board(at: "1").value.departures == [])
    let again = try await fixture.cache.board(at: "1")
    #expect(again.source == .memory && again.value.departures == [] && fixture.services.count == 1)
    fixture.services.change { $0.unknown = ["2"] }
    await #expect(throws: NotFound.self) { try await fixture.cache.board(at: "2") }
    fixture.services.change { $0.isDown = true }
    await #expect(throws: (any Error).self) { try await fixture.cache.board(at: "3") }
    #expect(try fixture.store.namespace("boat.boards").count() == 1, "neither is kept")
  }

  @Test func `news about delays are fresh for a minute`() async throws {
    let fixture = try Fixture()
    fixture.services.change { $0.delay = 4 }
    let board = try await fixture.cache.board(at: "1").value
    let late = try moment("2025-07-12T09:04:00+0200")
    #expect(board.isLive && board.departures[0].leaves == late)
    fixture.clock.advance(by: .seconds(59))
    #expect(try await fixture.cache.board(at: "1").source == .memory)
    fixture.clock.advance(by: .seconds(1))
    #expect(try await fixture.cache.board(at: "1").source == .stale)
    try await fixture.settle(requests: 2)
  }

  @Test func `news about delays of what has left are none`() async throws {
    let fixture = try Fixture(at: "2025-07-12T20:30:00+0200")
    fixture.services.change { $0.delay = 4 }
    #expect(try await fixture.cache.board(at: "1").value.isLive)
    fixture.clock.advance(by: .hours(7))
    #expect(try await fixture.cache.board(at: "1", on: day("2025-07-12")).source == .memory)
  }

  @Test func `a board with more departures than were asked for says how far it reaches`()
    async throws
  {
    let fixture = try Fixture()
    fixture.services.change { $0.atOnce = 60 }
    let board = try await fixture.cache.board(at: "1").value
    #expect(board.departures.count == 4 * 60 && !board.isWhole && fixture.services.count == 1)
    #expect(try board.gap == "reaches until 12:00 only")
    #expect(try board.absence == "no departures are known after 12:00")
    fixture.clock.advance(by: .hours(5))
    let next = try await fixture.cache.next(after: board, rows: 100)
    #expect(next == [], "not those of tomorrow")
  }

  @Test func `stations are kept by what was asked`() async throws {
    try await withServer { server, cache in
      server.become { _ in
        .init(
          200,
          text:
            #"{"stations": [{"id": null, "name": "Weg 1", "coordinate": {"x": null, "y": null}, "distance": 9, "icon": null}]}"#
        )
      }
      for _ in 1...2 {
        let found = try await cache.stations(named: "Gen\u{E8}ve &").value
        #expect(found == [Station(id: nil, name: "Weg 1")])
      }
      #expect(server.received.map(\.path) == ["/v1/locations?query=Gen%C3%A8ve%20%26"])
    }
  }
}
