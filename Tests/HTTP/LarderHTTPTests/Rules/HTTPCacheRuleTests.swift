import HTTPTypes
import Larder
import Testing

@testable import LarderHTTP

/// Tests of an application's rules for some URIs, not of the rules of RFC 9111.
struct HTTPCacheRuleTests {
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
  ]) func `a star is any bytes`(pattern: String, text: String, matches: Bool) {
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

  @Test func `a rule for the path / also applies to an empty path`() {
    let harness = Self.harness(HTTPCacheRule("example.com/", freshness: .seconds(50)))
    harness.prime([], request: request("GET", ""))
    #expect(harness.isHit(request("GET", "/")))
  }

  @Test func `a rule gives freshness to services without fields, until they state one`() {
    let harness = Self.harness(HTTPCacheRule("*", defaultFreshness: .seconds(50)))
    harness.prime([])
    #expect(harness.isFresh(for: 50))
    harness.prime("max-age=5", request: request("GET", "/b"))
    harness.wait(6)
    #expect(!harness.isHit(request("GET", "/b")), "a stated freshness stays")
    harness.prime([], status: 500, request: request("GET", "/c"))
    #expect(!harness.isHit(request("GET", "/c")))
    harness.prime([("ETag", "\"1\"")])
    harness.wait(51)
    _ = harness.ask { _ in (response(304, [("ETag", "\"1\""), ("Cache-Control", "max-age=5")]), "")
    }
    #expect(harness.isFresh(for: 5))
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
    for path in ["/a", "/b"] { harness.prime("max-age=5", request: request("GET", path)) }
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
}
