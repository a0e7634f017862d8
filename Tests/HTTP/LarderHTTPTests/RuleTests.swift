import HTTPTypes
import Larder
import TestSupport
import Testing

@testable import LarderHTTP

/// Tests of an application's rules for some URIs, and of stored responses that the application writes, reads and lists.
struct RuleTests {
  private static func harness(_ rules: HTTPCacheRule...) -> HTTPHarness {
    let harness = HTTPHarness()
    harness.rules.policy.rules = rules
    return harness
  }

  @Test(arguments: [
    ("*", "example.com/a", true), ("example.com/*", "example.com/a?b", true),
    ("example.com/a", "example.com/ab", false), ("*/a/*/c", "example.com/a/b/c", true),
    ("*/a/*/c", "example.com/a/c", false), ("**a**", "a", true), ("", "", true), ("", "a", false),
    ("*.png", "x/a.png.png", true), ("*.png", "x/a.pngx", false), ("a*b*c", "abbbbc", true),
  ])
  func `a star is any bytes`(pattern: String, text: String, matches: Bool) {
    #expect(HTTPCacheRule(pattern).matches(text) == matches)
  }

  @Test func `a pattern of many stars takes no longer than its length by that of the text`() {
    let pattern = String(repeating: "a*", count: 500) + "b"
    #expect(!HTTPCacheRule(pattern).matches(String(repeating: "a", count: 20_000)))
  }

  @Test func `a rule replaces the stated freshness`() {
    let harness = Self.harness(HTTPCacheRule("example.com/a*", freshness: .seconds(50)))
    harness.prime("max-age=5")
    #expect(harness.isFresh(for: 50))
  }

  @Test func `a rule gives freshness to services without fields`() {
    let harness = Self.harness(HTTPCacheRule("*", defaultFreshness: .seconds(50)))
    harness.prime([])
    #expect(harness.isFresh(for: 50))
    harness.prime("max-age=5", request: request("GET", "/b"))
    harness.wait(6)
    #expect(!harness.isHit(request("GET", "/b")), "a stated freshness stays")
    harness.prime([], status: 500, request: request("GET", "/c"))
    #expect(!harness.isHit(request("GET", "/c")))
  }

  @Test(arguments: ["no-store", "no-cache"])
  func `no rule overrides a prohibition`(directive: String) {
    let harness = Self.harness(HTTPCacheRule("*", freshness: .seconds(50)))
    harness.prime(directive, [("ETag", "\"1\"")])
    #expect(!harness.isHit())
  }

  @Test func `a rule says which statuses and types are stored`() {
    let harness = Self.harness(
      HTTPCacheRule("*", statuses: [200], contentTypes: ["image/*", "text/css"]))
    let fresh = ("Cache-Control", "max-age=100")
    for (type, isStored) in [
      ("image/png", true), ("text/css; charset=utf-8", true), ("TEXT/CSS", true),
      ("text/html", false), ("imagex/png", false),
    ] {
      harness.held = [:]
      harness.prime([fresh, ("Content-Type", type)])
      #expect(harness.isHit() == isStored, "\(type)")
    }
    harness.held = [:]
    harness.prime([fresh, ("Content-Type", "image/png")], status: 404)
    #expect(!harness.isHit())
    harness.prime([fresh])
    #expect(!harness.isHit(), "a response without a type has none of the types")
  }

  @Test func `the first rule that matches applies`() {
    let harness = Self.harness(
      HTTPCacheRule("*/a", freshness: .seconds(1)), HTTPCacheRule("*", freshness: .seconds(50)))
    for path in ["/a", "/b"] {
      harness.prime("max-age=5", request: request("GET", path))
    }
    harness.wait(2)
    #expect(!harness.isHit() && harness.isHit(request("GET", "/b")))
  }

  @Test func `keys leave out parameters and their order where a rule says so`() throws {
    let policy = HTTPCachePolicy(rules: [
      HTTPCacheRule("example.com/a*", ignoredParameters: ["utm"], ignoresParameterOrder: true)
    ])
    func uri(_ path: String) throws -> String {
      try #require(ResponseKey(request("GET", path), policy: policy)).uri
    }
    #expect(try uri("/a?b=1&utm=x&a=2") == "https://example.com/a?a=2&b=1")
    #expect(try uri("/a?utm=x") == "https://example.com/a")
    #expect(
      try uri("/a?a=2&a=1") == "https://example.com/a?a=2&a=1", "equal names keep their order")
    #expect(try uri("/b?b=1&utm=x&a=2") == "https://example.com/b?b=1&utm=x&a=2")
    #expect(try uri("/a?key=secret&a=1").contains("secret") == false)
  }

  @Test func `requests that differ in ignored parameters share a response`() async throws {
    let rule = HTTPCacheRule("*", defaultFreshness: .seconds(10), ignoredParameters: ["utm"])
    let fixture = try Fixture(.page([]), policy: HTTPCachePolicy(rules: [rule]))
    _ = try await fixture.get("/a?x=1&utm=one")
    #expect(try await fixture.get("/a?utm=two&x=1").result.isHit)
    #expect(fixture.origin.received.map(\.path) == ["/a?x=1&utm=one"])
    fixture.clock.advance(by: .seconds(10))
    #expect(try await !fixture.get("/a?x=1").result.isHit)
  }

  @Test func `a response is put and looked at by its request`() async throws {
    let fixture = try Fixture(Origin())
    #expect(try fixture.cache.peek(request()) == nil)
    let fields: Pairs = [("Cache-Control", "max-age=10"), ("ETag", "\"1\"")]
    #expect(
      try await fixture.cache.put(response(200, fields), body: Array("put".utf8), for: request()))
    let found = try #require(try fixture.cache.peek(request()))
    #expect(try await found.body.bytes() == Array("put".utf8) && found.remaining == 10)
    #expect(try await fixture.get().body == "put" && fixture.origin.count == 0)
    fixture.clock.advance(by: .seconds(20))
    #expect(try fixture.cache.peek(request())?.remaining == -10)
    let part = try fixture.cache.peek(request([("Range", "bytes=1-")]))
    #expect(try await part?.body.bytes() == Array("ut".utf8))
    #expect(
      try await fixture.cache.put(
        response(200, [("Cache-Control", "no-store")]), body: [], for: request("GET", "/b"))
        == false)
    #expect(
      try await fixture.cache.put(
        response(200, fields), body: [], for: request("POST", "/b")) == false)
  }

  @Test func `the statistics count hits by kind, and what they save`() async throws {
    let fixture = try Fixture(.page("max-age=10", [("ETag", "\"1\"")]))
    for _ in 0..<3 { _ = try await fixture.get() }
    fixture.clock.advance(by: .seconds(10))
    _ = try await fixture.get()
    fixture.origin.become { _, _ in throw Origin.Down() }
    await #expect(throws: Origin.Down.self) { _ = try await fixture.get("/b") }
    let counts = fixture.cache.statistics
    #expect(counts.hits == [.fresh: 2] && counts.forwards == [.uriMiss: 1, .stale: 1])
    #expect(counts.reuses == [.validated: 1] && counts.failures == 1 && counts.bytesSaved == 12)
    #expect(counts.requests == 4)
  }

  @Test func `responses are removed by a predicate, such as their date`() async throws {
    let fixture = try Fixture(.page("max-age=1000"))
    for number in 0..<150 { _ = try await fixture.get("/old/\(number)") }
    fixture.clock.advance(by: .seconds(100))
    _ = try await fixture.get("/new")
    try await fixture.store.namespace("http").set("no response", for: "other")
    let limit = start.advanced(by: .seconds(50))
    let removed = try await fixture.cache.removeAll { key, response in
      response.received < limit && key.contains("/old/")
    }
    #expect(removed.entries == 150)
    #expect(try fixture.store.namespace("http").count() == 2)
    #expect(try await fixture.get("/new").result.isHit)
  }

  @Test func `a call may have a policy of its own`() async throws {
    let fixture = try Fixture(.page([]))
    let patient = fixture.cache.with {
      $0 = HTTPCachePolicy(rules: [HTTPCacheRule("*", defaultFreshness: .seconds(10))])
    }
    _ = try await patient.send(request()).body.bytes()
    #expect(try await fixture.get().result.isHit, "both have the same responses")
    #expect(fixture.cache.statistics == patient.statistics)
    let alice: Pairs = [("Authorization", "alice")]
    _ = try await patient.send(request("GET", "/b", alice)).body.bytes()
    #expect(try await fixture.get("/b", alice).result.isHit, "credentials have the same digests")
  }
}

/// The counts that caches save in their store.
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
    try await other.saveStatistics()
    let saved = try fixture.cache.savedStatistics()
    #expect(saved.hits == [.fresh: 3] && saved.forwards == [.uriMiss: 1, .stale: 1])
    #expect(saved.reuses == [.validated: 1] && saved.bytesSaved == 4 * 4)
    #expect(fixture.cache.statistics.hits == [.fresh: 2])
    #expect(try fixture.store.namespace("http").count() == 1)
  }

  @Test func `counts that could not be saved are saved the next time`() async throws {
    let fixture = try Fixture(.page("max-age=10"))
    _ = try await fixture.get()
    try fixture.store.declare(Rules(limits: Limits(entries: 0)), for: HTTPCache.statisticsNamespace)
    await #expect(throws: LarderError.self) { try await fixture.cache.saveStatistics() }
    try fixture.store.declare(Rules(), for: HTTPCache.statisticsNamespace)
    try await fixture.cache.saveStatistics()
    #expect(try fixture.cache.savedStatistics().forwards == [.uriMiss: 1])
  }

  @Test(arguments: [
    "", "hit", "hit fresh", "hit fresh x", "hit fresh -1", "hit other 1", "\u{0} 1",
  ])
  func `lines that are no counts are left out`(line: String) {
    let text = Array("\(line)\nbytes-saved 7\n".utf8)
    var expected = HTTPStatistics()
    expected.bytesSaved = 7
    #expect(HTTPStatistics(text: text) == expected)
  }
}
