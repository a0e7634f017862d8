import Larder
import Synchronization
import TestSupport
import Testing

@testable import LarderHTTP

struct TimeLimitTests {
  /// A cache with a stale response whose lifetime was 10 seconds.
  private func expired(_ directive: String) async throws -> Fixture {
    try await Fixture.filled(.page("max-age=10, \(directive)"), age: .seconds(11))
  }

  @Test func `an origin that takes too long is one that cannot be reached`() async throws {
    let fixture = try await expired("stale-if-error=60")
    fixture.origin.become { _, _ in
      try await Task.sleep(for: .seconds(1000))
      throw Origin.Down()
    }
    let (clock, origin) = (fixture.clock, fixture.origin)
    // The time limit of a request begins when the origin gets the request, so the clock moves only after this moment.
    let passing = Task {
      for number in 2...3 {
        try await origin.wait(for: number)
        clock.advance(by: .seconds(15))
      }
    }
    let stale = try await fixture.get()
    #expect(stale.body == "body" && stale.result.reason == .staleDisconnected)
    #expect(stale.result.age == 26)
    await #expect(throws: HTTPCacheError.timedOut(.seconds(15))) { try await fixture.get("/b") }
    try await passing.value
  }

  private static let limit = HTTPCacheError.timedOut(.seconds(15))
  private static let fresh: Pairs = [("Cache-Control", "max-age=100")]

  @Test func `a body that stalls ends with an error, and is not stored`() async throws {
    let stalled = Gate()
    let fixture = try Fixture(
      .giving(Self.fresh) { .steps([{ [1, 2, 3] }, { try await stalled.openAndStall() }]) })
    var body = try await fixture.cache.send(request()).body.makeAsyncIterator()
    #expect(try await body.next() == [1, 2, 3])
    await stalled.wait()
    fixture.clock.advance(by: .seconds(15))
    await #expect(throws: Self.limit) { try await body.next() }
    #expect(try fixture.store.namespace("http").count() == 0)
  }

  @Test(arguments: [false, true])
  func `a body that stalls is the same error for all who wait`(haveOwnFields: Bool) async throws {
    let (stalled, begun) = (Gate(), Gate())
    let fixture = try Fixture(
      .behind(begun, .giving(Self.fresh) { .steps([{ try await stalled.openAndStall() }]) }))
    let asking = (0..<2).map { number in
      Task { try await fixture.get("/a", haveOwnFields ? [("User-Agent", "\(number)")] : []) }
    }
    try await fixture.waiting(for: 1)
    await begun.open()
    await stalled.wait()
    fixture.clock.advance(by: .seconds(15))
    for task in asking { await #expect(throws: Self.limit) { try await task.value } }
    #expect(fixture.origin.count == 1)
  }

  /// Moves the clock to the time limit of a request after the body has stalled.
  private func pass(_ clock: ManualClock, after stalled: Gate) -> Task<Void, Never> {
    Task {
      await stalled.wait()
      clock.advance(by: .seconds(15))
    }
  }

  @Test(arguments: ["stale-if-error=60", "must-revalidate"])
  func `a body that never begins is one of an unreachable origin`(directive: String) async throws {
    let fixture = try await expired(directive)
    let stalled = Gate()
    fixture.origin.become(.giving(Self.fresh) { .steps([{ try await stalled.openAndStall() }]) })
    let passing = pass(fixture.clock, after: stalled)
    if directive == "must-revalidate" {
      await #expect(throws: Self.limit) { try await fixture.get() }
    } else {
      let stale = try await fixture.get()
      #expect(stale.body == "body" && stale.result.reason == .staleDisconnected)
    }
    await passing.value
  }

  @Test func `a body that breaks off before it begins gives way to a stale one`() async throws {
    let fixture = try await expired("stale-if-error=60")
    fixture.origin.become(.giving(Self.fresh) { .steps([{ throw Origin.Down() }]) })
    #expect(try await fixture.get().result.reason == .staleDisconnected)
    fixture.origin.become { _, _ in (response(200, Self.fresh), .pieces) }
    #expect(try await fixture.get().result.originStatus == 200)
    #expect(try await fixture.get().result.isHit)
  }

  private final class CountingClock: LarderClock {
    let clock = ManualClock()
    let count = Mutex(0)
    var now: Timestamp { clock.now }
    var monotonic: Duration { clock.monotonic }

    func sleep(until moment: Duration) async throws {
      count.withLock { $0 += 1 }
      try await clock.sleep(until: moment)
    }
  }

  @Test func `small pieces cost no timer each`() async throws {
    let clock = CountingClock()
    let body = HTTPBody.steps([HTTPBody.Step](repeating: { [1] }, count: 1_000))
    #expect(try await body.limited(to: .seconds(15), by: clock).bytes().count == 1_000)
    #expect(clock.count.withLock { $0 } <= 1)
  }

  @Test func `a source that takes the end of its time for its end is not believed`() async throws {
    let (clock, stalled) = (ManualClock(), Gate())
    let body = HTTPBody(next: {
      try? await stalled.openAndStall()
      return nil
    })
    let passing = pass(clock, after: stalled)
    await #expect(throws: Self.limit) {
      try await body.limited(to: .seconds(15), by: clock).bytes()
    }
    await passing.value
  }

  @Test func `a source that takes the cancellation of its reader for its end is not believed`()
    async throws
  {
    let fixture = try await expired("stale-if-error=60")
    let stalled = Gate()
    fixture.origin.become(
      .giving(Self.fresh) {
        HTTPBody(next: {
          try? await stalled.openAndStall()
          return nil
        })
      })
    let asking = Task { try await fixture.get().body }
    await stalled.wait()
    asking.cancel()
    await #expect(throws: CancellationError.self) { try await asking.value }
    try await waitUntil { fixture.cache.flights.count == 0 }
    #expect(try await fixture.cache.peek(request())?.body.text() == "body")
  }

  /// The policy's closure cancels the client after the origin has answered and before the store is written.
  @Test func `what the origin has answered counts although the client is cancelled`() async throws {
    let isAnswered = Atomic(false)
    let policy = HTTPCachePolicy(principal: { _ in
      if isAnswered.load(ordering: .relaxed) {
        unsafe withUnsafeCurrentTask { task in unsafe task?.cancel() }
      }
      return nil
    })
    let fixture = try await Fixture.filled(.page("max-age=10"), policy: policy)
    fixture.origin.become { _, _ in
      isAnswered.store(true, ordering: .relaxed)
      return (response(404, [("Cache-Control", "no-store")]), HTTPBody())
    }
    let asking = Task { try await fixture.get("/a", [("Cache-Control", "no-cache")]) }
    _ = await asking.result
    #expect(asking.isCancelled)
    #expect(try fixture.store.namespace("http").count() == 0)
  }

  @Test func `a body may take as long as it likes while it moves`() async throws {
    let clock = ManualClock()
    let fixture = try Fixture(
      .giving(Self.fresh) {
        LongBodyTests.pieces([UInt8](repeating: 1, count: 10), of: 1) {
          if $0 < 10 { clock.advance(by: .seconds(14)) }
        }
      }, clock: clock)
    #expect(try await fixture.get().body.utf8.count == 10)
    #expect(clock.now == start.advanced(by: .seconds(140)))
    #expect(try fixture.store.namespace("http").count() == 1)
  }

  @Test(.timeLimit(.minutes(3)))
  func `nobody waits for ever for a body that comes slowly`() async throws {
    let (clock, joined, asked) = (CountingClock(), Gate(), Gate())
    let origin = Origin.giving(Self.fresh) {
      LongBodyTests.pieces([UInt8](repeating: 1, count: 10), of: 1) {
        await joined.wait()
        if $0 < 8 { clock.clock.advance(by: .seconds(14)) } else { await asked.wait() }
      }
    }
    let store = try Store.temporary(options: Store.Options(clock: clock))
    let cache = HTTPCache(in: store.namespace("http"), over: origin)
    let slow = try await cache.send(request())
    // The two sleeps are the limits of the head and of the first piece. The third sleep is that of the client that waits.
    try await waitUntil { clock.count.withLock { $0 } == 2 }
    origin.become(.page("max-age=100"))
    let other = Task { try await cache.send(request()).body.text() }
    try await waitUntil { clock.count.withLock { $0 } == 3 }
    await joined.open()
    #expect(try await other.value == "body")
    await asked.open()
    #expect(try await slow.body.bytes().count == 10)
  }

  @Test func `a body not stored has the same limit, and a slow reader has none`() async throws {
    let stalled = Gate()
    let fixture = try Fixture(
      .giving([("Cache-Control", "no-store")]) {
        .steps([{ [1] }, { [2] }, { try await stalled.openAndStall() }])
      })
    var body = try await fixture.cache.send(request()).body.makeAsyncIterator()
    #expect(try await body.next() == [1])
    fixture.clock.advance(by: .days(1))
    #expect(try await body.next() == [2])
    let passing = pass(fixture.clock, after: stalled)
    await #expect(throws: Self.limit) { try await body.next() }
    await passing.value
  }
}
