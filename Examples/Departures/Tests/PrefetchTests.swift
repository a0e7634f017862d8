import ExampleTesting

@testable import Departures

/// Requests for favourites, and departures for the widget. Tests of Larder cover the progress, cancellation and failures of loads.
@Suite(.fixture(TestedStores.self)) struct PrefetchTests {
  private let fixture: Fixture
  private var cache: DeparturesCache { fixture.cache }
  private var services: FakeServices { fixture.services }
  init() throws { fixture = try Fixture() }
  private func stations(_ count: Int) -> [String] { (0..<count).map { "\(8_500_000 + $0)" } }

  @Test(arguments: [0, 1, 2, 3, 200])
  func `favourites: two at once, a pause of 0.5 s, the rest 0.2 s apart`(count: Int) async throws {
    #expect(try await cache.prefetch(stations(count)).finish().counts == [0, count, 0, 0])
    let pauses = [Duration.milliseconds(500)] + Array(repeating: .milliseconds(200), count: 197)
    #expect(fixture.waits.all == Array(pauses.prefix(max(0, count - 2))))
    #expect(services.count == count)
  }

  @Test func `fresh boards cost no request and no pause, stale boards are loaded`() async throws {
    _ = try await cache.board(at: stations(5)[1])
    _ = try await cache.board(at: stations(5)[3])
    #expect(try await cache.prefetch(stations(5)).finish().counts == [2, 3, 0, 0])
    #expect(fixture.waits.all == [.milliseconds(200)], "after the third, of five")
    services.change { $0.delay = { _, _ in 2 } }
    _ = try await cache.board(at: "1")
    fixture.clock.advance(by: .seconds(60))
    #expect(try await cache.prefetch(["1"]).finish().counts == [0, 1, 0, 0])
  }

  @Test func `widget data is loaded when the app goes to the background, never at start`()
    async throws
  {
    #expect(try await cache.prefetch(["1", "2"]).finish().counts == [0, 2, 0, 0])
    #expect(try fixture.namespace(.next).count() == 0 && services.count == 2)
    #expect(try await cache.enterBackground(["1", "2"]).finish().counts == [4, 3, 0, 0])
    #expect(services.asked.dropFirst(2).prefix(2).allSatisfy { $0.contains("2025-07-13") })
    #expect(services.asked.dropFirst(4) == ["/boats/ships"])
    #expect(try fixture.namespace(.next).count() == 40, "and tomorrow's")
    #expect(try cache.published(from: "1").map(\.ship) == [nil, "Limmat", nil])
    // The next morning there is no network, but the boards are already in the store.
    services.change { $0.answers["/"] = FakeServices.down }
    fixture.clock.set(to: try moment("2025-07-13T06:50:00+0200"))
    #expect(try await cache.board(at: "1").value.departures.count == 12)
  }

  @Test func `work ahead has a low priority, a request that of its caller`() async throws {
    // A wait for the end of a task would raise the task's priority, so the test iterates over the steps instead.
    for await _ in try cache.enterBackground(["1"]) {}
    for await _ in try cache.prefetch(["3"]) {}
    #expect(services.priorities.count == 4)
    #expect(services.priorities.allSatisfy { $0 == .low }, "\(services.priorities)")
    _ = try await Task(priority: .high) { try await cache.board(at: "4") }.value
    #expect(services.priorities.last == .high)
  }

  private func publish(_ station: String = "1") async throws -> [Departure] {
    _ = try await fixture.cache.board(at: station)
    try await fixture.cache.publish(station)
    return try fixture.cache.published(from: station, limit: 20)
  }

  @Test func `a departure expires when it leaves, delays included`() async throws {
    fixture.services.change { $0.delay = { _, _ in 4 } }
    #expect(try await publish().count == 12)
    for (time, count) in [("09:03:59", 12), ("09:04:00", 11), ("20:03:59", 1), ("20:04:00", 0)] {
      fixture.clock.set(to: try moment("2025-07-12T\(time)+0200"))
      #expect(try cache.published(from: "1", limit: 20).count == count, "\(time)")
    }
    #expect(try fixture.cache.store.purge().entries >= 12)
  }

  @Test func `new departures replace the former ones of their station alone`() async throws {
    for station in ["1", "11"] { #expect(try await publish(station).count == 12) }
    fixture.services.change { $0.times = ["18:30:00+0200"] }
    _ = try await fixture.under(.reload).board(at: "1")
    #expect(try await publish().map(\.name) == ["BAT 181"])
    #expect(try cache.published(from: "11").count == 3)
    #expect(try cache.published(from: "2") == [])
  }

  @Test(.timeLimit(.minutes(20)))
  func `updates come at once, after a change, and when a departure has left`() async throws {
    let lines = Lines<[String]>()
    let watch = Task { [cache] in
      try await cache.watch(["1"], limit: 2) {
        lines.add($0.map(\.name))
        return lines.all.count < 3
      }
    }
    try await waitUntil { lines.all == [[]] }
    _ = try await publish()
    try await waitUntil { lines.all.count == 2 }
    // The machine was suspended for an hour, so only the wall clock has run.
    fixture.clock.set(to: fixture.clock.now.advanced(by: .hours(1)))
    fixture.clock.advance(by: .minutes(1))
    try await watch.value
    #expect(lines.all == [[], ["BAT 91", "BAT 101"], ["BAT 101", "BAT 111"]])
  }

  @Test(.timeLimit(.minutes(20)))
  func `app and widget are two processes on one store`() async throws {
    let program = TestedProgram("larder-departures")
    #expect(try await program.run("board 8503651 --offline").code == 0)
    let widget = Process.silent([
      ProgramFixture.programs + "/larder-departures", "widget", "8503651", "--rows", "1",
      "--offline", "--store", program.store, "--watch",
    ])
    let output = Pipe()
    widget.standardOutput = output
    try widget.run()
    defer { widget.terminate() }
    let lines = LineCollector(output.fileHandleForReading)
    #expect(lines.next(within: 600) == "no departures")
    #expect(try await program.run("publish 8503651 --offline").code == 0)
    let shown = try #require(lines.next(within: 600))
    #expect(shown.contains("BAT 102") && shown.contains("(Linth)"))
    try Store(at: program.store).finish()
  }
}

extension Prefetch.Summary {
  /// The numbers of present, loaded, failed and remaining requests, in this order.
  var counts: [Int] { [present, loaded, failed, remaining] }
}
