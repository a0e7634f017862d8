import ExampleTesting
import Foundation
import Larder
import Synchronization
import Testing

@testable import Departures

/// Favourites before anybody asks for them, and what an app does when it starts and when it leaves.
@Suite struct FavouriteTests {
  private let clock: JumpingClock
  private let store: Store
  private let services = FakeServices()
  private let cache: DeparturesCache

  init() throws {
    clock = JumpingClock(now: try moment("2025-07-12T08:00:00+0200"))
    store = try Store.temporary(clock: clock)
    cache = try DeparturesCache(
      store,
      services: Services(at: Addresses(all: "https://fake.invalid"), over: services, in: store))
  }

  private func stations(_ count: Int) -> [String] { (0..<count).map { "\(8_500_000 + $0)" } }

  @Test(arguments: [0, 1, 2, 3, 200])
  func `the first two at once, half a second, then a fifth of a second each`(
    count: Int
  ) async throws {
    let prefetch = try cache.prefetch(stations(count))
    var done: [Int] = []
    for await step in prefetch {
      done.append(step.done)
      #expect(step.total == count)
    }
    #expect(await prefetch.finish().counts == [0, count, 0, 0])
    #expect(done == Array((1...max(count, 1)).prefix(count)))
    let pauses = [Duration.milliseconds(500)] + Array(repeating: .milliseconds(200), count: 197)
    #expect(clock.waits.all == Array(pauses.prefix(max(0, count - 2))))
    #expect(services.count == count)
    let asked = services.asked.map { $0.dropFirst(20).prefix(7) }
    #expect(asked.allSatisfy { $0.allSatisfy(\.isNumber) } || count == 0)
    #expect(try store.namespace("boat.boards").count() == count)
    try store.finish()
  }

  @Test
  func `what is fresh costs neither a request nor a pause, what is stale is fetched in its turn`()
    async throws
  {
    _ = try await cache.board(at: stations(5)[1])
    _ = try await cache.board(at: stations(5)[3])
    #expect(try await cache.prefetch(stations(5)).finish().counts == [2, 3, 0, 0])
    #expect(clock.waits.all == [.milliseconds(200)], "after the third, of five")
    #expect(services.count == 5)
    services.change { $0.delay = 2 }
    let live = stations(9)[8]
    _ = try await cache.board(at: live)
    try await clock.sleep(until: clock.monotonic + .seconds(1.9))
    for _ in 1...40 { try await clock.sleep(until: clock.monotonic + .seconds(1.9)) }
    let summary = try await cache.prefetch([live]).finish()
    #expect(summary.counts == [0, 1, 0, 0] && services.count == 7)
    try store.finish()
  }

  @Test func `a failing one does not keep the others, and a cancelled one asks no more`()
    async throws
  {
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
    try store.finish()
  }
}

extension Prefetch.Summary {
  /// Present, loaded, failed, left.
  var counts: [Int] { [present, loaded, failed, remaining] }
}
