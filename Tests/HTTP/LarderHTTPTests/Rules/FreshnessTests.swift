import HTTPTypes
import Testing

@testable import LarderHTTP

struct FreshnessTests {
  /// Each case stores a response with the fields of the case, waits three seconds, and asks again.
  @Test(
    arguments: [
      ([], false), ([("Cache-Control", "max-age=3600")], true),
      ([("Cache-Control", "max-age=2")], false), ([("Cache-Control", "max-age=4")], true),
      ([("Cache-Control", "max-age=3")], false), ([("Cache-Control", "max-age=0")], false),
      ([("Cache-Control", "max-age=99999999999")], true),
      ([("Cache-Control", "max-age=3600"), ("Age", "7200")], false),
      ([("Cache-Control", "max-age=3600"), ("Age", "3596")], true),
      ([("Cache-Control", "max-age=3600"), ("Date", date(-7200))], false),
      ([("Cache-Control", "max-age=3600"), ("Date", date(7200))], true),
      ([("Cache-Control", "max-age=3600"), ("Expires", date(-7200))], true),
      ([("Cache-Control", "max-age=3600"), ("Expires", "0")], true),
      ([("Cache-Control", "max-age=0"), ("Expires", date(3600))], false),
      ([("Cache-Control", "max-age=-1"), ("Expires", date(3600))], false),
      ([("Expires", date(3600))], true), ([("Expires", date(3600)), ("Date", date(0))], true),
      ([("Expires", date(-1))], false), ([("Expires", "0")], false), ([("Expires", "-1")], false),
      ([("Expires", date(3600)), ("Expires", date(3600))], true),
      ([("Expires", date(3600)), ("Expires", date(7200))], false),
      ([("Expires", date(3600)), ("Date", date(3600))], false),
      ([("Expires", date(3600)), ("Age", "25")], true),
      ([("Expires", date(3600)), ("Age", "3600")], false),
      ([("Cache-Control", "s-maxage=3600")], false),
      ([("Cache-Control", "s-maxage=3600, max-age=1")], false),
      ([("Cache-Control", "max-age=3600, s-maxage=1")], true),
      ([("Cache-Control", "private, max-age=3600")], true),
      ([("Cache-Control", "proxy-revalidate, max-age=3600")], true),
      ([("Cache-Control", "max-age=3600"), ("Pragma", "no-cache")], true),
    ] as [(Pairs, Bool)])
  func `RFC 9111, 4.2.1: a response is fresh for as long as it says`(fields: Pairs, isFresh: Bool) {
    #expect(HTTPHarness(holding: fields, age: 3).isHit() == isFresh)
  }

  @Test(arguments: [
    (200, true), (203, true), (204, true), (300, true), (301, true), (308, true), (404, true),
    (405, true), (410, true), (414, true), (501, true), (201, false), (202, false), (302, false),
    (403, false), (500, false), (502, false), (503, false), (504, false), (599, false),
  ])
  func `RFC 9111, 4.2.2: some statuses are fresh for a tenth of the time they had not changed`(
    status: Int, isFresh: Bool
  ) {
    let harness = HTTPHarness(
      holding: [("Last-Modified", date(-1000)), ("Date", date(0))], status: status, age: 99)
    #expect(harness.isHit() == isFresh)
    harness.wait(1)
    #expect(!harness.isHit())
  }

  @Test(
    arguments: [
      ([("Last-Modified", date(-1000)), ("Cache-Control", "public")], 599, 100),
      ([("Last-Modified", date(-100 * 86_400))], 200, 86_400),
    ] as [(Pairs, Int, Int)])
  func `RFC 9111, 4.2.2: public allows a guess for any status, and the policy ends a long one`(
    fields: Pairs, status: Int, seconds: Int
  ) { #expect(HTTPHarness(holding: fields, status: status).isFresh(for: seconds)) }

  @Test(arguments: [
    200, 203, 204, 299, 301, 302, 303, 307, 308, 400, 404, 410, 499, 500, 502, 503, 504, 599, 999,
  ]) func `RFC 9111, 3: any final status with explicit freshness is used again`(status: Int) {
    let harness = HTTPHarness(holding: "max-age=100", status: status)
    let again = harness.ask()
    #expect(again.isFromCache && again.status == status && again.body == "body")
    harness.wait(100)
    #expect(!harness.isHit())
  }

  @Test func `RFC 9111, 4.2.3: the time that the origin took counts to the age`() {
    let harness = HTTPHarness()
    harness.delay = .seconds(5)
    harness.prime("max-age=10", [("Age", "3")])
    #expect(harness.ask().fields[.age] == "8")
    #expect(harness.isFresh(for: 2))
  }

  @Test func `a response that came later than now is not fresh`() {
    let harness = HTTPHarness(holding: "max-age=100", age: -30)
    #expect(harness.isHit())
    harness.wait(-31)
    #expect(!harness.isHit())
  }

  @Test func `RFC 8246, 2: an immutable response is not validated on a reload while it is fresh`() {
    let reload = request([("Cache-Control", "max-age=0")])
    let harness = HTTPHarness(holding: "max-age=100, immutable", [("ETag", "\"1\"")])
    #expect(harness.isHit(reload))
    #expect(!harness.isHit(request([("Cache-Control", "no-cache")])))
    harness.prime("max-age=100, immutable", [("ETag", "\"1\"")])
    harness.wait(100)
    #expect(!harness.isHit(reload))
  }
}

struct RequestDirectiveTests {
  /// Each case: `Cache-Control` of a stored response of age 3, `Cache-Control` of a request, and whether the request is a hit.
  @Test(arguments: [
    ("max-age=100", "max-age=0", false), ("max-age=100", "max-age=2", false),
    ("max-age=100", "max-age=3", true), ("max-age=100", "max-age=x", false),
    ("max-age=100", "min-fresh=97", true), ("max-age=100", "min-fresh=98", false),
    ("max-age=100", "no-cache", false), ("max-age=100", "NO-cache", false),
    ("max-age=100", "no-store", false), ("max-age=100", "nothing-to-see", true),
    ("max-age=2", "max-stale", true), ("max-age=2", "max-stale=1", true),
    ("max-age=2", "max-stale=0", false), ("max-age=1", "max-stale=1", false),
    ("max-age=2", "max-stale=x", false), ("max-age=2, must-revalidate", "max-stale", false),
    ("max-age=2, no-cache", "max-stale", false), ("max-age=2", "max-stale, max-age=2", false),
    ("max-age=2", "max-stale, max-age=3", true), ("max-age=100", "only-if-cached", true),
    ("max-age=2", "only-if-cached, max-stale", true),
  ])
  func `RFC 9111, 5.2.1: a request says what it accepts`(held: String, wish: String, isHit: Bool) {
    #expect(HTTPHarness(holding: held, age: 3).isHit(request([("Cache-Control", wish)])) == isHit)
  }

  @Test func `RFC 9111, 5.2.1.7: only-if-cached is answered with 504 where nothing can be used`() {
    let wish = request([("Cache-Control", "only-if-cached")])
    let harness = HTTPHarness()
    let nothing = harness.ask(wish)
    #expect(nothing.status == 504 && nothing.sent.isEmpty && nothing.reason == .onlyIfCached)
    let write = harness.ask(request("POST", "/a", [("Cache-Control", "only-if-cached")]))
    #expect(write.status == 504 && write.sent.isEmpty)
    harness.prime("max-age=2", [("ETag", "\"1\"")])
    #expect(harness.ask(wish).status == 200)
    harness.wait(3)
    #expect(harness.ask(wish).status == 504)
    harness.held = [:]
    harness.prime("max-age=2, stale-while-revalidate=9")
    harness.wait(3)
    let stale = harness.ask(wish)
    #expect(stale.status == 200 && stale.sent.isEmpty)
  }

  @Test func `RFC 9111, 5.4: Pragma counts where there is no Cache-Control`() {
    let harness = HTTPHarness(holding: "max-age=100")
    #expect(!harness.isHit(request([("Pragma", "no-cache")])))
    #expect(harness.isHit(request([("Pragma", "foo")])))
    #expect(harness.isHit(request([("Pragma", "no-cache"), ("Cache-Control", "x")])))
  }

  @Test(arguments: ["no-cache", "max-age=0"])
  func `RFC 9111, 5.2.1.4: what is held is validated rather than fetched`(wish: String) {
    let harness = HTTPHarness(
      holding: "max-age=100", [("ETag", "\"1\""), ("Last-Modified", date(-9))])
    let result = harness.ask(request([("Cache-Control", wish)])) { request in
      #expect(request.headerFields[.ifNoneMatch] == "\"1\"")
      #expect(request.headerFields[.ifModifiedSince] == date(-9))
      #expect(request.headerFields[.cacheControl] == wish)
      return (response(304), "")
    }
    #expect(result.status == 200 && result.reason == .validated)
  }
}

struct StaleTests {
  private static let unreachable: @Sendable (HTTPRequest) throws -> (HTTPResponse, String) = { _ in
    throw Origin.Down()
  }

  @Test(arguments: [
    ("max-age=2", true), ("max-age=2, must-revalidate", false), ("max-age=2, no-cache", false),
    ("max-age=2, proxy-revalidate", true), ("max-age=2, s-maxage=2", true),
    ("max-age=2, must-revalidate, stale-if-error=60", false), ("max-age=2, no-cache=\"a\"", true),
  ])
  func `RFC 9111, 4.2.4: stale is served without the origin, unless that is forbidden`(
    line: String, isServed: Bool
  ) {
    let harness = HTTPHarness(holding: line, [("ETag", "\"1\"")], age: 3)
    let result = harness.ask(request(), Self.unreachable)
    #expect(result.status == (isServed ? 200 : 0))
    #expect(result.reason == (isServed ? .staleDisconnected : nil))
  }

  @Test func `RFC 9111, 4.2.4: without the origin stale is served for a bounded time`() {
    let harness = HTTPHarness(holding: "max-age=2", [("ETag", "\"1\"")], age: 86_402)
    #expect(harness.ask(request(), Self.unreachable).status == 200)
    harness.wait(1)
    #expect(harness.ask(request(), Self.unreachable).status == 0)
  }

  @Test func `RFC 9111, 5.2.1.4: a request that wants it validated gets no stale answer`() {
    let harness = HTTPHarness(holding: "max-age=100")
    #expect(harness.ask(request([("Cache-Control", "no-cache")]), Self.unreachable).status == 0)
  }

  @Test(arguments: [500, 502, 503, 504, 400, 404, 403, 501, 505, 599])
  func `RFC 5861, 4: stale stands in for four errors within its window`(status: Int) {
    let harness = HTTPHarness(holding: "max-age=2, stale-if-error=10", age: 12)
    let within = harness.ask { _ in (response(status), "error") }
    guard [500, 502, 503, 504].contains(status) else { return #expect(within.status == status) }
    #expect(within.status == 200 && within.body == "body" && within.reason == .staleOnError)
    #expect(within.fields[.age] == "12")
    harness.wait(1)
    #expect(harness.ask { _ in (response(status), "error") }.status == status)
  }

  @Test func `RFC 5861, 4: a request may ask for it too`() {
    let harness = HTTPHarness(holding: "max-age=2", age: 3)
    let wish = request([("Cache-Control", "stale-if-error=5")])
    #expect(harness.ask(wish) { _ in (response(503), "") }.status == 200)
    #expect(harness.ask { _ in (response(503), "") }.status == 503)
    let none = request([("Cache-Control", "stale-if-error=0")])
    #expect(harness.ask(none, Self.unreachable).status == 0)
    harness.wait(5)
    #expect(harness.ask(wish) { _ in (response(503), "") }.status == 503)
  }

  @Test func `RFC 5861, 4: the window is judged when the error comes`() {
    let harness = HTTPHarness(holding: "max-age=2, stale-if-error=10", age: 12)
    harness.delay = .seconds(2)
    #expect(harness.ask { _ in (response(503), "") }.status == 503)
  }

  @Test func `RFC 5861, 3: stale is served while it is validated, within the window`() {
    let harness = HTTPHarness(
      holding: "max-age=1, stale-while-revalidate=10", [("ETag", "\"1\"")], age: 3)
    let result = harness.ask { request in
      #expect(request.headerFields[.ifNoneMatch] == "\"1\"")
      return (response(200, [("Cache-Control", "max-age=1"), ("ETag", "\"2\"")]), "new")
    }
    #expect(result.body == "body" && result.reason == .staleWhileRevalidating)
    #expect(result.sent.count == 1 && result.fields[.age] == "3")
    #expect(harness.ask().body == "new")
  }

  @Test(arguments: [
    (12, "", ""), (3, "must-revalidate", ""), (3, "no-cache", ""), (3, "", "no-cache"),
    (3, "", "max-age=0"), (3, "", "max-age=2"), (3, "", "min-fresh=1"),
  ])
  func `RFC 5861, 3: not after the window, where it is forbidden, or if the request wants better`(
    age: Int, directive: String, wish: String
  ) {
    let control = "max-age=1, stale-while-revalidate=10, \(directive)"
    let harness = HTTPHarness(holding: control, [("ETag", "\"1\"")], age: age)
    let fields: Pairs = wish.isEmpty ? [] : [("Cache-Control", wish)]
    #expect(harness.ask(request(fields)) { _ in (response(304), "") }.reason == .validated)
  }
}
