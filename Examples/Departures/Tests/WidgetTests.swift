import ExampleTesting

@testable import Departures

/// What departs next, left by the app and read by the widget.
@Suite(.checkedStores) struct WidgetTests {
  @Test func `a departure is there until it leaves, delays included`() async throws {
    let fixture = try Fixture()
    fixture.services.change { $0.delay = 4 }
    try await fixture.cache.publish("1")
    let widget = Widget(fixture.store)
    let next = try widget.departures(from: "1", limit: 12)
    #expect(next.count == 12 && next[0].line == "90" && next[0].ship == "Limmat")
    #expect(next.map(\.time) == next.map(\.time).sorted())
    fixture.clock.set(to: try moment("2025-07-12T09:03:59+0200"))
    #expect(try widget.departures(from: "1", limit: 12).count == 12)
    fixture.clock.set(to: try moment("2025-07-12T09:04:00+0200"))
    #expect(try widget.departures(from: "1", limit: 12).map(\.line).first == "100")
    fixture.clock.set(to: try moment("2025-07-12T20:04:00+0200"))
    #expect(try widget.departures(from: "1", limit: 12) == [])
    #expect(try fixture.store.purge().entries >= 12)
  }

  @Test func `new departures replace the former ones`() async throws {
    let fixture = try Fixture()
    try await fixture.cache.publish("1")
    try await fixture.cache.publish("11")
    fixture.services.change { $0.times = ["18:30"] }
    try await fixture.cache.publish("1", policy: .reload)
    let widget = Widget(fixture.store)
    let lines = try widget.departures(from: "1", limit: 12).map(\.line)
    #expect(lines == ["180", "180"], "today and tomorrow")
    #expect(try widget.departures(from: "11", limit: 12).count == 12, "another station")
    #expect(try widget.departures(from: "2") == [])
  }

  @Test func `keys of runs and stations do not collide`() async throws {
    let fixture = try Fixture()
    var first = try #require(try await fixture.cache.board(at: "9").value.departures.first)
    let station = Station(id: "1", name: "A")
    let runs = ["000101", "000102"].map { course in
      first.course = course
      return NextDeparture(first, from: station, ship: nil)
    }
    let widget = Widget(fixture.store)
    try widget.publish(runs, for: "1")
    #expect(try widget.departures(from: "1") == runs)
    try widget.publish([runs[1]], for: "1/1752300000000")
    try widget.publish([runs[0]], for: "1")
    #expect(try widget.departures(from: "1") == [runs[0]])
    #expect(try widget.departures(from: "1/1752300000000") == [runs[1]])
  }

  @Test func `a late boat comes after those that leave before it`() async throws {
    let fixture = try Fixture()
    let first = try #require(try await fixture.cache.board(at: "1").value.departures.first)
    let runs = [90, 0, 1].map { delay in
      var run = first
      (run.delay, run.course) = (delay, "\(delay)")
      return NextDeparture(run, from: Station(id: "1", name: "A"), ship: nil)
    }
    let widget = Widget(fixture.store)
    try widget.publish(runs, for: "1")
    #expect(try widget.departures(from: "1").map(\.course) == ["0", "1", "90"])
    #expect(try widget.departures(from: "1", limit: 1).map(\.course) == ["0"])
  }

  @Test func `settings stay, also those of another version`() throws {
    let fixture = try Fixture()
    let widget = Widget(fixture.store)
    #expect(try widget.settings == WidgetSettings())
    let settings = WidgetSettings(stations: ["1"], rows: 5, showsShips: false)
    try widget.save(settings)
    fixture.clock.advance(by: .days(4000))
    #expect(try Widget(fixture.store).settings == settings)
    let namespace = fixture.store.namespace("boat.settings")
    try namespace.set(#"{"stations": ["7"], "colour": "blue"}"#, for: "widget")
    #expect(try widget.settings == WidgetSettings(stations: ["7"]))
  }

  @Test func `a late departure of yesterday comes first, by any form of the number`() async throws {
    let fixture = try Fixture(at: "2025-07-12T23:40:00+0200")
    fixture.services.change { ($0.times, $0.delay) = (["23:50"], 20) }
    _ = try await fixture.cache.board(at: "1")
    let late = try moment("2025-07-13T00:10:00+0200")
    fixture.clock.set(to: late.advanced(by: .minutes(-5)))
    let board = try await fixture.cache.board(at: "01").value
    let live = try await fixture.cache.next(after: board, rows: 1)
    #expect(live.first?.leaves == late && live.count == 2, "and today's")
    let published = try await fixture.cache.publish("001")
    #expect(published.first == live.first && published.count == 3, "and tomorrow's")
    #expect(try Widget(fixture.store).departures(from: "01") == published)
    fixture.clock.set(to: late)
    #expect(try await fixture.cache.publish("1").count == 2)
  }

  @Test func `a late departure has the ship of the day at which it was due`() async throws {
    let fixture = try Fixture(at: "2025-07-12T08:00:00+0200")
    fixture.services.change {
      ($0.times, $0.delay, $0.shipsByDay) = (["09:00"], 15 * 60 + 10, ["2025-07-12": "Linth"])
    }
    _ = try await fixture.cache.board(at: "1")
    fixture.clock.set(to: try moment("2025-07-13T00:05:00+0200"))
    #expect(try await fixture.cache.publish("1").map(\.ship) == ["Linth", "Limmat", nil])
  }

  @Test func `after the published departures come those of the stored board`() async throws {
    let fixture = try Fixture()
    fixture.services.change { state in
      state.times = (0..<30).map { String(format: "%02d:%02d", 9 + $0 / 10, $0 % 10 * 6) }
    }
    let widget = fixture.cache.widget
    _ = try await fixture.cache.board(at: "1")
    _ = try await fixture.cache.ships()
    #expect(try widget.departures(from: "1").map(\.ship) == ["Limmat", "Limmat", "Limmat"])
    #expect(try await fixture.cache.publish("1").count == Widget.most)
    #expect(try widget.departures(from: "1", limit: 99).count == 30)
    // All published ones have left, and the board is stale.
    fixture.clock.set(to: try moment("2025-07-12T11:00:00+0200"))
    let next = try widget.departures(from: "1")
    #expect(try next.first?.leaves == moment("2025-07-12T11:06:00+0200") && next.count == 3)
    #expect(try widget.board(of: "2") == nil)
  }

  @Test func `near midnight the widget shows tomorrow's first departures`() async throws {
    let fixture = try Fixture(at: "2025-07-12T19:30:00+0200")
    #expect(try await fixture.cache.publish("1").count == 13, "one today and twelve tomorrow")
    let widget = Widget(fixture.store)
    fixture.clock.set(to: try moment("2025-07-12T23:50:00+0200"))
    let next = try widget.departures(from: "1")
    #expect(next.map(\.time).first == (try moment("2025-07-13T09:00:00+0200")) && next.count == 3)
    #expect(fixture.services.count(of: "stationboard") == 2)
  }

  @Test(.timeLimit(.minutes(20)))
  func `updates come at once, after a change, and when a departure has left`() async throws {
    let fixture = try Fixture()
    let widget = Widget(fixture.store)
    var updates = widget.updates(of: ["1"], limit: 2).makeAsyncIterator()
    #expect(try await updates.next() == [])
    try await fixture.cache.publish("1")
    var lines: [String]? = []
    while lines == [] { lines = try await updates.next()?.map(\.line) }
    #expect(lines == ["90", "100"])
    // The first departure leaves now.
    fixture.clock.advance(by: .hours(1))
    while lines == ["90", "100"] { lines = try await updates.next()?.map(\.line) }
    #expect(lines == ["100", "110"])
  }
}

/// Two programs, one store: the app writes, and the widget shows.
@Suite(.serialized) struct WidgetProcessTests {
  @Test(.timeLimit(.minutes(20))) func `a widget shows what the app writes`() async throws {
    let program = try TestedProgram("larder-departures", store: "store")
    #expect(try await program.run("board", "8503651", "--offline").code == 0)
    let widget = try Running(of: [
      "larder-departures", "widget", "8503651", "--rows", "3", "--offline", "--store",
      program.store, "--json", "--watch",
    ])
    func shown() throws -> JSON { try JSONDecoder().decode(JSON.self, from: widget.line()) }
    func lines(_ shown: JSON) throws -> [JSON] {
      guard case .array(let departures) = shown else { throw CocoaError(.coderReadCorrupt) }
      #expect(departures.compactMap { $0["line"]?.text } == ["102", "103", "104"])
      return departures
    }
    _ = try lines(shown())
    for _ in 0..<3 {
      let app = try await program.run("publish", "8503651", "--offline")
      #expect(app.output.hasPrefix("8503651: 7 departures for the widget\n"))
      #expect(try lines(shown())[0]["ship"]?.text == "Linth")
    }
    try Store(at: program.store).finish()
  }
}
