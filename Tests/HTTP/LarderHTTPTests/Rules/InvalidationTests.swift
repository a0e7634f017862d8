import HTTPTypes
import Larder
import Testing

@testable import LarderHTTP

struct InvalidationTests {
  private func harness() -> HTTPHarness {
    let harness = HTTPHarness(
      holding: "max-age=100", [("Vary", "Foo")], request: request([("Foo", "1")]))
    for path in ["/a", "/b", "/c", "/a/b"] {
      harness.prime("max-age=100", request: request("GET", path))
    }
    harness.prime("max-age=100", request: request([("Authorization", "x")]))
    return harness
  }

  private func held(_ harness: HTTPHarness) -> Set<String> {
    Set(
      harness.held.keys.map {
        String($0.dropFirst("https://example.com".count).prefix { $0 != " " })
      })
  }

  @Test(
    arguments: ["POST", "PUT", "DELETE", "PATCH", "M-SEARCH", "FOO", "get"], [200, 201, 204, 303])
  func `RFC 9111, 4.4: a method that may change something ends all responses of the URI`(
    method: String, status: Int
  ) {
    let harness = harness()
    #expect(harness.held.count == 6)
    _ = harness.ask(request(method)) { _ in (response(status), "") }
    #expect(held(harness) == ["/b", "/c", "/a/b"])
  }

  /// RFC 9110, 9.2.1: safe methods invalidate nothing.
  @Test(arguments: [
    ("POST", 400), ("POST", 404), ("POST", 409), ("POST", 500), ("POST", 503), ("OPTIONS", 200),
    ("TRACE", 200), ("PROPFIND", 200), ("QUERY", 200),
  ])
  func `RFC 9111, 4.4: one that failed and one that is safe end nothing`(
    method: String, status: Int
  ) {
    let harness = harness()
    _ = harness.ask(request(method)) { _ in (response(status, [("Location", "/b")]), "") }
    #expect(harness.held.count == 6)
  }

  @Test(
    arguments: [
      ("/b", ["/c", "/a/b"]), ("b", ["/c", "/a/b"]), ("https://example.com/b", ["/c", "/a/b"]),
      ("HTTPS://EXAMPLE.COM:443/b", ["/c", "/a/b"]), ("//example.com/b", ["/c", "/a/b"]),
      ("https://example.org/b", ["/b", "/c", "/a/b"]),
      ("http://example.com/b", ["/b", "/c", "/a/b"]),
      ("https://example.com:444/b", ["/b", "/c", "/a/b"]), ("a/../b", ["/c", "/a/b"]),
      ("a/b", ["/b", "/c"]), ("", ["/b", "/c", "/a/b"]), ("mailto:b", ["/b", "/c", "/a/b"]),
    ] as [(String, Set<String>)],
    ["Location", "Content-Location"])
  func `RFC 9111, 4.4: what Location and Content-Location name on the origin ends too`(
    reference: (String, Set<String>), name: String
  ) {
    let harness = harness()
    _ = harness.ask(request("POST")) { _ in (response(201, [(name, reference.0)]), "") }
    #expect(held(harness) == reference.1)
  }

  @Test(arguments: [
    "/items?filter[a]=1", "/l|1", "/p%zz", "/q?u=http://a/b?c|d", "/x/./y?a=../b", "/a;b=[1]",
  ]) func `RFC 9111, 4.4: a reference names the URI of its text, without dots`(path: String) {
    for reference in [path, "https://example.com\(path)", "//example.com\(path)#f"] {
      let harness = harness()
      harness.prime("max-age=100", request: request("GET", path.replacing("/./", with: "/")))
      _ = harness.ask(request("POST")) { _ in (response(201, [("Location", reference)]), "") }
      #expect(held(harness) == ["/b", "/c", "/a/b"], "\(reference)")
    }
  }

  @Test func `RFC 9111, 4.4: a POST that is kept for GET ends the older response first`() {
    let harness = harness()
    _ = harness.ask(request("POST")) { _ in
      (response(200, [("Cache-Control", "max-age=9"), ("Content-Location", "/a")]), "new")
    }
    #expect(harness.ask().body == "new")
    #expect(!harness.isHit(request([("Authorization", "x")])))
  }
}
