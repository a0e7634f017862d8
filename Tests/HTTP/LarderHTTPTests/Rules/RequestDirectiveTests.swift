import HTTPTypes
import Larder
import Testing

@testable import LarderHTTP

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
    let harness = HTTPHarness(holding: held, age: 3)
    #expect(harness.isHit(request([("Cache-Control", wish)])) == isHit)
  }

  @Test func `RFC 9111, 5.2.1.7: only-if-cached is answered with 504 where nothing can be used`() {
    let wish = request([("Cache-Control", "only-if-cached")])
    let harness = HTTPHarness()
    let nothing = harness.ask(wish)
    #expect(nothing.status == 504 && nothing.sent.isEmpty && nothing.reason == .onlyIfCached)
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
