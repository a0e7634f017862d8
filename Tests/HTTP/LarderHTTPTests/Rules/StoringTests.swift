import HTTPTypes
import Testing

@testable import LarderHTTP

struct StoringTests {
  let fresh = ("Cache-Control", "max-age=100")

  /// Each case has the directives of the response and of the request, the status and the method.
  @Test(arguments: [
    ("no-store", "", 599, "GET"), ("No-StOrE", "", 599, "GET"), ("no-store=\"a\"", "", 599, "GET"),
    ("max-age=100, no-store", "", 599, "GET"), ("max-age=100, NO-STORE", "", 599, "GET"),
    ("must-understand, no-store", "", 599, "GET"), ("max-age=100", "no-store", 200, "GET"),
    ("max-age=100", "", 100, "GET"), ("max-age=100", "", 103, "GET"),
    ("max-age=100", "", 304, "GET"), ("max-age=100", "", 200, "PUT"),
    ("max-age=100", "", 200, "DELETE"), ("max-age=100", "", 200, "PATCH"),
    ("max-age=100", "", 200, "OPTIONS"), ("max-age=100", "", 200, "HEAD"),
    ("max-age=100", "", 200, "FOO"),
  ])
  func `RFC 9111, 3 and 5.2.1.5 and 5.2.2.5: what may not be stored is not`(
    control: String, wish: String, status: Int, method: String
  ) {
    let fields: Pairs = wish.isEmpty ? [] : [("Cache-Control", wish)]
    let harness = HTTPHarness(
      holding: control, [("ETag", "\"1\"")], status: status, request: request(method, "/a", fields))
    #expect(harness.held.isEmpty)
  }

  @Test(
    arguments: [(200, true), (404, true), (599, false), (299, false)],
    [HTTPCachePolicy.Kind.private, .shared])
  func `RFC 9111, 5.2.2.3: must-understand stores what is understood, no-store or not`(
    expected: (Int, Bool), kind: HTTPCachePolicy.Kind
  ) {
    for control in ["max-age=100, no-store, must-understand", "max-age=100, must-understand"] {
      let harness = HTTPHarness()
      harness.rules.policy.kind = kind
      harness.prime(control, status: expected.0)
      #expect(harness.isHit() == expected.1)
    }
  }

  @Test func `RFC 9111, 5.2.1.5: no-store of a request stays in force, must-understand or not`() {
    let tag = ("ETag", "\"1\"")
    let harness = HTTPHarness()
    harness.prime(
      "max-age=100", [tag, ("Content-Range", "bytes 0-3/8")], status: 206,
      request: request([("Range", "bytes=0-3")]))
    let control = "max-age=100, no-store, must-understand"
    _ = harness.ask(request([("Range", "bytes=4-7"), ("Cache-Control", "no-store")])) { _ in
      let fields = [("Cache-Control", control), tag, ("Content-Range", "bytes 4-7/8")]
      return (response(206, fields), "more")
    }
    #expect(harness.held.values.map(\.body.count) == [4])
  }

  @Test func `RFC 9111, 3: what nothing speaks for is not stored`() {
    let harness = HTTPHarness(holding: [])
    #expect(harness.held.isEmpty)
    harness.prime([("Last-Modified", date(-1))], status: 599)
    #expect(harness.held.isEmpty)
    harness.prime([("ETag", "\"1\"")])
    #expect(harness.held.count == 1)
  }

  @Test func `RFC 9111, 3.1: fields of the connection are not stored, and others as they came`() {
    let harness = HTTPHarness(holding: [
      fresh, ("Connection", "a, B"), ("a", "1"), ("b", "2"), ("c", "3"), ("Keep-Alive", "5"),
      ("Transfer-Encoding", "chunked"), ("Upgrade", "x"), ("TE", "x"), ("Proxy-Authenticate", "x"),
      ("Proxy-Authorization", "x"), ("Proxy-Authentication-Info", "x"), ("Proxy-Connection", "x"),
    ])
    let names = harness.ask().fields.map(\.name.canonicalName)
    #expect(Set(names) == ["cache-control", "c", "date", "age"])
    // The other fields stay in their order, repeated and spelt as they came.
    let other = HTTPHarness(holding: [
      ("x-B", "2"), fresh, ("X-a", "1"), ("x-b", "3"), ("Date", date(0)), ("E", ""),
    ])
    let fields = other.ask().fields
    #expect(
      fields.map { "\($0.name.rawName)=\($0.value)" } == [
        "x-B=2", "Cache-Control=max-age=100", "X-a=1", "x-b=3", "Date=\(date(0))", "E=", "Age=0",
      ])
  }

  @Test
  func `RFC 9111, 5.2.2.4 and 5.2.2.7: no-cache ends the use of fields, and private does not`() {
    let harness = HTTPHarness(
      holding: "no-cache=\"a, B\", private=\"c\", max-age=100",
      [("A", "1"), ("b", "2"), ("c", "3"), ("d", "4")])
    let again = harness.ask()
    #expect(again.isFromCache)
    #expect(
      Set(again.fields.map(\.name.canonicalName)) == ["cache-control", "c", "d", "date", "age"])
  }

  @Test func `cookies are stored only where the policy says so`() {
    let harness = HTTPHarness(holding: [fresh, ("Set-Cookie", "a=b"), ("Set-Cookie2", "a=b")])
    #expect(!harness.ask().fields.contains(.setCookie))
    harness.held = [:]
    harness.rules.policy.storesCookies = true
    harness.prime([fresh, ("Set-Cookie", "a=b"), ("Set-Cookie", "c=d")])
    #expect(harness.ask().fields[values: .setCookie] == ["a=b", "c=d"])
  }

  @Test func `RFC 9111, 3.5: responses are kept apart by credentials`() {
    let harness = HTTPHarness()
    func user(_ name: String) -> HTTPRequest { request([("Authorization", name)]) }
    harness.prime("max-age=100, public", body: "A", request: user("Basic a"))
    #expect(!harness.isHit() && !harness.isHit(user("Basic b")) && harness.isHit(user("Basic a")))
    harness.prime([fresh], body: "B", request: user("Basic b"))
    #expect(harness.ask(user("Basic a")).body == "A")
    #expect(harness.ask(user("Basic b")).body == "B")
    let text = harness.held.map {
      $0.key + String(decoding: $0.value.response.encodedMetadata(), as: UTF8.self)
    }
    #expect(text.allSatisfy { !$0.contains("Basic") })
  }

  @Test func `RFC 9110, 9.3.3: a POST that names itself is kept for GET, if it says how long`() {
    let harness = HTTPHarness()
    let post = request("POST", "/a")
    for (fields, isHit) in [
      ([fresh, ("Content-Location", "/a")], true), ([fresh], false),
      ([fresh, ("Content-Location", "https://EXAMPLE.com:443/a")], true),
      ([fresh, ("Content-Location", "/b")], false),
      ([("Content-Location", "/a"), ("ETag", "\"1\"")], false),
    ] as [(Pairs, Bool)] {
      harness.held = [:]
      harness.prime(fields, request: post)
      #expect(harness.isHit() == isHit, "\(fields)")
    }
  }
}

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
  func `RFC 9111, 4.4: unsafe methods end all responses of a URI`(method: String, status: Int) {
    let harness = harness()
    #expect(harness.held.count == 6)
    _ = harness.ask(request(method)) { _ in (response(status), "") }
    #expect(held(harness) == ["/b", "/c", "/a/b"])
  }

  @Test(arguments: [
    ("POST", 400), ("POST", 404), ("POST", 409), ("POST", 500), ("POST", 503), ("OPTIONS", 200),
    ("TRACE", 200), ("PROPFIND", 200), ("QUERY", 200),
  ]) func `RFC 9111, 4.4: a failed one and a safe one end nothing`(method: String, status: Int) {
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

  @Test func `RFC 9111, 4.4: of very many references, only the first end something`() {
    let harness = harness()
    let references = (0..<8).map { ("Location", "/\($0)") } + [("Location", "/b")]
    _ = harness.ask(request("POST")) { _ in (response(201, references), "") }
    #expect(held(harness) == ["/b", "/c", "/a/b"])
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
