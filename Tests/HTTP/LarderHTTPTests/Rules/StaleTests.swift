import HTTPTypes
import Larder
import Testing

@testable import LarderHTTP

struct StaleTests {
  private static let unreachable: @Sendable (HTTPRequest) throws -> (HTTPResponse, String) = { _ in
    throw HTTPHarness.Unreachable()
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
    let wish = request([("Cache-Control", "no-cache")])
    #expect(harness.ask(wish, Self.unreachable).status == 0)
  }

  @Test(arguments: [500, 502, 503, 504])
  func `RFC 5861, 4: an error is answered with the stale response within its window`(status: Int) {
    let harness = HTTPHarness(holding: "max-age=2, stale-if-error=10", age: 12)
    let within = harness.ask { _ in (response(status), "error") }
    #expect(within.status == 200 && within.body == "body" && within.reason == .staleOnError)
    #expect(within.fields[.age] == "12")
    harness.wait(1)
    #expect(harness.ask { _ in (response(status), "error") }.status == status)
  }

  @Test(arguments: [400, 404, 403, 501, 505, 599])
  func `RFC 5861, 4: other answers are no errors that stale may stand in for`(status: Int) {
    let harness = HTTPHarness(holding: "max-age=2, stale-if-error=10", age: 3)
    #expect(harness.ask { _ in (response(status), "") }.status == status)
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
