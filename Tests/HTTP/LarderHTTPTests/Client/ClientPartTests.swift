import HTTPTypes
import Larder
import Synchronization
import TestSupport
import Testing

@testable import LarderHTTP

/// Tests of those parts of a cache that keep a state. Each test uses one part without the rest of the cache.
struct ClientPartTests {
  @Test func `a body that is not collected leaves the budget as it was`() async throws {
    let budget = BufferBudget(10)
    #expect(try await budget.collect(HTTPBody([1, 2, 3]), upTo: 3) == [1, 2, 3])
    #expect(budget.reserved == 3)
    #expect(try await budget.collect(HTTPBody([1, 2, 3]), upTo: 2) == nil)
    #expect(try await budget.collect(HTTPBody([UInt8](repeating: 0, count: 8)), upTo: 9) == nil)
    let broken = HTTPBody.steps([{ [1, 2] }, { [3] }, { throw Origin.Down() }])
    await #expect(throws: Origin.Down.self) { try await budget.collect(broken, upTo: 9) }
    #expect(budget.reserved == 3)
  }

  @Test func `a flight that is complete does not end the next one of its name`() async throws {
    let flights = SingleFlight<String>()
    #expect(flights.join("a", for: Flight.Outcome.self) == nil)
    let first = Flight("a", in: flights)
    let waiting = try #require(flights.join("a", for: Flight.Outcome.self))
    first.complete(.ownOnly)
    guard case .ownOnly = try await waiting.outcome() else {
      return #expect(Bool(false), "another outcome than the first")
    }
    #expect(flights.join("a", for: Flight.Outcome.self) == nil && flights.count == 1)
    first.complete(.arrived)
    #expect(flights.count == 1)
    Flight("a", in: flights).complete(.arrived)
    #expect(flights.count == 0)
  }

  @Test func `requests that may select different responses have different flights`() throws {
    func name(_ request: HTTPRequest, _ policy: HTTPCachePolicy = HTTPCachePolicy()) -> String? {
      let forward = CacheForward(request, because: .uriMiss, stored: [])
      return Flight.name(of: forward, under: ResponseKey(request), policy: policy)
    }
    let plain = try #require(name(request()))
    #expect(name(request([("X-Trace", "1")])) == plain)
    let others = [
      request("GET", "/b"), request("HEAD"), request([("Range", "bytes=1-")]),
      request([("Accept-Language", "de")]), request([("Authorization", "Bearer x")]),
    ].compactMap { name($0) }
    #expect(Set(others + [plain]).count == 6)
    #expect(name(request("POST")) == nil)
    #expect(name(request(), HTTPCachePolicy(timeout: .zero)) != plain)
    #expect(name(request(), HTTPCachePolicy(longestWait: .seconds(1))) != plain)
  }

  @Test func `what is remembered ends with a commit, and with its time`() {
    let known = RememberedResponses()
    let head = StoredResponse(
      response: response(), requested: start, received: start, bodySize: 0, vary: .empty)
    let stored = StoredVariant(
      key: "a", version: 1, response: head, tags: [], written: start,
      expires: start.advanced(by: .seconds(5)))
    known.keep([stored], of: "a", transaction: 7, size: 100)
    #expect(known.variants(of: "a", transaction: 7, at: start)?.count == 1)
    #expect(known.variants(of: "a", transaction: 8, at: start) == nil)
    #expect(known.variants(of: "a", transaction: 7, at: start.advanced(by: .seconds(5))) == nil)
    #expect(known.variants(of: "b", transaction: 7, at: start) == nil)
    known.keep([stored], of: "b", transaction: 7, size: 1 << 20)
    #expect(known.variants(of: "b", transaction: 7, at: start) == nil)
    for number in 1...20 { known.keep([stored], of: "\(number)", transaction: 7, size: 1 << 16) }
    #expect(known.variants(of: "a", transaction: 7, at: start) == nil)
    #expect(known.variants(of: "20", transaction: 7, at: start)?.count == 1)
  }
}

struct StatisticsTests {
  @Test func `saved counts are the sum of all caches, and nothing counts twice`() async throws {
    let fixture = try Fixture(.page("max-age=10", [("ETag", "\"1\"")]))
    for _ in 0..<3 { _ = try await fixture.get() }
    #expect(try fixture.cache.savedStatistics() == HTTPStatistics())
    #expect(HTTPStatistics().hitRate == nil && fixture.cache.statistics.hitRate == 2 / 3)
    try await fixture.cache.saveStatistics()
    try await fixture.cache.saveStatistics()
    let other = HTTPCache(in: fixture.store.namespace("http"), over: fixture.origin)
    _ = try await other.send(request()).body.bytes()
    fixture.clock.advance(by: .seconds(11))
    _ = try await other.send(request()).body.bytes()
    fixture.origin.become { _, _ in throw Origin.Down() }
    await #expect(throws: Origin.Down.self) { try await other.send(request("GET", "/b")) }
    try await other.saveStatistics()
    let saved = try fixture.cache.savedStatistics()
    #expect(saved.hits == [.fresh: 3] && saved.forwards == [.uriMiss: 1, .stale: 1])
    #expect(saved.reuses == [.validated: 1] && saved.bytesSaved == 4 * 4)
    #expect(saved.failures == 1 && saved.requests == 5)
    #expect(fixture.cache.statistics.hits == [.fresh: 2])
    #expect(try fixture.store.namespace("http").count() == 1)
  }

  @Test func `counts that could not be saved are saved the next time`() async throws {
    let fixture = try await Fixture.filled(.page("max-age=10"))
    try fixture.store.declare(Rules(limits: Limits(entries: 0)), for: HTTPCache.statisticsNamespace)
    await #expect(throws: LarderError.self) { try await fixture.cache.saveStatistics() }
    try fixture.store.declare(Rules(), for: HTTPCache.statisticsNamespace)
    try await fixture.cache.saveStatistics()
    #expect(try fixture.cache.savedStatistics().forwards == [.uriMiss: 1])
    let counts = fixture.store.namespace(HTTPCache.statisticsNamespace)
    #expect(try counts.entry(for: "http")?.isPinned == true, "no eviction loses the counts")
  }

  @Test(arguments: [
    "", "hit", "hit fresh", "hit fresh x", "hit fresh -1", "hit other 1", "\u{0} 1",
  ]) func `lines that are no counts are left out`(line: String) {
    let text = Array("\(line)\nbytes-saved 7\n".utf8)
    #expect(HTTPStatistics(text: text) == with(HTTPStatistics()) { $0.bytesSaved = 7 })
  }
}

struct ExtremeTests {
  @Test(arguments: [Int64.min, .min + 86_400, -1, 0, .max - 86_400, .max])
  func `a date of any number has a text`(seconds: Int64) {
    #expect(HTTPDate(seconds: seconds).text.hasSuffix(" GMT"))
    _ = HTTPDate(seconds: seconds).timestamp
    _ = HTTPDate(leniently: "Mon, 01 Jan 24 00:00:00 GMT", now: Timestamp(milliseconds: seconds))
  }

  @Test(arguments: [
    Duration.zero, .seconds(Int64.min), .seconds(Int64.max), .seconds(1e20), .seconds(-1e20),
  ]) func `a policy may have any duration`(duration: Duration) async throws {
    let policy = HTTPCachePolicy(
      retention: duration, whenDisconnected: duration, longestHeuristic: duration,
      timeout: max(duration, .seconds(15)), largestVariantCount: duration > .zero ? .max : .min,
      rules: [
        HTTPCacheRule("*/ruled", freshness: duration),
        HTTPCacheRule("*", defaultFreshness: duration),
      ])
    let fields: Pairs = [("Last-Modified", date(-1_000_000)), ("ETag", "\"1\"")]
    let fixture = try Fixture(.page(fields), policy: policy)
    for path in ["/a", "/ruled", "/a", "/ruled"] {
      #expect(try await fixture.get(path).body == "body")
      fixture.clock.advance(by: .seconds(1_000))
      _ = try fixture.cache.peek(request("GET", path))
    }
    fixture.origin.become { _, _ in throw Origin.Down() }
    _ = try? await fixture.get("/a")
  }

  @Test func `saved counts of any size add up without a trap`() async throws {
    let fixture = try Fixture(.page("max-age=10"))
    let text = "hit fresh \(Int.max)\nforward stale \(Int.max)\nbytes-saved \(Int.max)\n"
    try await fixture.store.namespace(HTTPCache.statisticsNamespace).set(text, for: "http")
    for _ in 0..<2 {
      _ = try await fixture.get()
      try await fixture.cache.saveStatistics()
    }
    let saved = try fixture.cache.savedStatistics()
    #expect(saved.requests == .max && saved.hits[.fresh] == .max && saved.bytesSaved == .max)
  }

  @Test func `a reader that is cancelled does not wait for the origin`() async throws {
    let gate = Gate()
    let fixture = try Fixture(
      .giving(LongBodyTests.fresh) {
        .steps([{ [UInt8](repeating: 1, count: 1000) }, { await gate.wait(for: [2]) }])
      })
    let result = try await fixture.cache.send(request())
    let pieces = Mutex(0)
    let isOver = Mutex(false)
    let reader = Task {
      defer { isOver.withLock { $0 = true } }
      for try await _ in result.body { pieces.withLock { $0 += 1 } }
    }
    try await waitUntil { pieces.withLock { $0 } == 1 }
    reader.cancel()
    try await waitUntil { isOver.withLock { $0 } }
    await #expect(throws: CancellationError.self) { try await reader.value }
    // The cancelled reader does not stop the body: the cache still reads and stores the whole body.
    await gate.open()
    try await waitUntil { try fixture.cache.peek(request()) != nil }
  }

  @Test func `a thousand directives are read in a moment`() {
    let names = (0..<4000).map { "no-cache=\"x-field-number-\($0)\"" }
    let fields = HTTPFields([("Cache-Control", names.joined(separator: ","))])
    let time = processorTime {
      #expect(ResponseDirectives(fields, for: .private).unusableFields.count == 4000)
    }
    #expect(time < .seconds(2))
  }
}
