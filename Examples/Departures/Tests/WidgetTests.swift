import ExampleTesting

@testable import Departures

/// The next departures, written by the app and read by the widget.
@Suite(.checkedStores) struct WidgetTests {
  private let fixture: Fixture
  init() throws { fixture = try Fixture() }

  private func publish(_ station: String = "1") async throws -> [Departure] {
    _ = try await fixture.cache.board(at: station)
    try fixture.widget.publish(await fixture.cache.next(from: station), for: station)
    return try fixture.widget.departures(from: station, limit: Widget.most)
  }

  @Test func `a departure expires when it leaves, delays included`() async throws {
    fixture.services.change { $0.delay = 4 }
    #expect(try await publish().count == 12)
    for (time, count) in [("09:03:59", 12), ("09:04:00", 11), ("20:03:59", 1), ("20:04:00", 0)] {
      fixture.clock.set(to: try moment("2025-07-12T\(time)+0200"))
      #expect(try fixture.widget.departures(from: "1", limit: 20).count == count, "\(time)")
    }
    #expect(try fixture.cache.store.purge().entries >= 12)
  }

  @Test func `new departures replace the former ones of their station alone`() async throws {
    for station in ["1", "11"] { #expect(try await publish(station).count == 12) }
    fixture.services.change { $0.times = ["18:30"] }
    _ = try await fixture.with(.reload).board(at: "1")
    #expect(try await publish("01").map(\.name) == ["BAT 181"])
    #expect(try fixture.widget.departures(from: "11").count == 3)
    #expect(try fixture.widget.departures(from: "2") == [])
  }

  @Test(.timeLimit(.minutes(20)))
  func `updates come at once, after a change, and when a departure has left`() async throws {
    let lines = Lines<[String]>()
    let watch = Task { [widget = fixture.widget] in
      try await widget.watch(["1"], limit: 2) {
        lines.add($0.map(\.name))
        return lines.all.count < 3
      }
    }
    try await waitUntil { lines.all == [[]] }
    _ = try await publish()
    try await waitUntil { lines.all.count == 2 }
    fixture.clock.advance(by: .hours(1))
    try await watch.value
    #expect(lines.all == [[], ["BAT 91", "BAT 101"], ["BAT 101", "BAT 111"]])
  }

  @Test(.timeLimit(.minutes(20)))
  func `app and widget are two processes on one store`() async throws {
    let program = try TestedProgram("larder-departures", store: "store")
    #expect(try await program.run("board 8503651 --offline").code == 0)
    let (widget, output) = (Process(), Pipe())
    widget.executableURL = URL(filePath: ProgramFixture.programs + "/larder-departures")
    widget.arguments = [
      "widget", "8503651", "--rows", "1", "--offline", "--store", program.store, "--watch",
    ]
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
