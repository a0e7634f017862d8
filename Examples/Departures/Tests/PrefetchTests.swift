import ExampleTesting

@testable import Departures

/// Favourites before their use, and what an app does when it starts and when it leaves the screen.
@Suite(.checkedStores) struct PrefetchTests {
  private let fixture: Fixture
  private let lines = Lines<String>()
  private var cache: DeparturesCache { fixture.cache }
  private var services: FakeServices { fixture.services }
  init() throws { fixture = try Fixture(jumps: true, log: { [lines] in lines.add($0) }) }
  private func stations(_ count: Int) -> [String] { (0..<count).map { "\(8_500_000 + $0)" } }

  @Test(arguments: [0, 1, 2, 3, 200])
  func `two favourites at once, then with pauses`(count: Int) async throws {
    let prefetch = try cache.prefetch(stations(count))
    var done: [Int] = []
    for await step in prefetch {
      done.append(step.done)
      #expect(step.total == count)
    }
    #expect(await prefetch.finish().counts == [0, count, 0, 0])
    #expect(done == Array((1...max(count, 1)).prefix(count)))
    let pauses = [Duration.milliseconds(500)] + Array(repeating: .milliseconds(200), count: 197)
    #expect(fixture.clock.waits.all == Array(pauses.prefix(max(0, count - 2))))
    #expect(services.count == count)
    let asked = services.asked.map { $0.dropFirst(20).prefix(7) }
    #expect(asked.allSatisfy { $0.allSatisfy(\.isNumber) } || count == 0)
    #expect(try fixture.store.namespace("boat.boards").count() == count)
  }

  @Test func `fresh boards cost neither a request nor a pause`() async throws {
    _ = try await cache.board(at: stations(5)[1])
    _ = try await cache.board(at: stations(5)[3])
    #expect(try await cache.prefetch(stations(5)).finish().counts == [2, 3, 0, 0])
    #expect(fixture.clock.waits.all == [.milliseconds(200)], "after the third, of five")
    #expect(services.count == 5)
    services.change { $0.delay = 2 }
    let live = stations(9)[8]
    _ = try await cache.board(at: live)
    fixture.clock.advance(by: .seconds(80))
    let summary = try await cache.prefetch([live]).finish()
    #expect(summary.counts == [0, 1, 0, 0] && services.count == 7)
  }

  @Test func `a failing favourite stops no other, a cancelled prefetch ends`() async throws {
    services.change { $0.unknown = ["8500001"] }
    #expect(try await cache.prefetch(stations(4)).finish().counts == [0, 3, 1, 0])
    let prefetch = try cache.prefetch((0..<200).map { "\(8_600_000 + $0)" })
    var seen = 0
    for await _ in prefetch {
      seen += 1
      if seen == 3 { prefetch.cancel() }
    }
    let summary = await prefetch.finish()
    #expect(summary.remaining > 0 && summary.loaded + summary.failed + summary.remaining == 200)
    #expect(services.count - 4 <= summary.loaded + summary.failed)
  }

  private func boards(_ stations: [String], on day: String) -> [String] {
    stations.map { "/v1/stationboard?id=\($0)&limit=200&datetime=\(day)%2000%3A00" }
  }

  @Test func `a start fetches the favourites' boards, then the ships`() async throws {
    let widget = Widget(fixture.store)
    try widget.save(WidgetSettings(stations: ["7", "8"]))
    #expect(try await cache.start(["2", "1", "3"]).finish().counts == [0, 4, 0, 0])
    #expect(services.asked == boards(["2", "1", "3"], on: "2025-07-12") + ["/boats/ships"])
    #expect(
      lines.all.filter { !$0.hasPrefix("GET ") }
        == ["boards 2", "boards 1", "boards 3", "ships "].map {
          "boat.\($0)\($0.hasSuffix(" ") ? "" : "_")2025-07-12: loaded, 0.0 s old"
        })
    #expect(try fixture.store.namespace("boat.next").count() == 0, "nothing of the widget")
    #expect(fixture.clock.waits.all == [.milliseconds(500), .milliseconds(200)])

    #expect(try await cache.start(["2", "1", "3"]).finish().counts == [4, 0, 0, 0])
    #expect(services.count == 4 && fixture.clock.waits.all.count == 2, "neither asked nor waited")
  }

  @Test func `the widget is told on leaving the screen, never at the start`() async throws {
    let widget = Widget(fixture.store)
    try widget.save(WidgetSettings(stations: ["1", "2"], rows: 2))
    #expect(try await cache.start(["1", "2"]).finish().loaded == 3)
    #expect(services.count(of: "/ships") == 1)
    #expect(try fixture.store.namespace("boat.next").count() == 0)
    #expect(try await cache.enterBackground().finish().counts == [3, 2, 0, 0])
    #expect(try fixture.store.namespace("boat.next").count() == 2 * Widget.most, "and tomorrow's")
    #expect(
      Array(services.asked.dropFirst(3)) == boards(["1", "2"], on: "2025-07-13"),
      "all of today was there")
    #expect(try widget.departures(from: "1").count == 2)
    #expect(try widget.departures(from: "1").first?.ship == "Limmat")
  }

  @Test func `boards fetched on leaving serve the next morning`() async throws {
    try Widget(fixture.store).save(WidgetSettings(stations: ["01"]))
    #expect(try await cache.enterBackground().finish().failed == 0)
    services.change { $0.isDown = true }
    fixture.clock.set(to: try moment("2025-07-13T06:50:00+0200"))
    let board = try await cache.board(at: "1")
    #expect(board.value.day.description == "2025-07-13" && board.value.departures.count == 12)
    #expect(try await cache.publish("1").count == 12)
  }

  @Test func `a station that fails does not keep the others, and is told of`() async throws {
    let widget = Widget(fixture.store)
    try widget.save(WidgetSettings(stations: ["1", "2", "3"]))
    services.change { $0.unknown = ["2"] }
    let leaving = try cache.enterBackground()
    var failed: [PrefetchRequest] = []
    for await step in leaving {
      if case .failed(let error) = step.outcome {
        failed.append(step.key)
        #expect(error is NotFound)
      }
    }
    #expect(failed == [.next("2"), .board("2", inDays: 1)])
    #expect(await leaving.finish().counts == [0, 5, 2, 0])
    #expect(try widget.departures(from: "1").count == 3)
    #expect(try widget.departures(from: "3").count == 3)
    #expect(
      lines.all.contains { $0.hasPrefix("boat.boards 2_2025-07-12: no answer: the station 2") })
  }

  @Test func `without names of ships all the rest is done, and the failure told`() async throws {
    services.change { $0.shipsAreDown = true }
    let widget = Widget(fixture.store)
    try widget.save(WidgetSettings(stations: ["1", "2"]))
    for prefetch in [try cache.start(["1", "2"]), try cache.enterBackground()] {
      var failed: [PrefetchRequest] = []
      for await step in prefetch { if case .failed = step.outcome { failed.append(step.key) } }
      #expect(failed == [.ships])
    }
    #expect(services.count(of: "/ships") == 2, "once each, not for every station")
    #expect(try widget.departures(from: "2").map(\.ship) == [nil, nil, nil])
    #expect(try await cache.publish("1").count == Widget.most)
    let names = try await cache.shipNames()
    #expect(names.day.ships.isEmpty)
    #expect("\(try #require(names.error))".contains("no ships"))
  }

  @Test func `without an address of the ships there is no error`() async throws {
    var addresses = Addresses(all: "https://fake.invalid")
    addresses.boats = nil
    #expect(Addresses().boats == nil)
    let cache = try DeparturesCache(
      fixture.store, services: Services(at: addresses, over: services, in: fixture.store))
    try Widget(fixture.store).save(WidgetSettings(stations: ["1"]))
    #expect(try await cache.start(["1"]).finish().counts == [1, 1, 0, 0])
    #expect(try await cache.enterBackground().finish().counts == [2, 1, 0, 0])
    #expect(try await cache.shipNames().error == nil)
    let lake = try #require(cache.lake("thunersee"))
    #expect(try await cache.temperature(of: lake)?.value.origin == .simulation)
    await #expect(throws: NoAddress.self) { try await cache.level(of: lake) }
    #expect(services.count(of: "/boats") == 0)
  }

  @Test func `names that were stored are shown when nobody is to be asked any more`() async throws {
    _ = try await cache.ships()
    services.change { $0.shipsAreDown = true }
    fixture.clock.advance(by: .hours(21))
    let names = try await cache.shipNames(on: day("2025-07-12"), policy: .revalidate)
    #expect(names.day.ships == ["90": "Limmat"] && names.error != nil)
    let stored = try await cache.shipNames(on: day("2025-07-12"), policy: .cacheOnly)
    #expect(stored.day.ships == ["90": "Limmat"] && stored.error == nil)
    let asked = services.count
    #expect(try await cache.shipNames(on: day("2025-12-24"), policy: .cacheOnly).error == nil)
    #expect(services.count == asked)
  }

  @Test func `work ahead has a low priority, a request that of its caller`() async throws {
    try Widget(fixture.store).save(WidgetSettings(stations: ["1", "2"]))
    // Who waits for the end of a task lends it his priority; who looks at its steps does not.
    for await _ in try cache.start(["1"]) {}
    for await _ in try cache.enterBackground() {}
    for await _ in try cache.prefetch(["3"]) {}
    #expect(services.priorities.count == 6)
    #expect(services.priorities.allSatisfy { $0 == .low }, "\(services.priorities)")
    _ = try await Task(priority: .high) { try await cache.board(at: "4") }.value
    #expect(services.priorities.last == .high)
  }
}

extension Prefetch.Summary {
  /// Present, loaded, failed, left.
  var counts: [Int] { [present, loaded, failed, remaining] }
}
