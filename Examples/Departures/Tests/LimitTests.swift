import ExampleTesting
import Foundation
import Larder
import Service
import Testing

@testable import Departures

/// The time that a request may take.
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
}
