import HTTPTypes
import Testing

@testable import LarderHTTP

struct RangeTests {
  private func range(_ text: String, _ more: Pairs = []) -> HTTPRequest {
    request([("Range", text)] + more)
  }

  /// A response with a part of a body. The whole body has ten bytes.
  private func part(_ range: String, _ body: String, _ more: Pairs = []) -> (HTTPResponse, String) {
    let fields: Pairs = [
      ("Cache-Control", "max-age=100"), ("Content-Range", "bytes \(range)/10"), ("ETag", "\"1\""),
    ]
    return (response(206, fields + more), body)
  }

  /// A cache with the first half of a body. The whole body has ten bytes.
  private func half(tag: String = "\"1\"") -> HTTPHarness {
    HTTPHarness(
      holding: "max-age=100", [("Content-Range", "bytes 0-4/10"), ("ETag", tag)], status: 206,
      body: "01234", request: range("bytes=0-4"))
  }

  @Test(
    arguments: [
      ("bytes=0-1", 206, "01", "bytes 0-1/11"), ("bytes=1-", 206, "123456789A", "bytes 1-10/11"),
      ("bytes=-1", 206, "A", "bytes 10-10/11"), ("bytes=-20", 206, "0123456789A", "bytes 0-10/11"),
      ("bytes=9-99", 206, "9A", "bytes 9-10/11"), ("BYTES = 0-0", 206, "0", "bytes 0-0/11"),
      ("bytes=11-", 416, "", "bytes */11"), ("bytes=-0", 416, "", "bytes */11"),
      ("bytes=0-1,3-4", 200, "0123456789A", nil), ("bytes=2-1", 200, "0123456789A", nil),
      ("lines=0-1", 200, "0123456789A", nil), ("bytes=a-", 200, "0123456789A", nil),
      ("bytes=", 200, "0123456789A", nil), ("bytes=--1", 200, "0123456789A", nil),
      ("bytes=99999999999999999999-", 416, "", "bytes */11"),
    ] as [(String, Int, String, String?)])
  func `RFC 9110, 14.2: ranges are served from the whole`(
    text: String, status: Int, body: String, content: String?
  ) {
    let fields: Pairs = [("A", "1"), ("Content-Length", "11"), ("Content-Digest", "x")]
    let harness = HTTPHarness(holding: "max-age=100", fields, body: "0123456789A")
    let result = harness.ask(range(text))
    #expect(result.isFromCache && result.status == status && result.body == body)
    #expect(result.fields[.contentRange] == content && result.fields[.init("A")!] == "1")
    #expect(result.fields[.contentLength] == String(body.count))
    #expect(result.fields[.age] == "0" && (result.fields[.contentDigest] == nil) == (status != 200))
  }

  @Test(arguments: [
    ("\"1\"", 206), ("\"2\"", 200), ("W/\"1\"", 200), (date(-100), 206), (date(-99), 200),
  ])
  func `RFC 9110, 13.1.5: If-Range gives the part of what the client has, else the whole`(
    condition: String, status: Int
  ) {
    let harness = HTTPHarness(
      holding: "max-age=100", [("ETag", "\"1\""), ("Last-Modified", date(-100))])
    #expect(harness.ask(range("bytes=0-1", [("If-Range", condition)])).status == status)
  }

  @Test func `RFC 9110, 13.1.5: a date that may be that of two versions lets no part be given`() {
    let harness = HTTPHarness(holding: "max-age=100", [("Last-Modified", date(-59))])
    #expect(harness.ask(range("bytes=0-1", [("If-Range", date(-59))])).status == 200)
  }

  @Test func `RFC 9111, 3.3: a part is stored, and serves what lies in it`() {
    let harness = HTTPHarness(
      holding: "max-age=100", [("Content-Range", "bytes 4-8/10"), ("ETag", "\"1\"")],
      status: 206, body: "45678", request: range("bytes=4-8"))
    func ask(_ text: String) -> HTTPHarness.Result { harness.ask(range(text)) }
    #expect(ask("bytes=4-8").body == "45678" && ask("bytes=6-7").body == "67")
    let part = ask("bytes=6-7")
    #expect(part.status == 206 && part.fields[.contentRange] == "bytes 6-7/10")
    #expect(part.isFromCache && part.fields[.contentLength] == "2")
    #expect(ask("bytes=3-4").status == 599 && ask("bytes=8-").status == 599)
    #expect(ask("bytes=-1").status == 599 && ask("bytes=0-1,5-6").status == 599)
    #expect(harness.ask().status == 599, "a part is not the whole")
    harness.wait(100)
    #expect(ask("bytes=4-8").status == 599)
  }

  @Test(arguments: [
    "", "bytes 4-8/*", "bytes 4-9/10", "bytes 4-3/10", "bytes 4-8/8", "lines 4-8/10", "x",
    "bytes */10",
  ])
  func `RFC 9110, 14.4: a part that does not say which one, truly, is not stored`(content: String) {
    let harness = HTTPHarness(
      holding: "max-age=100", [("Content-Range", content)], status: 206, body: "45678",
      request: range("bytes=4-8"))
    #expect(harness.held.isEmpty)
  }

  @Test(arguments: [
    ("0-4", "01234", "bytes=5-", "5-9", "56789"), ("5-9", "56789", "bytes=0-4", "0-4", "01234"),
  ])
  func `RFC 9111, 3.4: a part is completed by what is missing`(
    held: String, first: String, asked: String, other: String, rest: String
  ) {
    let harness = HTTPHarness()
    _ = harness.ask(range("bytes=0-4")) { _ in part(held, first, [("A", "1"), ("B", "1")]) }
    let whole = harness.ask { request in
      #expect(request.headerFields[.range] == asked && request.headerFields[.ifRange] == "\"1\"")
      return part(other, rest, [("A", "2"), ("Content-Length", "5"), ("Set-Cookie", "s")])
    }
    #expect(whole.status == 200 && whole.body == "0123456789" && whole.reason == .completed)
    #expect(whole.fields[.contentLength] == "10" && whole.fields[.contentRange] == nil)
    #expect(whole.fields[values: .init("A")!] == ["2"] && whole.fields[.init("B")!] == "1")
    #expect(whole.fields[.setCookie] == "s")
    let again = harness.ask()
    #expect(again.isFromCache && again.body == "0123456789" && again.fields[.setCookie] == nil)
  }

  @Test(arguments: [206, 416])
  func `RFC 9111, 3.4: a rest that does not fit is followed by a plain request`(status: Int) {
    let result = half().ask { request in
      request.headerFields.contains(.range)
        ? (response(status, [("Content-Range", "bytes 5-9/10"), ("ETag", "\"2\"")]), "56789")
        : (response(200, [("ETag", "\"2\"")]), "new")
    }
    #expect(result.sent.count == 2 && result.status == 200 && result.body == "new")
  }

  @Test func `RFC 9111, 3.4: another version in the place of the rest is taken as it is`() {
    let harness = half()
    let result = harness.ask { _ in
      (response(200, [("ETag", "\"2\""), ("Cache-Control", "max-age=9")]), "new")
    }
    #expect(result.sent.count == 1 && result.body == "new")
    #expect(harness.ask().body == "new")
  }

  @Test(arguments: ["W/\"1\"", "abc"])
  func `RFC 9110, 15.3.7.3: parts without a strong tag are not put together`(tag: String) {
    let result = half(tag: tag).ask { request in
      #expect(!request.headerFields.contains(.range))
      return (response(200), "new")
    }
    #expect(result.body == "new")
  }

  @Test func `RFC 9111, 3.4: parts that clients ask for grow together, and leave no gap`() {
    let harness = HTTPHarness()
    func take(_ first: Int, _ last: Int, _ more: Pairs = []) {
      let text = String((first...last).map { Character(String($0 % 10)) })
      _ = harness.ask(range("bytes=\(first)-\(last)")) { _ in part("\(first)-\(last)", text, more) }
    }
    take(2, 4)
    take(4, 6)
    #expect(harness.ask(range("bytes=2-6")).body == "23456")
    take(8, 9)
    #expect(harness.ask(range("bytes=2-6")).status == 599)
    #expect(harness.ask(range("bytes=8-9")).body == "89")
    take(0, 7, [("Vary", "Foo")])
    #expect(harness.held.count == 1, "no part answers requests with another Foo")
    let whole = harness.ask()
    #expect(whole.isFromCache && whole.status == 200 && whole.body == "0123456789")
  }

  @Test func `RFC 9111, 3.3: a part does not replace the fresh whole`() {
    let harness = HTTPHarness(holding: "max-age=100", [("Last-Modified", date(-100))])
    _ = harness.ask(range("bytes=0-4", [("If-Unmodified-Since", date(-100))])) { _ in
      part("0-4", "01234")
    }
    #expect(harness.isHit())
  }

  @Test func `RFC 9111, 3.4: a part of what is held whole only updates its fields`() {
    let harness = HTTPHarness(
      holding: "max-age=2", [("ETag", "\"1\""), ("A", "1")], body: "0123456789", age: 3)
    let result = harness.ask(range("bytes=0-1")) { _ in part("0-1", "01", [("A", "2")]) }
    #expect(result.status == 206 && result.body == "01")
    let whole = harness.ask()
    #expect(whole.isFromCache && whole.body == "0123456789" && whole.fields[.init("A")!] == "2")
  }
}
