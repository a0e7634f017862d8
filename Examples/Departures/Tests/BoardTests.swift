import ExampleTesting

@testable import Departures

/// The boards of a station on a day. The tests of `LarderHTTP` cover requests that get no answer within 15 s.
@Suite(.fixture(TestedStores.self)) struct BoardTests {
  private let fixture: Fixture
  init() throws { fixture = try Fixture() }

  @Test func `the key is station and day in Zurich; a repeat is 10 times as fast`() async throws {
    let fixture = try Fixture(at: "2025-07-12T00:30:00+0200")
    let first = try await fixture.cache.board(at: "8503651")
    #expect(first.source == .loaded && first.value.departures.count == 12)
    #expect(first.value.day.description == "2025-07-12", "the day before, in UTC")
    fixture.clock.advance(by: .hours(3))
    let repeated = try await fixture.cache.board(at: "8503651").source
    #expect(repeated != .loaded, "no request, so the repeat is more than 10 times as fast")
    #expect(
      fixture.services.asked == [
        "/v1/stationboard?id=8503651&limit=200&datetime=2025-07-12%2000%3A00"
      ])
    #expect(try fixture.namespace(.boards).page().items.map(\.key.string) == ["8503651_2025-07-12"])
  }

  /// The fastest of ten measurements counts, because another program may delay some of the measurements.
  @Test func `a stored board takes less than 0.1 s, a start 2 s and a widget 0.5 s`() async throws {
    let cache = fixture.cache
    _ = try await cache.board(at: "1")
    try await cache.publish("1")
    #expect(try cache.published(from: "1").count == 3)
    let clock = ContinuousClock()
    let (directory, services) = (TemporaryDirectory(), fixture.services)
    defer { withExtendedLifetime(directory) {} }
    var (board, start, widget) = (Duration.days(1), Duration.days(1), Duration.days(1))
    for _ in 0..<10 {
      board = try await min(board, clock.measure { _ = try await cache.board(at: "1") })
      widget = try min(widget, clock.measure { _ = try cache.published(from: "1") })
      start = try await min(
        start,
        clock.measure {
          let store = try Store(at: directory.path + "/app")
          let app = try DeparturesCache(
            in: store, base: "https://fake.invalid", over: services, weatherKey: "")
          _ = try await app.board(at: "1")
          try store.close()
        })
    }
    #expect(
      board < .milliseconds(100) && start < .seconds(2) && widget < .milliseconds(500),
      "\(board), \(start), \(widget)")
  }

  @Test(arguments: [
    ("2026-03-29", 23, ["01:30:00+0100", "23:30:00+0200"]),
    ("2026-07-12", 24, ["01:30:00+0200", "23:30:00+0200"]),
    ("2026-10-25", 25, ["01:30:00+0200", "23:30:00+0100"]),
  ]) func `days of 23, 24 and 25 hours`(day: String, hours: Int, times: [String]) async throws {
    let fixture = try Fixture(at: day + "T12:00:00Z")
    fixture.services.change { $0.times = times }
    let board = try await fixture.cache.board(at: "1").value
    #expect(board.day.description == day)
    let expected = [Duration.minutes(90), .hours(hours) - .minutes(30)]
    #expect(board.departures.map { board.day.start.duration(to: $0.time) } == expected)
    let last = try #require(board.departures.last).time
    for (moment, isToday) in [(last, true), (last.advanced(by: .minutes(30)), false)] {
      fixture.clock.set(to: moment)
      #expect((fixture.cache.today == board.day) == isToday)
    }
  }

  @Test func `cached data shows at once while fresh data loads`() async throws {
    fixture.services.change { $0.times = ["09:00:00+0200"] }
    _ = try await fixture.cache.board(at: "1", on: day("2025-07-13"))
    // At four o'clock the board is no longer fresh, but it is still served as a stale value.
    fixture.clock.advance(by: .hours(21))
    fixture.services.change { $0.times.append("10:00:00+0200") }
    let shown = try await fixture.cache.board(at: "1")
    #expect(shown.source == .stale && shown.error == nil && shown.value.departures.count == 1)
    try await waitUntil { try await fixture.cache.board(at: "1").value.departures.count == 2 }
    #expect(fixture.services.count == 2)
  }

  @Test func `cached data when the service is down, for a day, by five policies`() async throws {
    let today = fixture.cache.today
    _ = try await fixture.cache.board(at: "1")
    fixture.services.change { $0.answers["/"] = FakeServices.down }
    fixture.clock.advance(by: .hours(24))
    for policy in RequestPolicy.allCases where policy != .reload {
      let shown = try await fixture.under(policy).board(at: "1", on: today)
      #expect(shown.source == .stale && shown.value.departures.count == 12, "\(policy)")
    }
    await #expect(throws: ServiceError.self, "a reload has nothing to fall back on") {
      try await fixture.under(.reload).board(at: "1", on: today)
    }
    fixture.clock.advance(by: .hours(24))
    for policy in RequestPolicy.allCases {
      await #expect(throws: (any Error).self, "\(policy)") {
        try await fixture.under(policy).board(at: "1", on: today)
      }
    }
  }

  @Test func `an empty board is a result, an unknown station is none`() async throws {
    fixture.services.change {
      $0.times = []
      $0.answers["id=2&"] = .init(json: #"{"station": null, "stationboard": []}"#)
    }
    for _ in 1...2 { #expect(try await fixture.cache.board(at: "1").value.departures == []) }
    #expect(fixture.services.count == 1)
    await #expect(throws: NotFound.self) { try await fixture.cache.board(at: "2") }
    #expect(try fixture.namespace(.boards).count() == 1, "it is not kept")
  }

  @Test func `known delays of coming departures hold for a minute`() async throws {
    var fixture = try Fixture(at: "2025-07-12T19:30:00+0200")
    fixture.cache.waitsForNewer = true
    fixture.services.change { $0.delay = { _, _ in 4 } }
    let next = try await fixture.cache.board(at: "1").value.upcoming(at: fixture.clock.now)
    #expect(try next.map(\.leaves) == [moment("2025-07-12T20:04:00+0200")])
    // A delay makes the board fresh for only a minute. After the delayed boat has left, the delay has no effect any more.
    for (time, requests) in [("19:30:59", 1), ("19:31:00", 2), ("20:04:00", 3), ("23:59:59", 3)] {
      fixture.clock.set(to: try moment("2025-07-12T\(time)+0200"))
      _ = try await fixture.cache.board(at: "1")
      #expect(fixture.services.count == requests, "\(time)")
    }
  }

  @Test(arguments: [
    (401, #"{"cod": 401, "message": "Invalid API key."}"#, "answered 401: Invalid API key."),
    (502, "<html>", "answered 502"),
    (200, "<html>", "a login page of this network may have sent it"),
    (
      200, #"{"station": {"id": 1}, "stationboard": [{"stop": {"departure": "soon"}}]}"#,
      "no run is of this day or later"
    ),
  ]) func `an answer of no use leaves the last good board, and says why`(
    status: Int, text: String, words: String
  ) async throws {
    _ = try await fixture.cache.board(at: "1")
    fixture.services.change { $0.answers["/"] = .init(status, json: text) }
    let board = try await fixture.under(.revalidate).board(at: "1")
    #expect(board.source == .stale && board.value.departures.count == 12)
    #expect("\(try #require(board.error))".contains(words), "\(board.error!)")
  }

  @Test func `two levels, the first of which only spares unchanged bodies`() async throws {
    let limits = try fixture.cache.store.limits().effective
    #expect(limits.disk == 100_000_000 && limits.memory == 50_000_000)
    fixture.services.change { $0.etag = "\"1\"" }
    let first = try await fixture.cache.board(at: "1").value
    try fixture.namespace(.boards).clear()
    #expect(try await fixture.cache.board(at: "1").value == first, "by a 304")
    #expect(fixture.services.count == 2)
    fixture.services.change { $0.etag = nil }
    #expect(
      try await fixture.under(.reload).board(at: "1").value == first,
      "bodies have the server's clock, so they differ; boards do not")
    fixture.services.change { $0.delay = { _, _ in 25 } }
    #expect(try await fixture.under(.reload).board(at: "1").value.departures[0].delay == 25)
  }

  @Test func `hits and misses are lines in the log and figures`() async throws {
    let lines = Lines<String>()
    let fixture = try Fixture(log: { lines.add($0) })
    for _ in 1...3 { _ = try await fixture.cache.board(at: "1") }
    let name = fixture.namespace(.boards).name
    #expect(
      lines.all == [
        "GET /v1/stationboard: from the service, 200",
        "\(name) 1_2025-07-12: loaded, 0 s old", "\(name) 1_2025-07-12: disk, 0 s old",
        "\(name) 1_2025-07-12: memory, 0 s old",
      ])
    let reads = try #require(try fixture.namespace(.boards).statistics()).reads
    #expect(reads.hits == 2 && reads.misses == 1)
  }
}
