import ExampleTesting

@testable import Departures

/// Boards that are asked for again before their lifetime ends: before a departure.
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
}
