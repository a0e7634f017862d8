import TestSupport
import Testing

@testable import Larder

@Suite(.settling) struct PrefetchTests: StoreSuite {
  let fixture = StoreFixture()
  private let origin = Origin()

  @Test(arguments: [0, 1, 2, 200])
  func `all keys are loaded once, and each step says how far it is`(_ count: Int) async throws {
    let keys = (0..<count).map { "key \($0)" }
    if count > 1 { try await boards.set("there", for: "key 1") }
    let prefetch = try boards.prefetch(keys, concurrency: 3) { key, _ in
      .value("\(key): \(try await origin.load())")
    }
    var done: [Int] = []
    var seen: Set<String> = []
    for await step in prefetch {
      done.append(step.done)
      seen.insert(step.key)
      #expect(step.total == count)
    }
    #expect(done == Array((1...max(count, 1)).prefix(count)) && seen == Set(keys))
    let present = count > 1 ? 1 : 0
    #expect(await prefetch.finish() == .init(present: present, loaded: count - present))
    #expect(origin.loads == count - present)
    #expect(try boards.count() == count)
  }

  @Test func `one after the other with a pause after each, by the store's clock`() async throws {
    let starts = Shared<[Duration]>([])
    let prefetch = try boards.prefetch(
      (0..<5).map { "\($0)" }, concurrency: 1, pause: .milliseconds(200)
    ) { [clock] key, _ in
      starts.withLock { $0.append(clock.monotonic) }
      return .value(key)
    }
    while starts.withLock({ $0.count }) < 5 {
      if clock.isAwaited { clock.advance(by: .milliseconds(100)) }
      await Task.yield()
    }
    #expect(await prefetch.finish().loaded == 5)
    let times = starts.withLock { $0 }
    for (earlier, later) in zip(times, times.dropFirst()) {
      #expect(later - earlier >= .milliseconds(200))
    }
  }

  @Test func `a prefetch can have a rhythm of its own, and loads of any kind`() async throws {
    let starts = Shared<[Duration]>([])
    let prefetch = try Prefetch(
      0..<6, concurrency: 1, clock: clock,
      pause: { done in .milliseconds(done < 2 ? 0 : done * 100) },
      load: { [clock] key in
        starts.withLock { $0.append(clock.monotonic) }
        if key == 3 { throw Origin.Refusal(number: key) }
        return key == 4 ? .present : .loaded
      })
    while starts.withLock({ $0.count }) < 6 {
      if clock.isAwaited { clock.advance(by: .milliseconds(50)) }
      await Task.yield()
    }
    #expect(await prefetch.finish() == .init(present: 1, loaded: 4, failed: 1))
    let times = starts.withLock { $0 }
    let pauses = zip(times, times.dropFirst()).map { $1 - $0 }
    let least = [0, 200, 300, 400, 0].map { Duration.milliseconds($0) }
    #expect(zip(pauses, least).allSatisfy { $0 >= $1 })
    #expect(pauses[0] == .zero && pauses[4] == .zero, "there was nothing to wait for")
  }

  @Test(arguments: [RequestPolicy.standard, .cacheElseLoad])
  func `a stale value is loaded anew, and not served if the load fails`(
    policy: RequestPolicy
  ) async throws {
    let options = LoadOptions(
      policy: policy, expires: .after(.minutes(1)),
      stale: Staleness(whileRevalidating: .hours(1), onError: .hours(1)))
    let run = {
      try await boards.prefetch(["a", "b"], options: options) { _, _ in
        .value(try await origin.text())
      }.finish()
    }
    #expect(try await run() == .init(loaded: 2))
    clock.advance(by: .minutes(2))
    #expect(try await run() == .init(loaded: 2))
    clock.advance(by: .minutes(2))
    origin.fail()
    #expect(try await run() == .init(failed: 2))
  }

  @Test func `one that nobody holds loads all keys`() async throws {
    _ = try boards.prefetch((0..<50).map { "\($0)" }, concurrency: 1) { key, _ in .value(key) }
    try await waitUntil { try boards.count() == 50 }
  }

  @Test func `a cancelled one loads nothing more`() async throws {
    origin.close()
    let prefetch = try boards.prefetch((0..<100).map { "\($0)" }, concurrency: 2) { _, _ in
      .value(try await origin.text())
    }
    try await origin.waitForLoads(2)
    prefetch.cancel()
    let summary = await prefetch.finish()
    #expect(summary.loaded == 0 && summary.failed == 2 && summary.remaining == 98)
    #expect(origin.loads == 2)
  }
}
