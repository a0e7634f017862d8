import ExampleTesting
import Foundation
import Larder
import Service
import Testing

@testable import Departures

/// What an app may take: of time, of memory and of disk.
@Suite(.checkedStores) struct LimitTests {
  @Test func `a request that is not answered within fifteen seconds has failed`() async throws {
    let fixture = try Fixture()
    let today = try fixture.cache.today
    _ = try await fixture.cache.board(at: "1")
    fixture.services.change { $0.isHanging = true }
    let cache = fixture.cache
    /// What comes of a question if nobody answers it and so much time passes.
    func ask<Answer: Sendable>(
      _ time: Duration, _ question: @escaping @Sendable () async throws -> Answer
    ) async throws -> Answer {
      let before = fixture.services.count
      let asking = Task { try await question() }
      try await fixture.settle(requests: before + 1)
      fixture.clock.advance(by: time)
      return try await asking.value
    }
    let start = fixture.clock.now
    let board = try await ask(.seconds(15)) {
      try await cache.board(at: "1", on: today, policy: .revalidate)
    }
    #expect(board.source == .stale && board.value.departures.count == 12)
    #expect((try #require(board.error) as? ServiceError)?.isOffline == true)
    #expect("\(try #require(board.error))".contains("15"))
    await #expect(throws: ServiceError.self) {
      try await ask(.seconds(15)) { try await cache.board(at: "2") }
    }
    await #expect {
      try await ask(.seconds(15)) { try await cache.tile(zoom: 1, x: 1, y: 1) }
    } throws: { ($0 as? LarderError)?.code == .timedOut }
    #expect(start.duration(to: fixture.clock.now) == .seconds(45))

    // One millisecond less, and the answer counts.
    let before = fixture.services.count
    let asking = Task { try await cache.board(at: "3") }
    try await fixture.settle(requests: before + 1)
    fixture.clock.advance(by: .seconds(15) - .milliseconds(1))
    fixture.services.change { $0.isHanging = false }
    #expect(try await asking.value.source == .loaded)
  }

  @Test func `the file stays within 100 MB, decoded values within 50`() async throws {
    let fixture = try Fixture()
    let widget = Widget(fixture.store)
    try widget.save(WidgetSettings(stations: ["1"]))
    // Tiles may take 40 MB; without that they would take all.
    _ = try await fixture.cache.tile(zoom: 12, x: 0, y: 0)
    try fixture.store.override(
      Rules.Overrides(limits: Limits(bytes: .megabytes(500))), for: Shelf.tiles.name)
    let megabyte = [UInt8](repeating: 7, count: 1_000_000)
    let text = String(repeating: "x", count: megabyte.count)
    let cache = fixture.cache
    var largest = 0
    for number in 0..<70 {
      try await cache.tiles.set(megabyte, for: "13/\(number)/0")
      // No kind takes all of the memory for itself.
      if number < 20 {
        try await cache.ships.set(ShipDay(ships: ["1": text]), for: "\(number)")
        try await cache.locations.set([Station(id: "1", name: text)], for: "\(number)")
        try await cache.forecasts.set(Forecast(place: text, steps: []), for: "\(number)")
      }
      let cost = fixture.store.memory.usage.cost
      largest = max(largest, cost)
      #expect(cost <= 50_000_000)
      #expect(try fileSize(fixture.store) <= 100_000_000)
    }
    #expect(largest > 45_000_000, "memory was used")
    #expect(try fixture.store.statistics().bytes > 80_000_000, "disk was used")
    #expect(try widget.settings.stations == ["1"], "settings give way to nothing")
  }

  private func fileSize(_ store: Store) throws -> Int {
    try FileManager.default.contentsOfDirectory(atPath: store.path).reduce(0) { sum, name in
      let facts = try FileManager.default.attributesOfItem(atPath: store.path + "/" + name)
      return name.hasPrefix("data") ? sum + (facts[.size] as? Int ?? 0) : sum
    }
  }
}
