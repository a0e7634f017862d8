import HTTPTypes
import Larder
import TestSupport
import Testing

@testable import LarderHTTP

struct BodyMethodTests {
  private static var policy: HTTPCachePolicy {
    HTTPCachePolicy(rules: [HTTPCacheRule("example.com/query*", bodyMethods: [.post, .query])])
  }

  private struct Bench {
    let echo: Echo
    let fixture: Fixture
    var cache: HTTPCache { fixture.cache }

    init(_ fields: Pairs = [("Cache-Control", "max-age=100")]) throws {
      echo = Echo(fields)
      fixture = try Fixture(over: echo, policy: policy)
    }

    func ask(
      _ body: String, _ method: String = "POST", _ path: String = "/query", _ fields: Pairs = [],
      streamed: Bool = false
    ) async throws -> (isHit: Bool, body: String) {
      let bytes = Array(body.utf8)
      let result = try await cache.send(
        request(method, path, fields),
        body: streamed ? LongBodyTests.pieces(bytes, of: 1000) : HTTPBody(bytes))
      return (result.isHit, try await result.body.text())
    }
  }

  private let bench: Bench
  init() throws { bench = try Bench() }

  @Test(arguments: ["POST", "QUERY"])
  func `a request with the same body gets the stored response`(method: String) async throws {
    #expect(try await bench.ask("{a}", method) == (false, "1 {a}"))
    #expect(try await bench.ask("{a}", method) == (true, "1 {a}"))
    #expect(try await bench.ask("{a}", method, streamed: true) == (true, "1 {a}"))
    #expect(try await bench.ask("{b}", method) == (false, "2 {b}"))
    #expect(try await bench.ask("", method) == (false, "3 "))
    #expect(try await bench.ask("{a}", method) == (true, "1 {a}"))
  }

  @Test func `the method, the type and the coding tell bodies apart`() async throws {
    let variants: [(String, Pairs)] = [
      ("POST", []), ("QUERY", []), ("POST", [("Content-Type", "text/plain")]),
      ("POST", [("Content-Encoding", "text/plain")]),
      ("POST", [("Content-Type", "a"), ("Content-Type", "b")]),
      ("POST", [("Content-Type", "a, b")]),
    ]
    for isHit in [false, true] {
      for (number, variant) in variants.enumerated() {
        let answer = try await bench.ask("x", variant.0, "/query", variant.1)
        #expect(answer == (isHit, "\(number + 1) x"))
      }
    }
  }

  @Test func `only a rule stores by body, removes nothing, and gives it to no GET`() async throws {
    _ = try await bench.ask("x")
    #expect(try await bench.ask("", "GET") == (false, "2 "))
    #expect(try await !bench.ask("y").isHit)
    #expect(try await bench.ask("", "GET") == (true, "2 "))
    for _ in 0..<2 {
      #expect(try await !bench.ask("x", "PUT").isHit)
      #expect(try await !bench.ask("x", "POST", "/other").isHit)
    }
    #expect(try await !bench.ask("", "GET").isHit, "the PUT has invalidated the URI")
    #expect(try await !bench.ask("x").isHit, "and its responses to bodies")
  }

  @Test func `a long body passes through whole and is not stored`() async throws {
    let long = String(repeating: "x", count: HTTPCache.largestKeyedBody + 1)
    for streamed in [true, false, true] {
      #expect(try await !bench.ask(long, streamed: streamed).isHit)
    }
    for method in ["GET", "POST"] {
      let asked = request(method, "/query", [("Cache-Control", "only-if-cached")])
      #expect(try await bench.cache.send(asked, body: HTTPBody(long)).reason == .onlyIfCached)
    }
    #expect(bench.echo.bodies == [long, long, long])
    #expect(try bench.fixture.store.namespace("http").count() == 0)
    let longest = String(long.dropLast())
    _ = try await bench.ask(longest, streamed: true)
    #expect(try await bench.ask(longest).isHit)
  }

  @Test(
    arguments: [
      [("Last-Modified", "Thu, 01 Jan 2015 00:00:00 GMT")], [("Cache-Control", "public")],
      [("Cache-Control", "no-store, max-age=9")],
      [("Cache-Control", "max-age=0"), ("ETag", "\"1\"")],
    ] as [Pairs])
  func `without a freshness nothing is answered from the store`(fields: Pairs) async throws {
    let bench = try Bench(fields)
    for _ in 0..<2 { #expect(try await !bench.ask("x").isHit) }
    #expect(bench.echo.bodies == ["x", "x"])
  }

  @Test func `a stale response is replaced without a validation`() async throws {
    let bench = try Bench([("Cache-Control", "max-age=10"), ("ETag", "\"1\"")])
    _ = try await bench.ask("x")
    bench.fixture.clock.advance(by: .seconds(11))
    #expect(try await bench.ask("x") == (false, "2 x"))
    #expect(try await bench.ask("x") == (true, "2 x"))
  }

  @Test func `a background refresh sends the body again`() async throws {
    let bench = try Bench([("Cache-Control", "max-age=10, stale-while-revalidate=100")])
    _ = try await bench.ask("x")
    bench.fixture.clock.advance(by: .seconds(11))
    #expect(try await bench.ask("x") == (true, "1 x"))
    try await waitUntil { bench.echo.bodies == ["x", "x"] }
    try await waitUntil { try await bench.ask("x") == (true, "2 x") }
  }

  @Test(arguments: [("If-None-Match", "\"1\""), ("Range", "bytes=0-0"), ("If-Match", "*")])
  func `a condition or a range goes to the origin`(name: String, value: String) async throws {
    _ = try await bench.ask("x")
    #expect(try await bench.ask("x", "POST", "/query", [(name, value)]) == (false, "2 x"))
  }

  @Test func `users are kept apart, and a response is put and looked at by a body`() async throws {
    _ = try await bench.ask("x", "POST", "/query", [("Authorization", "alice")])
    #expect(try await !bench.ask("x").isHit)
    let post = request("POST", "/query")
    let fields: Pairs = [("Cache-Control", "max-age=10")]
    #expect(try bench.cache.peek(post, requestBody: [1]) == nil)
    #expect(
      try await bench.cache.put(response(200, fields), body: [2], for: post, requestBody: [1]))
    #expect(try await bench.cache.peek(post, requestBody: [1])?.body.bytes() == [2])
    for number in 0..<40 { _ = try await bench.ask("\(number)") }
    try await bench.cache.removeAll(for: post)
    #expect(try bench.fixture.store.namespace("http").count() == 0)
  }

  @Test func `keys of bodies are short, unambiguous and hide the body`() throws {
    for length in [10, 139, 140, 141, 179, 180, 181, 5000] {
      let path = "/query" + String(repeating: "a", count: length)
      var key = try #require(ResponseKey(request("POST", path), policy: Self.policy))
      let plain = key.base
      key.bodyDigest = ResponseKey.digest(
        of: Array("secret".utf8), in: request("POST", path), policy: Self.policy)
      #expect(key.key(credential: "1", vary: .empty).utf8.count <= 250)
      #expect(key.base.hasPrefix(key.bodyPrefix) && !key.base.contains("secret"))
      #expect(!plain.contains("#") && !key.base.hasPrefix(key.variantPrefix))
    }
  }
}
