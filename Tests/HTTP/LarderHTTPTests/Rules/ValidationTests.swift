import HTTPTypes
import Testing

@testable import LarderHTTP

struct ValidationTests {
  static let tags = [
    "\"abc\"", "W/\"abc\"", "abc", "802363557363352428", "0x8D2CD8FC361BDE4", "w/\"a\"", "W\"a\"",
    "\"a,b\"", "\"abc\u{FC}\"", "\"", "5f2b-gzip", "\"a\" ",
  ]

  /// A stale response is validated with its own tag. A 304 with this tag renews the response, and so does one without validators.
  @Test(arguments: tags, [true, false])
  func `RFC 9111, 4.3.1 and 4.3.4: a tag is sent byte for byte`(tag: String, isEchoed: Bool) {
    let harness = HTTPHarness(
      holding: "max-age=2", [("ETag", tag), ("Last-Modified", date(-9))], age: 3)
    let result = harness.ask { request in
      #expect(request.headerFields[values: .ifNoneMatch] == [tag])
      #expect(request.headerFields[values: .ifModifiedSince] == [date(-9)])
      return (response(304, isEchoed ? [("ETag", tag)] : []), "")
    }
    #expect(result.status == 200 && result.body == "body" && result.reason == .validated)
    #expect(result.fields[values: .eTag] == [tag] && harness.isHit() && result.sent.count == 1)
  }

  @Test func `RFC 9111, 4.3.1: bytes of a tag that are no text are echoed and compared`() {
    let bytes: [UInt8] = [0x22, 0xFC, 0xFE, 0x22]
    let harness = HTTPHarness()
    var first = response(200, [("Cache-Control", "max-age=0")])
    first.headerFields.append(HTTPField(name: .eTag, value: bytes))
    _ = harness.ask { _ in (first, "body") }
    _ = harness.ask { request in
      #expect(request.headerFields[fields: .ifNoneMatch].map(\.valueBytes) == [bytes])
      return (response(304, [("Cache-Control", "max-age=9")]), "")
    }
    for (byte, status) in [(UInt8(0xFC), 304), (0xFD, 200)] {
      var wish = request()
      wish.headerFields.append(HTTPField(name: .ifNoneMatch, value: [0x22, byte, 0xFE, 0x22]))
      #expect(harness.ask(wish).status == status)
    }
  }

  @Test(arguments: [
    (401, false), (403, false), (404, false), (410, false), (302, true), (429, true), (500, true),
    (503, true), (200, false),
  ])
  func `RFC 9111, 4.3.3: an answer that is not stored ends the stale one unless it is an error`(
    status: Int, stays: Bool
  ) {
    let harness = HTTPHarness(holding: "max-age=2, stale-while-revalidate=600", age: 3)
    let answer = response(status, [("Cache-Control", "no-store")])
    let result = harness.ask(request([("Cache-Control", "no-cache")])) { _ in (answer, "") }
    #expect(result.status == status && (harness.held.count == 1) == stays)
  }

  @Test
  func `RFC 9111, 3.2 and 4.3.4: a 304 updates fields and freshness, but for those of the body`() {
    let harness = HTTPHarness(
      holding: "max-age=2",
      [
        ("ETag", "\"1\""), ("A", "1"), ("A", "2"), ("B", "3"), ("Age", "1"),
        ("Content-Length", "4"), ("Content-Type", "text/plain"), ("Content-Encoding", "x"),
        ("Content-Digest", "1"), ("Content-Foo", "1"), ("Content-Security-Policy", "1"),
      ], age: 3)
    let newer = response(
      304,
      [
        ("Cache-Control", "max-age=50"), ("ETag", "\"1\""), ("A", "9"), ("Date", date(3)),
        ("Content-Length", "0"), ("Content-Type", "application/octet-stream"),
        ("Content-Encoding", "y"), ("Content-Digest", "2"), ("Content-Foo", "2"),
        ("Content-Security-Policy", "2"), ("Connection", "C"), ("C", "1"),
      ])
    let validated = harness.ask { _ in (newer, "") }
    harness.wait(49)
    let later = harness.ask()
    #expect(later.isFromCache && later.fields[.age] == "49" && validated.fields[.age] == "0")
    for fields in [validated.fields, later.fields] {
      #expect(fields[values: .init("A")!] == ["9"] && fields[values: .init("B")!] == ["3"])
      #expect(fields[.contentLength] == "4" && fields[.contentType] == "text/plain")
      #expect(fields[.contentEncoding] == "x" && fields[.contentDigest] == "1")
      #expect(fields[values: .init("Content-Foo")!] == ["2"])
      #expect(fields[values: .contentSecurityPolicy] == ["2"] && !fields.contains(.init("C")!))
    }
  }

  @Test func `RFC 9111, 4.3.4: a 304 of another tag updates nothing, and no-store ends it`() {
    var result = HTTPHarness(holding: "max-age=2", [("ETag", "\"1\"")], age: 3).ask { request in
      request.headerFields.contains(.ifNoneMatch)
        ? (response(304, [("ETag", "\"2\"")]), "")
        : (response(200, [("Cache-Control", "max-age=9")]), "new")
    }
    #expect(result.sent.count == 2 && result.body == "new")
    let harness = HTTPHarness(holding: "max-age=2", [("ETag", "\"1\"")], age: 3)
    result = harness.ask { _ in (response(304, [("Cache-Control", "no-store")]), "") }
    #expect(result.body == "body" && harness.held.isEmpty)
  }

  @Test(
    arguments: [
      ([("If-None-Match", "\"abc\"")], 304), ([("If-None-Match", "W/\"abc\"")], 304),
      ([("If-None-Match", "\"x\", \"abc\", \"y\"")], 304), ([("If-None-Match", "*")], 304),
      ([("If-None-Match", "\"x\""), ("If-None-Match", "\"abc\"")], 304),
      ([("If-None-Match", "abc")], 200), ([("If-None-Match", "\"x\"")], 200),
      ([("If-None-Match", "\"x\""), ("If-Modified-Since", date(0))], 200),
      ([("If-None-Match", "\"abc\""), ("If-Modified-Since", date(-100_000))], 304),
      ([("If-Modified-Since", date(-9))], 304), ([("If-Modified-Since", date(-8))], 304),
      ([("If-Modified-Since", date(-10))], 200), ([("If-Modified-Since", "x")], 200),
      ([("If-Modified-Since", "Wednesday, 31-Dec-25 23:59:51 GMT")], 304),
    ] as [(Pairs, Int)])
  func `RFC 9111, 4.3.2: the cache answers the client's condition`(condition: Pairs, status: Int) {
    let harness = HTTPHarness(
      holding: "max-age=100",
      [
        ("ETag", "\"abc\""), ("Last-Modified", date(-9)),
        ("Vary", "Q"), ("Content-Location", "/b"), ("Content-Type", "text/plain"),
      ])
    let result = harness.ask(request(condition))
    #expect(result.isFromCache && result.status == status)
    #expect(result.body == (status == 304 ? "" : "body"))
    #expect(result.fields[.eTag] == "\"abc\"" && result.fields[.vary] == "Q")
    #expect(result.fields[.cacheControl] != nil && result.fields[.contentLocation] == "/b")
    #expect(result.fields[.date] != nil && result.fields[.age] == "0")
    #expect((result.fields[.contentType] == nil) == (status == 304))
  }

  @Test func `RFC 9111, 4.3.2: without Last-Modified, the date counts`() {
    let harness = HTTPHarness(holding: "max-age=100", [("Date", date(0))])
    func status(_ offset: Int) -> Int {
      harness.ask(request([("If-Modified-Since", date(offset))])).status
    }
    #expect(status(0) == 304 && status(1) == 304 && status(-1) == 200)
  }

  @Test(arguments: [301, 404, 500])
  func `RFC 9110, 13.2.1: a condition says nothing of an answer that is no success`(status: Int) {
    let harness = HTTPHarness(holding: "max-age=100", [("ETag", "\"1\"")], status: status)
    #expect(harness.ask(request([("If-None-Match", "\"1\"")])).status == status)
  }

  @Test func `RFC 9111, 4.3.2: stale is validated before the client's condition is answered`() {
    let harness = HTTPHarness(holding: "max-age=2", [("Last-Modified", date(-9))], age: 3)
    let same = harness.ask(request([("If-Modified-Since", date(-9))])) { request in
      #expect(request.headerFields[values: .ifModifiedSince] == [date(-9)])
      return (response(304), "")
    }
    #expect(same.status == 304 && same.reason == .validated)
    harness.wait(3)
    let older = harness.ask(request([("If-None-Match", "\"client\"")])) { request in
      #expect(request.headerFields[values: .ifNoneMatch] == [])
      return (response(304), "")
    }
    #expect(older.status == 200 && older.body == "body")
    harness.wait(3)
    let newer = harness.ask(request([("If-None-Match", "\"client\"")])) { _ in
      (response(200, [("ETag", "\"client\""), ("Set-Cookie", "s")]), "new")
    }
    #expect(newer.status == 304 && newer.body == "" && newer.fields[.setCookie] == "s")
    #expect(harness.held.values.map { String(decoding: $0.body, as: UTF8.self) } == ["new"])
  }

  @Test func `a condition of the client goes on if the cache has nothing, and so does its 304`() {
    let harness = HTTPHarness()
    let result = harness.ask(request([("If-None-Match", "abc")])) { request in
      #expect(request.headerFields[values: .ifNoneMatch] == ["abc"])
      return (response(304, [("ETag", "abc"), ("Cache-Control", "max-age=9")]), "")
    }
    #expect(result.status == 304 && result.reason == nil && harness.held.isEmpty)
  }

  @Test(arguments: ["If-Match", "If-Unmodified-Since"])
  func `RFC 9111, 4.3.2: conditions that are the origin's to judge go there`(name: String) {
    let harness = HTTPHarness(holding: "max-age=100", [("ETag", "\"1\"")])
    #expect(!harness.isHit(request([(name, "\"1\"")])))
  }

  @Test func `RFC 9110, 9.3.2: HEAD is answered from a stored GET, with the length of the body`() {
    let result = HTTPHarness(holding: "max-age=100").ask(request("HEAD"))
    #expect(result.isFromCache && result.body == "" && result.fields[.contentLength] == "4")
  }

  @Test func `RFC 9111, 4.3.5: HEAD updates what is stored, never its length`() {
    let harness = HTTPHarness(holding: "max-age=2", [("A", "1"), ("B", "1")], age: 3)
    let head = harness.ask(request("HEAD")) { request in
      #expect(request.method == .head)
      return (
        response(200, [("Cache-Control", "max-age=100"), ("A", "2"), ("Content-Length", "4")]), ""
      )
    }
    #expect(head.reason == nil)
    let result = harness.ask()
    #expect(result.isFromCache && result.body == "body" && result.fields[.init("A")!] == "2")
    #expect(result.fields[.init("B")!] == "1" && result.fields[.contentLength] == nil)
  }

  /// A HEAD response removes a stored response if a field differs, or if only the HEAD response has a validator.
  @Test(
    arguments: [
      ([("ETag", "\"1\""), ("Last-Modified", date(-9))], ("Content-Length", "5")),
      ([("ETag", "\"1\""), ("Last-Modified", date(-9))], ("ETag", "\"2\"")),
      ([("ETag", "\"1\""), ("Last-Modified", date(-9))], ("Last-Modified", date(-1))),
      ([], ("ETag", "\"a\"")), ([], ("Last-Modified", date(-100))),
    ] as [(Pairs, (String, String))])
  func `RFC 9111, 4.3.5: HEAD ends what has changed`(validators: Pairs, field: (String, String)) {
    let harness = HTTPHarness(holding: "max-age=2", validators, age: 3)
    _ = harness.ask(request("HEAD")) { _ in
      (response(200, [field, ("Cache-Control", "max-age=9")]), "")
    }
    #expect(harness.held.isEmpty)
  }

  @Test(arguments: [404, 410, 500])
  func `RFC 9111, 4.3.5: a HEAD that is no 200 changes nothing`(status: Int) {
    let harness = HTTPHarness(holding: "max-age=2", [("A", "1")], age: 3)
    _ = harness.ask(request("HEAD")) { _ in
      (response(status, [("Cache-Control", "max-age=9"), ("A", "2")]), "")
    }
    #expect(harness.held.values.first?.response.fields[.init("A")!] == "1")
    #expect(!harness.isHit())
  }
}
