import HTTPTypes
import Larder
import TestSupport
import Testing

@testable import LarderHTTP

/// Tests of answers that a server gives without a call of the cache. Each such answer must equal the answer of the cache.
@Suite struct ReadyAnswerTests {
  private static let fresh: Pairs = [("Cache-Control", "max-age=100"), ("ETag", "\"1\"")]

  /// A fixture after two requests: the first stores the response, and the second reads it.
  private func warm(_ fields: Pairs = fresh) async throws -> Fixture {
    let fixture = try await Fixture.filled(.page(fields))
    #expect(fixture.cache.readyAnswer(to: request()) == nil)
    _ = try await fixture.get()
    return fixture
  }

  private func body(_ answer: ReadyAnswer) throws -> String? {
    try answer.withBody { bytes in String(decoding: bytes.indices.map { bytes[$0] }, as: UTF8.self)
    }
  }

  @Test func `it is the answer of the cache, and counts as a hit`() async throws {
    let fixture = try await warm()
    let ready = try #require(fixture.cache.readyAnswer(to: request()))
    fixture.clock.advance(by: .seconds(7))
    let result = try #require(ready.result(to: request()))
    let usual = try await fixture.get().result
    #expect(result.response == usual.response && result.reason == usual.reason)
    #expect(result.remaining == usual.remaining && ready.age == usual.age && ready.age == 7)
    let before = fixture.cache.statistics
    let reads = try fixture.store.statistics().reads.hits
    #expect(try body(ready) == "body")
    #expect(ready.bodySize == 4 && !ready.isVaried)
    #expect(fixture.cache.statistics.hits[.fresh] == (before.hits[.fresh] ?? 0) + 1)
    #expect(fixture.cache.statistics.bytesSaved == before.bytesSaved + 4)
    #expect(try fixture.store.statistics().reads.hits == reads + 1)
  }

  @Test func `it ends with its freshness`() async throws {
    let fixture = try await warm()
    let ready = try #require(fixture.cache.readyAnswer(to: request()))
    fixture.clock.advance(by: .seconds(99))
    #expect(ready.age == 99)
    fixture.clock.advance(by: .seconds(1))
    #expect(ready.age == nil && ready.result(to: request()) == nil)
    fixture.clock.set(to: start.advanced(by: .seconds(-1_000)))
    #expect(ready.age == nil)
  }

  @Test func `it ends with any commit, and its body with its version`() async throws {
    let fixture = try await warm()
    let ready = try #require(fixture.cache.readyAnswer(to: request()))
    try await fixture.store.namespace("other").set("value", for: "key")
    #expect(ready.age == nil)
    // `ready` still has its body, because the entry has not changed.
    #expect(try body(ready) == "body")
    _ = try await fixture.get()
    let next = try #require(fixture.cache.readyAnswer(to: request()))
    try await fixture.cache.removeAll(host: "example.com")
    #expect(next.age == nil)
    #expect(try body(next) == nil)
    let newer = response(200, Self.fresh)
    #expect(try await fixture.cache.put(newer, body: Array("newer".utf8), for: request()))
    #expect(try body(next) == nil)
    _ = try await fixture.get()
    #expect(try body(#require(fixture.cache.readyAnswer(to: request()))) == "newer")
  }

  @Test func `a request that is not plain has none, nor a response to validate`() async throws {
    let fixture = try await warm()
    let fields: Pairs = [
      ("Authorization", "Bearer t"), ("Cache-Control", "no-cache"), ("Pragma", "no-cache"),
      ("Range", "bytes=0-1"), ("If-Range", "\"1\""), ("If-Match", "*"), ("If-None-Match", "\"1\""),
      ("If-Modified-Since", date(0)), ("If-Unmodified-Since", date(0)),
    ]
    for field in fields {
      #expect(fixture.cache.readyAnswer(to: request([field])) == nil, "\(field)")
    }
    #expect(fixture.cache.readyAnswer(to: request("HEAD")) == nil)
    #expect(fixture.cache.readyAnswer(to: request("GET", "/b")) == nil)
    #expect(fixture.cache.readyAnswer(to: request(host: "alice:pw@example.com")) == nil)
    let byUser = fixture.cache.with { $0.principal = { _ in nil } }
    #expect(byUser.readyAnswer(to: request()) == nil)
    let byCookie = fixture.cache.with { $0.partitionFields = [.cookie] }
    #expect(byCookie.readyAnswer(to: request([("Cookie", "a=b")])) == nil)
    #expect(fixture.cache.readyAnswer(to: request([("Cookie", "a=b")])) != nil)
    let validated = try await warm([("Cache-Control", "no-cache"), ("ETag", "\"1\"")])
    #expect(validated.cache.readyAnswer(to: request()) == nil)
  }

  /// A server keeps many answers outside the memory limit of the cache. So an answer must not hold other responses in memory.
  @Test func `it holds no other response of its URI`() async throws {
    let fixture = try await warm(Self.fresh + [("Vary", "Accept-Language")])
    let german = request([("Accept-Language", "de")])
    _ = try await fixture.cache.send(german).body.bytes()
    _ = try await fixture.get()
    let ready = try #require(fixture.cache.readyAnswer(to: request()))
    func others() throws -> [StoredTerms.Known] {
      let key = try #require(ResponseKey(german, policy: fixture.cache.rules.policy))
      let held = try #require(fixture.cache.responses.remembered(under: key))
      #expect(held.count == 2)
      return held.filter { $0.key.contains(" ") }.compactMap(\.response.terms.known)
    }
    weak let first = try others().first
    weak let second = try others().last
    #expect(first != nil && second != nil && first !== second)
    try await fixture.store.namespace("other").set("value", for: "key")
    _ = try await fixture.get()
    #expect([first, second].count { $0 != nil } == 1, "its own alone")
    #expect(ready.age == nil)
  }

  @Test func `Vary makes it an answer to the same fields alone`() async throws {
    let fixture = try await warm(Self.fresh + [("Vary", "Accept-Language")])
    let ready = try #require(fixture.cache.readyAnswer(to: request()))
    #expect(ready.isVaried)
    let german = request([("Accept-Language", "de")])
    #expect(ready.result(to: german) == nil)
    #expect(fixture.cache.readyAnswer(to: german) == nil)
  }
}

/// Hits on responses whose head the cache remembers from an earlier read of the store.
@Suite struct RememberedTests {
  private func isRemembered(_ fixture: Fixture, _ path: String = "/a") throws -> Bool {
    try fixture.cache.responses.remembered(under: #require(ResponseKey(request("GET", path))))
      != nil
  }

  /// A fixture after three requests: one stores the response, one reads the head, and one uses the remembered head.
  private func warm(_ fields: Pairs) async throws -> Fixture {
    let fixture = try await Fixture.filled(.page(fields))
    #expect(try !isRemembered(fixture))
    _ = try await fixture.get()
    #expect(try isRemembered(fixture))
    #expect(try await fixture.get().body == "body")
    #expect(fixture.origin.count == 1 && fixture.cache.statistics.hits[.fresh] == 2)
    return fixture
  }

  @Test func `what another cache stores or removes is seen at once`() async throws {
    let fixture = try await warm([("Cache-Control", "max-age=100")])
    let other = HTTPCache(in: fixture.store.namespace("http"), over: fixture.origin)
    let newer = response(200, [("Cache-Control", "max-age=100")])
    #expect(try await other.put(newer, body: Array("newer".utf8), for: request()))
    #expect(try !isRemembered(fixture))
    for _ in 1...3 { #expect(try await fixture.get().body == "newer") }
    #expect(try isRemembered(fixture))
    try await fixture.store.namespace("http").remove("https://example.com/a")
    #expect(try await fixture.get().result.forwarded == .uriMiss)
    _ = try await fixture.get()
    _ = try fixture.store.namespace("http").clear()
    #expect(try await fixture.get().result.forwarded == .uriMiss)
    #expect(fixture.origin.count == 3)
  }

  @Test func `time passes for what is remembered`() async throws {
    let fixture = try await warm([("Cache-Control", "max-age=100")])
    fixture.clock.advance(by: .seconds(99))
    let last = try await fixture.get().result
    #expect(last.age == 99 && last.remaining == 1 && last.response.headerFields[.age] == "99")
    fixture.clock.advance(by: .seconds(1))
    #expect(try await fixture.get().result.forwarded == .stale)
    // The entry itself also expires, and then the cache must forget the head.
    _ = try await fixture.get()
    fixture.clock.advance(by: .days(400))
    #expect(try !isRemembered(fixture))
    fixture.clock.set(to: start)
    #expect(try !isRemembered(fixture))
  }

  @Test func `each request gets its variant, and conditions and ranges are heeded`() async throws {
    let fixture = try Fixture(.varying(by: "Accept-Language"))
    for _ in 1...3 {
      for language in ["de", "en"] {
        #expect(try await fixture.get("/a", [("Accept-Language", language)]).body == language)
      }
    }
    #expect(try isRemembered(fixture))
    let known = try await fixture.get(
      "/a", [("Accept-Language", "de"), ("If-None-Match", "\"de\"")])
    #expect(known.result.response.status.code == 304 && known.body == "")
    let part = try await fixture.get("/a", [("Accept-Language", "en"), ("Range", "bytes=1-")])
    #expect(part.result.response.status.code == 206 && part.body == "n")
    #expect(try await fixture.get("/a", [("Cache-Control", "no-cache")]).result.forwarded != nil)
    #expect(fixture.origin.count == 3)
  }
}
