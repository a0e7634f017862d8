import Larder
import TestSupport
import Testing

@testable import LarderHTTP

/// No-Vary-Search (draft-ietf-httpbis-no-vary-search-05).
struct SearchVarianceTests {
  private func areEquivalent(_ field: String, _ one: String, _ other: String) -> Bool {
    guard let variance = SearchVariance(field) else { return one == other }
    return variance.significant(one) == variance.significant(other)
  }

  @Test(arguments: [
    "", "unknown-key", "key-order=\"not a boolean\"", "params=\"not a list\"", "params=(a)",
    "params=(\"a\"), except=(\"x\")", "params=(), except=()", "params=?0, except=(\"x\")",
    "params, except=(x)", "params, except=\"x\"", "params, except=?1", "except=(\"x\")",
    "except=()", "params=?0", "params=()", "key-order=?0", "params=(\"a\"", "params=(\"a\"),",
    "params=(1)", "key-order=1", "Params",
  ]) func `4.1: a field that is not understood leaves every byte of the query`(field: String) {
    #expect(SearchVariance(field) == nil)
  }

  @Test(arguments: [
    ("key-order", "?a=1&b=2", "?b=2&a=1", true), ("key-order", "?a=1&a=2", "?a=2&a=1", false),
    ("key-order=?1;x=2, other=7", "?b&a&c", "?c&a&b", true), ("params", "?a=1", "", true),
    ("params=?1", "?a=1&b=2", "?c", true), ("params=(\"a\" \"b\")", "?a=1&c=2&b", "?c=2", true),
    ("params=(\"a\")", "?a=1&c=2", "?c=3", false), ("params=(\"a\")", "?b=1&c", "?c&b=1", false),
    ("params=(\"a\"), key-order", "?a=1&b=1&c", "?c&b=1", true),
    ("params, except=(\"x\")", "?a=1&x=2&b", "?x=2", true),
    ("params, except=(\"x\")", "?x=2", "?x=3", false), ("params, except=()", "?x=2", "", true),
    ("params, except=(\"x\" \"y\")", "?x=1&y=2", "?y=2&x=1", false),
    ("params=(\"A\")", "?a=1", "", false),
  ]) func `6: which queries are equivalent`(_ test: (String, String, String, Bool)) {
    let uri = "https://example.com/a"
    #expect(areEquivalent(test.0, uri + test.1, uri + test.2) == test.3)
    #expect(!areEquivalent(test.0, uri + test.1, "https://example.com/b" + test.2))
  }

  @Test(arguments: [
    ("", "?"), ("?a=x", "?%61=%78"), ("?a=%f6", "?a=%ef%bf%bd"), ("?a=x&&&&", "?a=x"),
    ("?a=", "?a"), ("?a=%20", "?a=+"), ("?a=%zz%4", "?a=%zz%4"), ("?a==b", "?a=%3db"),
    ("?%C3%A9+x=1", "?%c3%a9%20x=1"),
  ]) func `6.1: queries are compared as forms`(_ queries: (String, String)) {
    let uri = "https://example.com/"
    #expect(areEquivalent("key-order", uri + queries.0, uri + queries.1))
  }

  @Test func `names are decoded, and compared byte for byte`() {
    let uri = "https://example.com/"
    #expect(areEquivalent("params=(\"%C3%A9+%E6%B0%97\")", uri + "?%C3%A9%20%E6%B0%97=1", uri))
    // The two names have the same letter in different bytes, so they are different names.
    #expect(!areEquivalent("params=(\"%C3%A9\")", uri + "?e%CC%81=1", uri))
    #expect(!areEquivalent("key-order", uri + "?%C3%A9=1", uri + "?e%CC%81=1"))
    // A line feed or a space in a value must not look like the beginning of another parameter.
    #expect(!areEquivalent("key-order", uri + "?a=1%0A1+1+b2", uri + "?a=1&b=2"))
  }

  @Test func `hostile fields and queries end soon`() {
    let names = (0..<100_000).map { "\"\($0)\"" }.joined(separator: " ")
    #expect(SearchVariance("params=(\(names))") == nil)
    #expect(SearchVariance("params=(" + String(repeating: "\"a\" ", count: 65) + ")") == nil)
    #expect(SearchVariance("params=(" + String(repeating: "(", count: 1_000)) == nil)
    let query = "?" + (0..<50_000).map { "\($0)=%" }.joined(separator: "&")
    #expect(areEquivalent("key-order", "https://e/" + query, "https://e/" + query))
    var random = SeededRNG()
    for _ in 0..<2_000 {
      let field = String(
        decoding: (0..<random.next(in: 0..<40)).map { _ in
          Array("params=(\"a\" b), except=?1key-order;*\\".utf8).randomElement(using: &random)!
        }, as: UTF8.self)
      let uri = "https://e/" + field
      let isSame = SearchVariance(field).map { $0.significant(uri) == $0.significant(uri) }
      #expect(isSame != false, "LARDER_SEED=\(random.seed)")
    }
  }

  private func fixture(
    _ field: String, kind: HTTPCachePolicy.Kind = .private, _ more: Pairs = []
  ) throws -> Fixture {
    try Fixture(
      .echo([("Cache-Control", "max-age=10"), ("No-Vary-Search", field)] + more),
      policy: HTTPCachePolicy(kind: kind))
  }

  @Test(arguments: [HTTPCachePolicy.Kind.private, .shared])
  func `7: a stored response answers an equivalent query`(kind: HTTPCachePolicy.Kind) async throws {
    let fixture = try fixture("params=(\"utm\"), key-order", kind: kind)
    #expect(try await fixture.get("/a?x=1&utm=1").body == "/a?x=1&utm=1 1")
    for path in ["/a?x=1", "/a?utm=2&x=1", "/a?x=1&utm=1"] {
      let (result, body) = try await fixture.get(path)
      #expect(result.isHit && body == "/a?x=1&utm=1 1", "\(path)")
    }
    #expect(try await fixture.get("/a?x=2").body == "/a?x=2 2")
    #expect(try await fixture.get("/b?x=1").body == "/b?x=1 3")
    #expect(try await fixture.get("/a").body == "/a 4")
    #expect(try await fixture.get("/a?utm=9").result.isHit)
    // A newer response replaces the stored response. After that, the replaced response answers no request.
    #expect(try await fixture.get("/a?x=1", [("Cache-Control", "no-cache")]).body == "/a?x=1 5")
    #expect(try await fixture.get("/a?x=1&utm=3").body == "/a?x=1 5")
    let only = try await fixture.get("/a?x=1&utm=4", [("Cache-Control", "only-if-cached")])
    #expect(only.result.isHit && only.body == "/a?x=1 5")
    fixture.clock.advance(by: .seconds(11))
    #expect(try await fixture.get("/a?x=1&utm=3").body == "/a?x=1&utm=3 6")
  }

  @Test func `7: Vary, users and hosts separate responses all the same`() async throws {
    let fixture = try fixture("params", [("Vary", "Foo")])
    _ = try await fixture.get("/a?1", [("Foo", "1"), ("Authorization", "1")])
    #expect(try await fixture.get("/a?3", [("Foo", "1"), ("Authorization", "1")]).result.isHit)
    for fields: Pairs in [
      [("Foo", "2"), ("Authorization", "1")], [("Foo", "1"), ("Authorization", "2")],
      [("Foo", "1")],
    ] { #expect(try await !fixture.get("/a?2", fields).result.isHit) }
    for (host, scheme) in [("example.org", "https"), ("example.com", "http")] {
      let asked = request("GET", "/a?1", [("Foo", "1")], host: host, scheme: scheme)
      #expect(try await !fixture.cache.send(asked).isHit)
    }
    #expect(try await !fixture.cache.send(request("POST", "/a?9")).isHit)
  }

  @Test func `a removal of a URI ends what answered it, and one of a host all`() async throws {
    let fixture = try fixture("params")
    let entries = fixture.store.namespace("http")
    _ = try await fixture.get("/a?1")
    #expect(try await fixture.get("/a?2").result.isHit)
    #expect(try await fixture.cache.removeAll(for: request("GET", "/a?2")).entries == 1)
    #expect(try await fixture.get("/a?2").body == "/a?2 2")
    _ = try await fixture.cache.send(request("POST", "/a?3"))
    #expect(try await fixture.get("/a?2").body == "/a?2 4")
    try await fixture.cache.removeAll(host: "example.com")
    #expect(try await fixture.get("/a?1").body == "/a?1 5")
    #expect(try entries.count() == 3, "the response, the field and the query")
    try await fixture.cache.removeAll(host: "example.com")
    #expect(try entries.count() == 1)
    fixture.clock.advance(by: .days(40))
    try entries.purge()
    #expect(try entries.count() == 0)
  }

  @Test func `forged notes lead to no other path, and damaged ones to a request`() async throws {
    let fixture = try fixture("params")
    let entries = fixture.store.namespace("http")
    _ = try await fixture.get("/a?1")
    _ = try await fixture.get("/b?1")
    let notes = try entries.page(limit: 100, prefix: "search ").items.filter {
      $0.metadata == Array("https://example.com/a?1".utf8)
    }
    let note = try #require(notes.first)
    for text in ["https://example.com/b?1", "https://example.org/a?1", "", "\u{FFFD}", "a#b c"] {
      try await entries.set([], for: note.key, .with(expires: .never, metadata: Array(text.utf8)))
      #expect(try await fixture.get("/a?2", [("Cache-Control", "no-store")]).body.hasPrefix("/a?2"))
      let found = try fixture.cache.responses.equivalents(
        of: #require(ResponseKey(request("GET", "/a?2"))), policy: HTTPCachePolicy())
      #expect(found == nil)
    }
    try await entries.set([1, 2], for: note.key)
    #expect(try await fixture.get("/a?2").body.hasPrefix("/a?2"))
    #expect(try await fixture.get("/a?3").result.isHit)
  }

  @Test func `a long body of another query is read, and a lost one loaded anew`() async throws {
    let body = [UInt8](repeating: 7, count: 700_000)
    let fixture = try Fixture(
      .giving([("Cache-Control", "max-age=10"), ("No-Vary-Search", "params")]) { HTTPBody(body) })
    _ = try await fixture.get("/a?1")
    let hit = try await fixture.cache.send(request("GET", "/a?2"))
    #expect(try await hit.body.bytes() == body && hit.isHit)
    let entries = fixture.store.namespace("http")
    for entry in try entries.page(limit: 100, prefix: "body ").items {
      try await entries.remove(entry.key)
    }
    #expect(try await fixture.cache.send(request("GET", "/a?2")).body.bytes() == body)
    #expect(fixture.origin.count == 2)
  }
}
