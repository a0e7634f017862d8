import ExampleTesting

@testable import Departures

/// Weather, water, ships, sun and maps: how long each stays.
@Suite(.checkedStores) struct LakeTests {
  @Test func `weather is fresh for six hours`() async throws {
    let fixture = try Fixture()
    let lake = fixture.cache.lakes[0]
    let first = try await fixture.cache.forecast(of: lake).value
    fixture.clock.advance(by: .hours(6) - .milliseconds(1))
    #expect(try await fixture.cache.forecast(of: lake).source == .memory)
    fixture.clock.advance(by: .milliseconds(1))
    #expect(try await fixture.cache.forecast(of: lake).source == .stale)
    try await fixture.settle(requests: 2)
    #expect(fixture.services.asked[0].contains("lat=47.366&lon=8.55&appid=key%207"))
    #expect(first.steps.count == 40 && first.steps[0].gusts == nil && first.steps[0].rain == 0)
    // The forecast begins after now.
    let start = first.steps[0].time
    #expect(start == (try moment("2025-07-12T11:00:00+0200")))
    #expect(first.step(at: try moment("2025-07-12T08:00:00+0200")) == first.steps[0])
    #expect(first.step(at: start.advanced(by: .minutes(100))) == first.steps[1])
    #expect(first.step(at: first.steps[39].time.advanced(by: .hours(3))) == first.steps[39])
    #expect(first.step(at: first.steps[39].time.advanced(by: .hours(4))) == nil)
  }

  @Test func `names of ships are fresh until 04:00 in Zurich`() async throws {
    let fixture = try Fixture(at: "2025-07-10T20:00:00+0200")
    fixture.services.change { $0.times = ["09:00"] }
    let board = try await fixture.cache.board(at: "1").value
    let ships = try await fixture.cache.ships()
    #expect(ships.value.ship(of: board.departures[0]) == "Limmat", "000090 and 90 are the same")
    let tomorrow = try await fixture.cache.ships(on: day("2025-07-11"))
    #expect(tomorrow.source != .loaded && fixture.services.count(of: "/ships") == 1)
    let entry = try #require(try fixture.store.namespace("boat.ships").entry(for: "2025-07-10"))
    #expect(entry.expires == (try moment("2025-07-11T04:00:00+0200")))
    fixture.clock.set(to: try moment("2025-07-11T03:59:59+0200"))
    #expect(try await fixture.cache.ships(on: day("2025-07-11")).source != .stale)
    fixture.services.change { $0.ship = "Linth" }
    fixture.clock.set(to: try moment("2025-07-11T04:00:00+0200"))
    #expect(try await fixture.cache.ships(on: day("2025-07-11")).source == .stale)
    try await fixture.settle(requests: 3)
    var ship: String?
    while ship != "Linth" {
      ship = try await fixture.cache.ships(on: day("2025-07-11")).value.ships["90"]
      try await Task.sleep(for: .milliseconds(1))
    }
    #expect(try await fixture.cache.ships(on: day("2025-12-24")).value.ships.isEmpty)
  }

  @Test func `a water temperature is fresh until midnight in Zurich`() async throws {
    for (now, midnight) in [
      ("2025-07-12T08:00:00+0200", "2025-07-13T00:00:00+0200"),
      ("2026-03-29T01:30:00+0100", "2026-03-30T00:00:00+0200"),
      ("2026-10-25T02:30:00+0200", "2026-10-26T00:00:00+0100"),
    ] {
      let fixture = try Fixture(at: now)
      let lake = try #require(fixture.cache.lake("zuerichsee"))
      #expect(
        try await fixture.cache.temperature(of: lake)?.value
          == WaterTemperature(celsius: 22, origin: .report))
      let entry = try fixture.store.namespace("boat.temperatures").entry(for: "zuerichsee")
      #expect(entry?.expires == (try moment(midnight)))
    }
  }

  @Test func `a lake without a measurement is simulated, under the same key`() async throws {
    let fixture = try Fixture()
    let lake = try #require(fixture.cache.lake("thunersee"))
    let simulated = WaterTemperature(celsius: 18.7, origin: .simulation)
    #expect(try await fixture.cache.temperature(of: lake)?.value == simulated)
    #expect(
      fixture.services.asked.last
        == "/simulations/simulations/1d/point/simstrat/thun/202507102200/202507122159/1",
      "this day and the one before, of Zurich, in UTC")
    #expect(try await fixture.cache.temperature(of: lake)?.source == .memory)
    // The report is down, and then back: the same key has the other origin.
    fixture.services.change { $0.reportIsDown = true }
    #expect(try await fixture.cache.temperature(of: lake, policy: .reload)?.value == simulated)
    fixture.services.change {
      $0.reportIsDown = false
      $0.temperatures["Thunersee"] = 19
    }
    #expect(try await fixture.cache.temperature(of: lake, policy: .reload)?.value.origin == .report)
    #expect(try fixture.store.namespace("boat.temperatures").entry(for: "thunersee") != nil)
  }

  @Test(arguments: [
    // In UTC it is 22:30 of the day before: of the new day nothing is there yet.
    ("2025-07-12T00:30:00+0200", "202507102200/202507122159", 17.0),
    ("2025-07-12T01:59:59+0200", "202507102200/202507122159", 17.0),
    ("2025-07-12T02:00:00+0200", "202507102200/202507122159", 18.9),
    ("2025-07-12T07:59:00+0200", "202507102200/202507122159", 18.7),
    // What is not known is passed over, and what is to come is a forecast.
    ("2025-07-12T10:59:59+0200", "202507102200/202507122159", 18.7),
    ("2025-07-12T11:00:00+0200", "202507102200/202507122159", 19.6),
    ("2025-07-12T23:59:00+0200", "202507102200/202507122159", 19.6),
    // Its days are those of Zurich.
    ("2026-03-29T12:00:00+0200", "202603272300/202603292159", 19.6),
    ("2026-10-25T12:00:00+0100", "202610232200/202610252259", 19.6),
    ("2026-01-10T12:00:00+0100", "202601082300/202601102259", 19.6),
  ]) func `a simulated temperature is the last that is not in the future`(
    now: String, span: String, celsius: Double
  ) async throws {
    let fixture = try Fixture(at: now)
    fixture.services.change { state in
      state.simulated.insert(17, at: 0)
      state.simulatedTimes.insert("2025-07-11T21:00:00+00:00", at: 0)
    }
    let lake = try #require(fixture.cache.lake("thunersee"))
    #expect(try await fixture.cache.temperature(of: lake)?.value.celsius == celsius)
    #expect(fixture.services.asked.last?.contains("/thun/\(span)/1") == true)
  }

  @Test func `a missing temperature is stored as missing for an hour`() async throws {
    let fixture = try Fixture()
    fixture.services.change { $0.simulated = [nil, nil, nil, nil] }
    let lake = try #require(fixture.cache.lake("thunersee"))
    #expect(try await fixture.cache.temperature(of: lake) == nil)
    let asked = fixture.services.count
    #expect(try await fixture.cache.temperature(of: lake) == nil)
    #expect(fixture.services.count == asked)
    #expect(try await fixture.cache.level(of: lake) == nil)
    fixture.services.change { $0.isDown = true }
    await #expect(throws: (any Error).self) {
      try await fixture.cache.temperature(of: lake, policy: .reload)
    }
  }

  @Test func `one report serves all lakes, levels for a day`() async throws {
    let fixture = try Fixture()
    let lake = try #require(fixture.cache.lake("zuerichsee"))
    #expect(try await fixture.cache.level(of: lake)?.value == WaterLevel(metres: 405.96))
    #expect(try await fixture.cache.temperature(of: lake)?.source != .loaded)
    #expect(fixture.services.count == 1)
    fixture.clock.advance(by: .hours(24) - .milliseconds(1))
    #expect(try await fixture.cache.level(of: lake)?.source == .memory)
    fixture.clock.advance(by: .milliseconds(1))
    fixture.services.change { $0.isDown = true }
    #expect(try await fixture.cache.level(of: lake)?.source == .stale)
    try await fixture.settle(requests: 2)
  }

  @Test func `a full store loses no answer`() async throws {
    let fixture = try Fixture()
    let lake = try #require(fixture.cache.lake("zuerichsee"))
    try fixture.store.fill()
    let temperature = try await fixture.cache.temperature(of: lake)
    let level = try await fixture.cache.level(of: lake)
    let ships = try await fixture.cache.ships()
    #expect(temperature?.value.celsius == 22 && level?.value.metres == 405.96)
    #expect(ships.value.ships == ["90": "Limmat"])
    for error in [temperature?.error, level?.error, ships.error] {
      #expect((error as? LarderError)?.code == .full)
    }
  }

  @Test func `the sun is computed once a day for a lake`() async throws {
    let fixture = try Fixture()
    let lake = try #require(fixture.cache.lake("zuerichsee"))
    let sun = try await fixture.cache.sun(at: lake)
    // As almanacs have it for Zurich, to two minutes.
    for (computed, almanac) in [
      (sun.value.rise, "2025-07-12T05:42:00+0200"), (sun.value.set, "2025-07-12T21:20:00+0200"),
    ] {
      let off = try #require(computed).duration(to: try moment(almanac))
      #expect(off > .minutes(-3) && off < .minutes(3))
    }
    #expect(try await fixture.cache.sun(at: lake).source == .memory)
    #expect(
      try await fixture.cache.sun(at: lake, on: day("2025-12-21")).value.rise != sun.value.rise)
    #expect(fixture.services.count == 0)
    let pole = SunTimes(on: try day("2025-12-21"), at: Coordinates(latitude: 78, longitude: 15))
    #expect(pole.rise == nil && pole.set == nil)
  }

  @Test func `tiles stay for ever within their size`() async throws {
    let fixture = try Fixture()
    #expect(try await fixture.cache.tile(zoom: 12, x: 1, y: 2).value.count == 20_000)
    try fixture.store.override(
      Rules.Overrides(limits: Limits(bytes: .kilobytes(100))), for: "boat.tiles")
    fixture.clock.advance(by: .days(3650))
    #expect(try await fixture.cache.tile(zoom: 12, x: 1, y: 2).source != .loaded)
    for x in 2...20 { _ = try await fixture.cache.tile(zoom: 12, x: x, y: 2) }
    let tiles = fixture.store.namespace("boat.tiles")
    #expect(try tiles.count() == 5, "100 kB")
    #expect(try fixture.store.namespace("boat.http").count() == 0, "no second copy")
  }

  @Test func `a new lake is a record`() async throws {
    let record = #"""
      {"id": "sempachersee", "name": "Sempachersee", "place": {"latitude": 47.14, "longitude": 8.15},
       "stations": []}
      """#
    let lake = try JSONDecoder().decode(Lake.self, from: Data(record.utf8))
    let fixture = try Fixture(lakes: Lake.known + [lake])
    fixture.services.change {
      $0.temperatures["Sempachersee"] = 23.5
      $0.levels["Sempachersee"] = "503.80 m.\u{FC}.M."
    }
    let known = try #require(fixture.cache.lake("sempachersee"))
    #expect(try await fixture.cache.temperature(of: known)?.value.celsius == 23.5)
    #expect(try await fixture.cache.level(of: known)?.value.metres == 503.8)
    #expect(try await fixture.cache.forecast(of: known).value.steps.count == 40)
    #expect(try await fixture.cache.sun(at: known).value.rise != nil)
  }

  @Test func `every built-in lake has its landings`() throws {
    let landings = Lake.known.flatMap(\.stations)
    #expect(Lake.known.count == 15 && Lake.known.allSatisfy { $0.stations.count >= 7 })
    #expect(landings.count == 242 && Set(landings).count == 242, "each is on one lake")
    #expect(landings.allSatisfy { $0.count == 7 && Int($0) != nil })
  }

  @Test func `a landing without a board does not hide the others of its lake`() async throws {
    let fixture = try Fixture(at: "2025-07-12T02:00:00+0200")
    var cache = fixture.cache
    cache.waitsForNewer = true
    let lake = try #require(cache.lake("zugersee"))
    fixture.services.change { $0.unknown = [lake.stations[2]] }
    var (shown, failed) = ([String](), [String]())
    func boards() async throws {
      (shown, failed) = ([], [])
      try await cache.boards(at: lake.stations) { station, result in
        do { shown.append(try "\(station) \(result.get().source)") } catch {
          failed.append("\(station) \(type(of: error))")
        }
      }
    }
    try await boards()
    #expect(shown.count == 9 && failed == ["\(lake.stations[2]) NotFound"])
    fixture.services.change { $0.isUnreachable = true }
    let asked = fixture.services.count
    fixture.clock.advance(by: .hours(3))
    try await boards()
    #expect(shown.count == 9 && shown.allSatisfy { $0.hasSuffix("stale") }, "\(shown)")
    #expect(failed.count == 1 && failed[0].hasSuffix("ServiceError"), "\(failed)")
    #expect(fixture.services.count == asked + 1, "an outage is noticed once")
  }

  @Test func `each answer is a line in the log, and the bounds are those of an app`() async throws {
    let lines = Lines<String>()
    let fixture = try Fixture(log: { lines.add($0) })
    _ = try await fixture.cache.board(at: "1")
    fixture.clock.advance(by: .seconds(12))
    _ = try await fixture.cache.board(at: "1")
    #expect(
      lines.all == [
        "GET /v1/stationboard: from the service, 200",
        "boat.boards 1_2025-07-12: loaded, 0.0 s old",
        "boat.boards 1_2025-07-12: memory, 12.0 s old",
      ])
    let limits = try fixture.store.limits().effective
    #expect(limits.disk == 100_000_000 && limits.memory == 50_000_000)
    for (name, bytes) in [("boat.http", 30_000_000), ("boat.tiles", 40_000_000)] {
      _ = try await fixture.cache.tile(zoom: 1, x: 0, y: 0)
      #expect(try fixture.store.namespace(name).info()?.rules.limits.bytes == bytes, "\(name)")
    }
    let reads = try #require(try fixture.store.namespace("boat.boards").statistics()).reads
    #expect(reads.hits == 1 && reads.misses == 1 && reads.hitRate == 0.5 && reads.memoryHits == 1)
  }
}
