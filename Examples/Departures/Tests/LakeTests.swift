import ExampleTesting

@testable import Departures

/// Weather, water, ships, sun and maps, and for how long each of them stays fresh.
@Suite(.fixture(TestedStores.self)) struct LakeTests {
  private let lake = Lake.known[0]
  private let simulated = Lake.known[2]
  private let fixture: Fixture
  init() throws { fixture = try Fixture() }

  /// Weather 6 h, water level 24 h, water temperature until midnight, names of ships until 04:00. Times are those of Zurich.
  @Test func `each kind is fresh for as long as its rule says`() async throws {
    _ = try await fixture.cache.forecasts(for: lake)
    let ships = try await fixture.cache.ships().value
    #expect(ships["2025-07-12"]?["101"] == "Limmat" && ships["2025-07-13"]?["101"] == "Linth")
    let water = try await fixture.cache.temperature(of: lake).value
    #expect(water == WaterTemperature(celsius: 22, origin: .report))
    #expect(try await fixture.cache.level(of: lake).value == 405.91)
    for (namespace, key, end) in [
      (BoatNamespace.weather, "zuerichsee", "12T14:00"), (.levels, "zuerichsee", "13T08:00"),
      (.temperatures, "zuerichsee", "13T00:00"), (.ships, "days", "13T04:00"),
    ] {
      let entry = try fixture.namespace(namespace).entry(for: key)
      #expect(entry?.expires == (try moment("2025-07-\(end):00+0200")), "\(namespace)")
    }
  }

  @Test func `weather is of a place, and its credential is in no key of the store`() async throws {
    fixture.services.change { $0.etag = "\"1\"" }
    let first = try await fixture.cache.forecasts(for: lake).value
    #expect(fixture.services.asked[0].contains("lat=47.366&lon=8.55&appid=key%207"))
    let keys = try fixture.cache.store.namespace("boat.http").page().items.compactMap(\.key.string)
    #expect(keys.count == 1 && !keys[0].contains("key%207"), "no secret in a key")
    #expect(first.count == 8 && first[0].celsius == 20 && first[0].words == "clear sky")
    #expect(try first[0].time == moment("2025-07-12T11:00:00+0200"))
  }

  @Test func `a temperature of the second source has the same key, and its origin`() async throws {
    let water = WaterTemperature(celsius: 18.7, origin: .simulation)
    #expect(try await fixture.cache.temperature(of: simulated).value == water)
    #expect(
      fixture.services.asked.last
        == "/simulations/simulations/1d/point/simstrat/thun/202507110600/202507120600/1")
    fixture.services.change { $0.answers["/boats"] = FakeServices.down }
    #expect(try await fixture.under(.reload).temperature(of: simulated).value == water)
    let report = #"{"lakes": [{"name": "Thunersee", "temperature": 19}]}"#
    fixture.services.change { $0.answers["/boats"] = .init(json: report) }
    let reported = try await fixture.under(.reload).temperature(of: simulated).value
    #expect(reported == WaterTemperature(celsius: 19, origin: .report))
    #expect(try fixture.namespace(.temperatures).count() == 1)
  }

  @Test func `absence is stored for an hour, unless the report has failed`() async throws {
    fixture.services.change {
      $0.answers["/lakes"] = FakeServices.down
      $0.answers["/simulations"] = .init(json: #"{"time": [], "variables": {"T": {"data": []}}}"#)
    }
    await #expect(throws: ServiceError.self) { try await fixture.cache.temperature(of: simulated) }
    fixture.services.change { $0.answers["/lakes"] = .init(json: #"{"lakes": []}"#) }
    for _ in 1...2 {
      await #expect(throws: NotFound.self) { try await fixture.cache.temperature(of: simulated) }
      await #expect(throws: NotFound.self) { try await fixture.cache.level(of: lake) }
    }
    #expect(fixture.services.count == 5)
    fixture.clock.advance(by: .hours(1))
    await #expect(throws: NotFound.self) { try await fixture.cache.level(of: lake) }
    #expect(fixture.services.count == 6)
  }

  @Test(arguments: [
    ("405.96 m", 405.96), ("405,96 m", 405.96), (String(repeating: "9", count: 400), nil),
    ("dry", nil),
  ]) func `levels have a point or a comma, and no impossible number`(text: String, level: Double?)
    async throws
  {
    let report = #"{"lakes": [{"name": "\#(lake.name)", "waterLevel": "\#(text)"}]}"#
    fixture.services.change { $0.answers["/lakes"] = .init(json: report) }
    let found: Double?
    do { found = try await fixture.cache.level(of: lake).value } catch is NotFound { found = nil }
    #expect(found == level)
  }

  @Test func `sun times are computed once per day`() async throws {
    let sun = try await fixture.cache.sun(at: lake).value
    for (computed, almanac) in [(sun.rise, "05:42"), (sun.set, "21:20")] {
      let off = try computed.duration(to: moment("2025-07-12T\(almanac):00+0200")) / .minutes(1)
      #expect(abs(off) < 3, "\(off) minutes")
    }
    #expect(try await fixture.cache.sun(at: lake).source != .loaded)
    fixture.clock.advance(by: .hours(16))
    #expect(try await fixture.cache.sun(at: lake).value != sun)
    #expect(fixture.services.count == 0)
  }

  @Test func `map tiles stay for ever within a size limit`() async throws {
    #expect(try await fixture.cache.tile(zoom: 12, x: 1, y: 2).value.count == 20_000)
    #expect(try fixture.namespace(.tiles).info()?.rules.limits.bytes == 40_000_000)
    fixture.clock.advance(by: .days(3650))
    #expect(try await fixture.cache.tile(zoom: 12, x: 1, y: 2).source != .loaded)
    #expect(try fixture.cache.store.namespace("boat.http").count() == 0, "no second copy")
    for answer in [
      LocalServer.Answer(200, ["Content-Type": "text/html"], text: "x"), .init(json: "{}"),
      .init(text: "<html>"), .init(text: ""),
    ] {
      fixture.services.change { $0.answers["/"] = answer }
      await #expect(throws: ServiceError.self) { try await fixture.cache.tile(zoom: 1, x: 0, y: 0) }
    }
  }

  @Test func `a new lake is one data record and needs no code`() async throws {
    let record = #"{"id": "sempach", "name": "Sempach", "latitude": 47.14, "longitude": 8.15}"#
    let lake = try JSONDecoder().decode(Lake.self, from: Data(record.utf8))
    let report = #"{"lakes": [{"name": "Sempach", "temperature": 23.5, "waterLevel": "503.8 m"}]}"#
    fixture.services.change { $0.answers["/lakes"] = .init(json: report) }
    #expect(try await fixture.cache.temperature(of: lake).value.celsius == 23.5)
    #expect(try await fixture.cache.level(of: lake).value == 503.8)
    #expect(try await fixture.cache.forecasts(for: lake).value.count == 8)
    #expect(try await fixture.cache.sun(at: lake).source == .loaded)
  }

  @Test func `a full store loses no answer`() async throws {
    try fixture.cache.store.fill()
    let level = try await fixture.cache.level(of: lake)
    #expect(level.value == 405.91 && (level.error as? LarderError)?.code == .full)
  }
}
