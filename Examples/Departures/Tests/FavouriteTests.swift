import ExampleTesting
import Foundation
import Larder
import Synchronization
import Testing

@testable import Departures

/// Favourites before anybody asks for them, and what an app does when it starts and when it leaves.
@Suite(.checkedStores) struct FavouriteTests {
  private let clock: JumpingClock
  private let store: Store
  private let services = FakeServices()
  private let cache: DeparturesCache

  init() throws {
    clock = JumpingClock(now: try moment("2025-07-12T08:00:00+0200"))
    store = try Store.tested(clock: clock)
    cache = try DeparturesCache(
      store,
      services: Services(at: Addresses(all: "https://fake.invalid"), over: services, in: store))
  }

  private func stations(_ count: Int) -> [String] { (0..<count).map { "\(8_500_000 + $0)" } }

  @Test(arguments: [0, 1, 2, 3, 200]) func `two favourites at once, then with pauses`(count: Int)
    async throws
  {
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
  }

  @Test func `fresh boards cost neither a request nor a pause`() async throws {
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
}

extension Prefetch.Summary {
  /// Present, loaded, failed, left.
  var counts: [Int] { [present, loaded, failed, remaining] }
}
