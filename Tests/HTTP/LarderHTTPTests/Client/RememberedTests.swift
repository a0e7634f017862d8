import HTTPTypes
import Larder
import TestSupport
import Testing

@testable import LarderHTTP

/// Hits on responses whose head the cache remembers from an earlier read of the store.
@Suite struct RememberedTests {
  private func isRemembered(_ fixture: Fixture, _ path: String = "/a") throws -> Bool {
    try fixture.cache.responses.remembered(under: #require(ResponseKey(request("GET", path))))
      != nil
  }

  /// A fixture after three requests: one stores the response, one reads the head, and one uses the remembered head.
  private func warm(_ fields: Pairs) async throws -> Fixture {
    let fixture = try Fixture(.page(fields))
    _ = try await fixture.get()
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
