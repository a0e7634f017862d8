import HTTPTypes
import Larder
import Synchronization
import TestSupport
import Testing

@testable import LarderHTTP

/// The cache sends only one of many equal requests at a time. A client may share another's request, but must not depend on it.
struct SharedFlightTests {
  private static let fresh: Pairs = [("Cache-Control", "max-age=100")]

  /// A body of 400,000 bytes. All pieces after the first wait for the gate.
  private static func long(after gate: Gate) -> HTTPBody {
    LongBodyTests.pieces([UInt8](repeating: 1, count: 400_000), of: 10_000) {
      if $0 == 10_000 { await gate.wait() }
    }
  }

  @Test(.timeLimit(.minutes(3)))
  func `a slow reader of a body for which there is no room holds nobody up`() async throws {
    let policy = HTTPCachePolicy(bufferLimit: 50_000)
    let gate = Gate()
    let fixture = try Fixture(
      Origin { _, _ in (response(200, Self.fresh), Self.long(after: gate)) }, policy: policy)
    // This client reads nothing, but must not delay the other client. So the other client must send a request of its own.
    let slow = try await fixture.cache.send(request())
    let other = Task { try await fixture.cache.send(request()) }
    try await fixture.waiting(for: 1)
    await gate.open()
    try await fixture.origin.wait(for: 2)
    #expect(try await other.value.body.bytes().count == 400_000)
    #expect(try await slow.body.bytes().count == 400_000)
  }

  @Test(.timeLimit(.minutes(3)), arguments: [false, true])
  func `who waits for what was invalidated asks anew, and stores that`(byHost: Bool) async throws {
    let gate = Gate()
    // The body of the first GET waits for the gate. Later requests are answered immediately.
    let fixture = try Fixture(
      Origin { request, number in
        let isFirst = request.method == .get && number == 1
        return (response(200, Self.fresh), isFirst ? Self.long(after: gate) : HTTPBody("new"))
      })
    let slow = try await fixture.cache.send(request())
    let waiting = (0..<3).map { _ in Task { try await fixture.get().body } }
    try await fixture.waiting(for: 3)
    if byHost {
      try await fixture.cache.removeAll(host: "example.com")
    } else {
      _ = try await fixture.cache.send(request("FOO"))
    }
    for task in waiting { #expect(try await task.value == "new") }
    let count = byHost ? 2 : 3
    #expect(fixture.origin.count == count, "those that waited share one exchange again")
    #expect(try await fixture.get().result.isHit)
    await gate.open()
    #expect(try await slow.body.bytes().count == 400_000)
    #expect(try await fixture.get().body == "new")
  }

  @Test func `a flight ends with its permit`() async throws {
    let (permits, store) = (StorePermits(), try Store.temporary())
    let flights = SingleFlight<String>()
    for isRevokedBefore in [false, true] {
      let permit = permits.issue(["host"], in: store)
      #expect(flights.join("a", for: Flight.Outcome.self) == nil)
      let waiting = try #require(flights.join("a", for: Flight.Outcome.self))
      if isRevokedBefore { _ = permits.revoke("host") }
      permits.add(Flight("a", in: flights), to: permit)
      for flight in permits.revoke("host") { flight.complete(.abandoned) }
      guard case .abandoned = try await waiting.outcome() else {
        return #expect(Bool(false), "another outcome")
      }
    }
  }

  @Test func `a failure is that of all requests with the same fields`() async throws {
    let gate = Gate()
    let fixture = try Fixture(.behind(gate))
    let asking = (0..<2).map { _ in Task { try await fixture.get("/a", [("User-Agent", "odd")]) } }
    try await fixture.waiting(for: 1)
    await gate.open()
    for task in asking { await #expect(throws: Origin.Down.self) { try await task.value } }
    #expect(fixture.origin.count == 1)
  }

  /// The clients send different fields. After the first failure, one client repeats the request for all other clients. If that
  /// request fails before another client waits for it, this other client must not repeat the request again.
  @Test func `a lost origin is asked twice, however many wait with own fields`() async throws {
    for _ in 0..<10 {
      let gate = Gate()
      let fixture = try Fixture(.behind(gate))
      let asking = (0..<20).map { number in
        Task { try await fixture.get("/a", [("User-Agent", "\(number)")]) }
      }
      try await fixture.waiting(for: 19)
      await gate.open()
      for task in asking { await #expect(throws: Origin.Down.self) { try await task.value } }
      #expect(fixture.origin.count == 2)
      await #expect(throws: Origin.Down.self) { try await fixture.get("/a") }
      #expect(fixture.origin.count == 3, "the error is not kept")
    }
  }

  @Test func `who is late for the second request finds its end, unless given up`() async throws {
    let retry = Flight.Retry()
    #expect(retry.join("a") == nil)
    retry.leading("a").complete(.abandoned)
    #expect(retry.join("a") == nil)
    retry.leading("a").complete(.failed(Origin.Down(), [:], Flight.Retry()))
    for _ in 0..<2 {
      guard case .failed = try await retry.join("a")?.outcome() else {
        return #expect(Bool(false), "another outcome")
      }
    }
  }

  @Test func `whoever waits for the second request gets its response`() async throws {
    let gate = Gate()
    let fixture = try Fixture(
      Origin { _, number in
        await gate.wait()
        if number == 1 { throw Origin.Down() }
        return (response(200, Self.fresh), HTTPBody("fine"))
      })
    let first = Task { try await fixture.get("/a", [("User-Agent", "first")]) }
    try await fixture.origin.wait(for: 1)
    let asking = (0..<20).map { number in
      Task { try await fixture.get("/a", [("User-Agent", "\(number)")]).body }
    }
    try await fixture.waiting(for: 20)
    await gate.open()
    await #expect(throws: Origin.Down.self) { try await first.value }
    for task in asking { #expect(try await task.value == "fine") }
    #expect(fixture.origin.count == 2)
  }

  @Test(arguments: [CacheAnswer.Reason.staleDisconnected, .staleOnError])
  func `those whose flight fails get their stale responses, and ask twice`(
    reason: CacheAnswer.Reason
  ) async throws {
    let stale = [("Cache-Control", "max-age=100, stale-if-error=1000"), ("ETag", "\"1\"")]
    let fixture = try await Fixture.filled(.page(stale), age: .seconds(200))
    let gate = Gate()
    let refusing = Origin { _, _ in (response(503), HTTPBody()) }
    fixture.origin.become(.behind(gate, reason == .staleOnError ? refusing : Origin()))
    let asking = (0..<20).map { number in
      Task { try await fixture.get("/a", [("User-Agent", "\(number)")]) }
    }
    try await fixture.waiting(for: 19)
    await gate.open()
    for task in asking {
      let answer = try await task.value
      #expect(answer.body == "body" && answer.result.reason == reason)
    }
    #expect(fixture.origin.count == 3 && fixture.cache.statistics.collapsed == 18)
  }

  @Test func `cancelling one who asks leaves the others`() async throws {
    let gate = Gate()
    let fixture = try Fixture(
      Origin { _, number in
        if number == 1 { try await Task.sleep(for: .seconds(1000)) }
        await gate.wait()
        return (response(200, [("Cache-Control", "max-age=100")]), HTTPBody("body"))
      })
    let first = Task { try await fixture.get().body }
    try await fixture.origin.wait(for: 1)
    let second = Task { try await fixture.get().body }
    first.cancel()
    await #expect(throws: CancellationError.self) { try await first.value }
    await gate.open()
    #expect(try await second.value == "body")
  }

  @Test func `a transport may report a cancellation by any error`() async throws {
    let fixture = try await Fixture.filled(.page("max-age=1, stale-if-error=60"), age: .seconds(3))
    let stalled = Gate()
    let step: HTTPBody.Step = {
      do { try await stalled.openAndStall() } catch { throw Origin.Down() }
    }
    fixture.origin.become { _, number in
      (response(200, Self.fresh), number == 2 ? .steps([step]) : HTTPBody("new"))
    }
    let first = Task { try await fixture.get().body }
    await stalled.wait()
    let second = Task { try await fixture.get().body }
    try await fixture.waiting(for: 1)
    first.cancel()
    await #expect(throws: Origin.Down.self) { try await first.value }
    #expect(try await second.value == "new")
  }

  @Test func `who expects other types sends an own request`() async throws {
    let gate = Gate()
    let rule = HTTPCacheRule("*", expectedTypes: ["application/json"])
    let fixture = try Fixture(
      .behind(gate, .page("max-age=100")), policy: HTTPCachePolicy(rules: [rule]))
    let strict = Task { try await fixture.get().body }
    try await fixture.origin.wait(for: 1)
    let other = fixture.cache.with { $0.rules = [] }
    let lenient = Task { try await other.send(request()).body.text() }
    try await fixture.origin.wait(for: 2)
    await gate.open()
    await #expect(throws: HTTPCacheError.unexpected("of no type")) { try await strict.value }
    #expect(try await lenient.value == "body")
  }

  @Test func `a response that is stored late does not replace a newer one`() async throws {
    let gate = Gate()
    let fixture = try Fixture(
      Origin { _, number in
        let old = HTTPBody.steps([{ Array("old".utf8) }, { await gate.wait(for: nil) }])
        return (response(200, Self.fresh), number == 1 ? old : HTTPBody("new"))
      })
    let slow = try await fixture.cache.send(request())
    fixture.clock.advance(by: .seconds(2))
    #expect(try await fixture.get("/a", [("Cache-Control", "no-cache")]).body == "new")
    await gate.open()
    #expect(try await slow.body.text() == "old")
    #expect(try await fixture.get().body == "new" && fixture.origin.count == 2)
  }

  @Test func `one refresh runs in the background while stale is served`() async throws {
    let page = Origin.page("max-age=1, stale-while-revalidate=60")
    let fixture = try await Fixture.filled(page, age: .seconds(3))
    let gate = Gate()
    fixture.origin.become(.behind(gate, .page("max-age=100", body: "new")))
    for _ in 0..<10 {
      let stale = try await fixture.get()
      #expect(stale.body == "body" && stale.result.reason == .staleWhileRevalidating)
    }
    try await fixture.origin.wait(for: 2)
    await gate.open()
    try await waitUntil { try await fixture.get().body == "new" }
    #expect(fixture.origin.count == 2)
  }

  @Test func `a refresh that fails costs nobody an answer`() async throws {
    let page = Origin.page("max-age=1, stale-while-revalidate=60")
    let policy = HTTPCachePolicy(largestBody: 5_000)
    let fixture = try await Fixture.filled(page, policy: policy, age: .seconds(3))
    fixture.origin.become { _, _ in throw Origin.Down() }
    #expect(try await fixture.get().result.reason == .staleWhileRevalidating)
    try await fixture.origin.wait(for: 2)
    try await waitUntil { fixture.cache.flights.count == 0 }
    #expect(try await fixture.get().body == "body")
    try await waitUntil { fixture.cache.flights.count == 0 }
    #expect(fixture.origin.count == 2, "a refresh begins at most once a second")
    #expect(try fixture.store.namespace("http").count() == 1)
    fixture.clock.advance(by: .seconds(1))
    // A refresh ends at an endless body, which replaces the stale response.
    let endless = HTTPBody(next: { [UInt8](repeating: 1, count: 1_000) })
    fixture.origin.become(.giving([("Cache-Control", "max-age=1")]) { endless })
    try await waitUntil {
      _ = try await fixture.cache.send(request())
      return try fixture.store.namespace("http").count() == 0
    }
  }

  /// The policy's closure stores a response after the cache has read the store and before the cache asks the origin.
  @Test func `an exchange that ended just before is not repeated`() async throws {
    let calls = Atomic(0)
    let action = Mutex<(@Sendable () throws -> Void)?>(nil)
    let failures = Mutex<[any Error]>([])
    let policy = HTTPCachePolicy(principal: { _ in
      // The first call, for the tags of the request, comes before the read of the store. The second call comes after the read.
      let isBetween = calls.add(1, ordering: .relaxed).newValue == 2
      do {
        if isBetween { try action.withLock { $0 }?() }
      } catch { failures.withLock { $0.append(error) } }
      return nil
    })
    let fixture = try Fixture(.page("max-age=1"), policy: policy)
    let (now, namespace) = (fixture.clock.now, fixture.store.namespace("http"))
    action.withLock {
      $0 = {
        let new = StoredResponse(
          response: response(200, [("Cache-Control", "max-age=100")]), requested: now,
          received: now, bodySize: 3, vary: .empty)
        try namespace.set(
          Array("new".utf8), for: "https://example.com/a", .with(metadata: new.encodedMetadata()))
      }
    }
    #expect(try await fixture.get().body == "new")
    #expect(fixture.origin.count == 0)
    #expect(failures.withLock { $0.isEmpty })
  }
}
