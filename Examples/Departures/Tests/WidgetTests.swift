import ExampleTesting
import Foundation
import Larder
import Testing

@testable import Departures

/// What departs next, left by the app and read by the widget.
@Suite struct WidgetTests {
  @Test func `a departure is there until it leaves, delays included`() async throws {
    let bench = try Bench()
    bench.services.change { $0.delay = 4 }
    try await bench.cache.publish("1")
    let widget = Widget(bench.store)
    let next = try widget.departures(from: "1", limit: 12)
    #expect(next.count == 12 && next[0].line == "90" && next[0].ship == "Limmat")
    #expect(next.map(\.time) == next.map(\.time).sorted())
    bench.clock.set(to: try moment("2025-07-12T09:03:59+0200"))
    #expect(try widget.departures(from: "1", limit: 12).count == 12)
    bench.clock.set(to: try moment("2025-07-12T09:04:00+0200"))
    #expect(try widget.departures(from: "1", limit: 12).map(\.line).first == "100")
    bench.clock.set(to: try moment("2025-07-12T20:04:00+0200"))
    #expect(try widget.departures(from: "1", limit: 12) == [])
    #expect(try bench.store.purge().entries >= 12)
    try bench.store.finish()
  }

  @Test func `what is left anew takes the place of what was left before`() async throws {
    let bench = try Bench()
    try await bench.cache.publish("1")
    try await bench.cache.publish("11")
    bench.services.change { $0.times = ["18:30"] }
    try await bench.cache.publish("1", policy: .reload)
    let widget = Widget(bench.store)
    #expect(try widget.departures(from: "1", limit: 12).map(\.line) == ["180"])
    #expect(try widget.departures(from: "11", limit: 12).count == 12, "another station")
    #expect(try widget.departures(from: "2") == [])
    try bench.store.finish()
  }

  @Test
  func `two runs of a line that leave together are two, and a station is no other's beginning`()
    async throws
  {
    let bench = try Bench()
    var first = try #require(try await bench.cache.board(at: "1").value.departures.first)
    let station = Station(id: "1", name: "A")
    let runs = ["000101", "000102"].map { course in
      first.course = course
      return NextDeparture(first, from: station, ship: nil)
    }
    let widget = Widget(bench.store)
    try widget.publish(runs, for: "1")
    #expect(try widget.departures(from: "1") == runs)
    try widget.publish([runs[1]], for: "1/1752300000000")
    try widget.publish([runs[0]], for: "1")
    #expect(try widget.departures(from: "1") == [runs[0]])
    #expect(try widget.departures(from: "1/1752300000000") == [runs[1]])
    try bench.store.finish()
  }

  @Test func `settings stay, also those of another version`() throws {
    let bench = try Bench()
    let widget = Widget(bench.store)
    #expect(try widget.settings == WidgetSettings())
    let settings = WidgetSettings(stations: ["1"], rows: 5, showsShips: false)
    try widget.save(settings)
    bench.clock.advance(by: .days(4000))
    try bench.cache.clear()
    #expect(try Widget(bench.store).settings == settings)
    let namespace = bench.store.namespace("boat.settings")
    try namespace.set(#"{"stations": ["7"], "colour": "blue"}"#, for: "widget")
    #expect(try widget.settings == WidgetSettings(stations: ["7"]))
    try bench.store.finish()
  }

  @Test func `a widget that hides ships has none`() async throws {
    let bench = try Bench()
    let widget = Widget(bench.store)
    try widget.save(WidgetSettings(stations: ["1"], showsShips: false))
    #expect(try await bench.cache.enterBackground().finish().failed == 0)
    #expect(try widget.departures(from: "1").map(\.ship) == [nil, nil, nil])
    try bench.store.finish()
  }
}

/// Two programs, one store: the app writes, and the widget shows.
@Suite(.serialized) struct WidgetProcessTests {
  private struct Shown: Decodable {
    var departures: [NextDeparture]
    var read: Int64
  }
  private struct Done: Decodable {
    var departures: Int
    var began: Int64
  }

  @Test(.timeLimit(.minutes(2)))
  func `a widget shows what the app wrote within 50 ms`() async throws {
    let folder = try TemporaryFolder()
    let store = folder.url.path + "/store"
    #expect(
      try await Outcome(of: [
        "larder-departures", "board", "8503651", "--offline", "--store", store,
      ]).code
        == 0)
    let rounds = 9
    let widget = try Running(of: [
      "larder-departures", "widget", "8503651", "--rows", "3", "--offline", "--store", store,
      "--json",
      "--watch", "--changes", "\(rounds)",
    ])
    let first = try JSONDecoder().decode(Shown.self, from: widget.line())
    #expect(first.departures.isEmpty, "the app has left nothing yet")
    var took: [Int64] = []
    for _ in 0..<rounds {
      let app = try await Outcome(of: [
        "larder-departures", "publish", "8503651", "--offline", "--store", store, "--json",
      ])
      #expect(app.code == 0, "\(app.error)")
      let done = try JSONDecoder().decode(Done.self, from: Data(app.output.utf8))
      let shown = try JSONDecoder().decode(Shown.self, from: widget.line())
      #expect(done.departures == 7)
      #expect(shown.departures.map(\.line) == ["102", "103", "104"])
      #expect(shown.departures.map(\.ship) == ["Linth", nil, nil])
      took.append(shown.read - done.began)
    }
    #expect(widget.end() == 0)
    print("from the app's write to the widget's read: \(took.sorted()) ms")
    #expect(took.sorted()[rounds / 2] < 50, "\(took)")
    try Store(at: store).finish()
  }
}
