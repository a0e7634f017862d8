import HTTPTypes
import Testing

@testable import LarderHTTP

struct VaryTests {
  @Test(
    arguments: [
      ("Foo", [("Foo", "1")], [("Foo", "1")], true), ("Foo", [("Foo", "1")], [("Foo", "2")], false),
      ("Foo", [], [("Foo", "1")], false), ("Foo", [("Foo", "1")], [], false), ("Foo", [], [], true),
      ("Foo", [("Foo", "")], [], false),
      ("Foo", [("Foo", "1"), ("Other", "2")], [("Foo", "1"), ("Other", "3")], true),
      ("Foo, Bar", [("Foo", "1"), ("Bar", "a")], [("Bar", "a"), ("foo", "1")], true),
      ("Foo, Bar", [("Foo", "1"), ("Bar", "a")], [("Foo", "1"), ("Bar", "ab")], false),
      ("Foo", [("Foo", "1, 2")], [("Foo", "1"), ("Foo", "2")], true),
      ("Foo", [("Foo", "1,2")], [("Foo", " 1, 2 ")], true),
      ("Foo", [("Foo", "1,2")], [("Foo", "2, 1")], false),
      ("Foo", [("Foo", "a")], [("Foo", "A")], false),
      ("Accept-Language", [("Accept-Language", "en, de")], [("Accept-Language", "de, en")], true),
      ("accept-language", [("Accept-Language", "en, de")], [("Accept-Language", "eN ,  De")], true),
      (
        "Accept-Language", [("Accept-Language", "en, de")], [("Accept-Language", "en, de;q=0.9")],
        false
      ),
      (
        "Accept-Language", [("Accept-Language", "en;q=0.90, de;q=1.0")],
        [("Accept-Language", "de, en; q=0.9")], true
      ),
      (
        "Accept-Encoding", [("Accept-Encoding", "gzip, br")], [("Accept-Encoding", "br,gzip")], true
      ),
      ("Accept-Encoding", [("Accept-Encoding", "gzip")], [("Accept-Encoding", "gzip;q=0")], false),
      ("Accept", [("Accept", "text/html;level=1")], [("Accept", "text/html")], false),
      ("X-Name", [("X-Name", "\"a,b\"")], [("X-Name", "\"a, b\"")], false),
      (
        "Accept", [("Accept", "text/html;p=\"a;q=0.5;b\"")],
        [("Accept", "text/html;p=\"a;b\";q=0.5")], false
      ), ("Accept", [("Accept", "text/html;p=\"A\"")], [("Accept", "text/html;p=\"a\"")], false),
      ("Accept", [("Accept", "aa, zz;q=0.5")], [("Accept", "aa, zz;q=500")], false),
      ("Accept", [("Accept", "TEXT/html;Q=0.5")], [("Accept", "text/html; q=0.50")], true),
      ("Cookie", [("Cookie", "a=b")], [("Cookie", "a=c")], false),
      ("Cookie", [("Cookie", "a=b")], [("Cookie", "a=b")], true), ("*", [], [], false),
      ("*, *", [], [], false), (", *", [], [], false),
      ("Foo, *", [("Foo", "1")], [("Foo", "1")], false), ("", [], [("Foo", "1")], true),
    ] as [(String, Pairs, Pairs, Bool)])
  func `RFC 9111, 4.1: a response is used for requests with the same selecting fields`(
    vary: String, first: Pairs, second: Pairs, matches: Bool
  ) {
    let harness = HTTPHarness(holding: "max-age=100", [("Vary", vary)], request: request(first))
    #expect(harness.isHit(request(second)) == matches)
  }

  @Test func `RFC 9111, 4.1: lines of Vary count together`() {
    let harness = HTTPHarness(holding: "max-age=100", [("Vary", ""), ("Vary", "*")])
    #expect(harness.held.isEmpty)
    harness.prime("max-age=100", [("Vary", "a"), ("Vary", "b")])
    #expect(harness.isHit() && !harness.isHit(request([("b", "1")])))
  }

  @Test func `RFC 9111, 4.1: of several that match the newest is used`() {
    let harness = HTTPHarness(holding: "max-age=100", body: "old", age: 1)
    harness.prime(
      "max-age=100", [("Vary", "Foo")], body: "new",
      request: request([("Cache-Control", "no-cache")]))
    #expect(harness.ask().body == "new")
  }

  @Test func `RFC 9111, 4.1: the language that a request wants most is good enough`() {
    let harness = HTTPHarness(
      holding: "max-age=100", [("Vary", "Accept-Language"), ("Content-Language", "de")],
      request: request([("Accept-Language", "en, de")]))
    func hit(_ wish: String) -> Bool { harness.isHit(request([("Accept-Language", wish)])) }
    #expect(hit("fr;q=0.5, de;q=1.0") && hit("de"))
    #expect(!hit("fr, de") && !hit("fr, de;q=0.9") && !hit("de;q=0") && !hit("de-CH"))
    // The cache does not rank a long list, because thousands of languages would take as long as hundreds of requests.
    let others = String(repeating: ", fr;q=0.5", count: 50)
    #expect(hit("de" + others) && !hit("de" + String(repeating: others, count: 400)))
  }

  @Test(arguments: [("GET", 304, ""), ("HEAD", 200, ""), ("GET", 206, "\"1\"")])
  func `RFC 9111, 4.3.4: a newer Vary applies to the updated response`(
    method: String, code: Int, match: String
  ) {
    let german = ("Accept-Language", "de")
    let more = match.isEmpty ? [] : [("If-Match", match), ("Range", "bytes=0-1")]
    let harness = HTTPHarness(holding: "max-age=9", [("ETag", "\"1\"")], request: request([german]))
    _ = harness.ask(request(method, "/a", [german, ("Cache-Control", "no-cache")] + more)) { _ in
      (response(code, [("ETag", "\"1\""), ("Vary", "Accept-Language")]), "")
    }
    #expect(harness.isHit(request([german])))
    #expect(!harness.isHit(request([("Accept-Language", "fr")])))
  }

  /// A cache that holds the responses `1` and `2` of a URI.
  private static func twoVariants() -> HTTPHarness {
    let harness = HTTPHarness()
    for value in ["1", "2"] {
      harness.prime(
        "max-age=100", [("Vary", "Foo"), ("ETag", "\"\(value)\"")], body: value,
        request: request([("Foo", value)]))
    }
    return harness
  }

  @Test(arguments: [("br, gzip;q=0", "\"1\", \"2\""), ("br, GZIP", "\"0\", \"1\", \"2\"")])
  func `RFC 9111, 4.3.1: a request that selects none asks about the variants that it can decode`(
    codings: String, expected: String
  ) {
    let harness = Self.twoVariants()
    harness.prime(
      "max-age=100", [("Vary", "Foo"), ("ETag", "\"0\""), ("Content-Encoding", "gzip")],
      request: request([("Foo", "0")]))
    // The variant of another user may have a tag that the origin also gives the user of the request.
    harness.prime(
      "max-age=9", [("Vary", "Cookie"), ("ETag", "\"9\"")], request: request([("Cookie", "a")]))
    let third = request([("Foo", "3"), ("Accept-Encoding", codings)])
    let result = harness.ask(third) { request in
      let tags = request.headerFields[.ifNoneMatch]?.split(separator: ", ").sorted() ?? []
      #expect(tags.joined(separator: ", ") == expected)
      #expect(!request.headerFields.contains(.ifModifiedSince))
      return (response(304, [("ETag", "\"2\""), ("Vary", "Foo")]), "")
    }
    #expect(result.status == 200 && result.body == "2")
    #expect(harness.isHit(third) && harness.held.count == 5)
    #expect(harness.isHit(request([("Foo", "2")])))
  }

  @Test func `RFC 9111, 4.3.4: a 304 that does not say of which is followed by a plain request`() {
    let result = Self.twoVariants().ask(request([("Foo", "3")])) { request in
      request.headerFields.contains(.ifNoneMatch)
        ? (response(304), "") : (response(200, [("Vary", "Foo")]), "3")
    }
    #expect(result.sent.count == 2 && result.status == 200 && result.body == "3")
  }

  @Test(arguments: ["Cookie", "X-API-Key", "Accept-Language", "Accept", "User-Agent", "Foo"])
  func `the values of all selecting fields are stored as digests`(name: String) {
    let harness = HTTPHarness()
    let asked = request([(name, "geheim")])
    harness.prime("max-age=100", [("Vary", "\(name), Bar")], request: asked)
    let text = harness.held.map {
      $0.key + String(decoding: $0.value.response.encodedMetadata(), as: UTF8.self)
    }
    #expect(text.count == 1 && !text[0].contains("geheim"))
    #expect(text[0].contains("vary \(name.lowercased())=~") && text[0].contains("vary bar\n"))
    #expect(harness.isHit(asked) && !harness.isHit(request([(name, "geheim2")])))
  }

  /// A hit reads the values of all variants. So the cache stores only a digest in place of a long value.
  @Test(arguments: [("Foo", 0), ("Foo", 20_000), ("Accept-Language", 20_000), ("Cookie", 20_000)])
  func `RFC 9111, 4.1: all variants are held, long values as digests`(name: String, length: Int) {
    let harness = HTTPHarness()
    let values = (0..<3).map { "\($0)" + String(repeating: ", x", count: length) }
    for value in values {
      harness.prime(
        "max-age=100", [("Vary", name)], body: String(value.prefix(1)),
        request: request([(name, value)]))
    }
    for value in values {
      let again = harness.ask(request([(name, value)]))
      #expect(again.isFromCache && again.body == String(value.prefix(1)))
    }
    for (_, stored) in harness.held {
      let value = stored.response.vary.fields[0].value ?? ""
      #expect(value.utf8.count < 100)
      #expect(!harness.isHit(request([(name, value)])), "the digest is no value")
    }
    #expect(harness.held.count == 3)
  }
}
