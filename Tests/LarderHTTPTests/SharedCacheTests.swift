import HTTPTypes
import Larder
import Testing

@testable import LarderHTTP

/// The rules of a shared cache.
struct SharedCacheTests {
  private func harness(_ kind: HTTPCachePolicy.Kind = .shared) -> HTTPHarness {
    let harness = HTTPHarness()
    harness.rules.policy.kind = kind
    return harness
  }

  private static let alice: Pairs = [("Authorization", "Bearer alice")]
  private static let bob: Pairs = [("Authorization", "Bearer bob")]

  /// RFC 9111, section 5.2.2.10.
  @Test func `s-maxage replaces max-age and Expires`() {
    for (control, seconds) in [
      ("max-age=10, s-maxage=50", 50), ("s-maxage=5, max-age=100", 5), ("s-maxage=7", 7),
    ] {
      let harness = harness()
      harness.prime([("Cache-Control", control), ("Expires", date(20)), ("Date", date(0))])
      harness.wait(seconds - 1)
      #expect(harness.isHit(), "\(control)")
      harness.wait(1)
      #expect(!harness.isHit(), "\(control)")
    }
    let privately = harness(.private)
    privately.prime([("Cache-Control", "max-age=10, s-maxage=50")])
    privately.wait(11)
    #expect(!privately.isHit())
  }

  /// RFC 9111, sections 5.2.2.8 and 5.2.2.10.
  @Test(arguments: ["max-age=1, proxy-revalidate", "s-maxage=1", "max-age=1, must-revalidate"])
  func `a stale response is not served without validation`(control: String) {
    let harness = harness()
    harness.prime([("Cache-Control", control + ", stale-if-error=100")])
    harness.wait(5)
    let result = harness.ask { _ in throw HTTPHarness.Unreachable() }
    #expect(result.reason == nil && result.status == 0)
  }

  /// RFC 9111, section 5.2.2.7.
  @Test func `private responses are not stored`() {
    let harness = harness()
    harness.prime([("Cache-Control", "private, max-age=100")])
    #expect(harness.held.isEmpty)
  }

  @Test func `fields of a qualified private are not stored`() {
    let harness = harness()
    harness.prime([
      ("Cache-Control", "private=\"X-User, X-Token\", max-age=100"), ("X-User", "alice"),
      ("X-Token", "1"), ("X-Page", "2"), ("Set-Cookie", "a=b"),
    ])
    let stored = harness.held.values.first?.response.fields
    #expect(stored?.contains(HTTPField.Name("X-Page")!) == true)
    for name in ["X-User", "X-Token", "Set-Cookie"] {
      #expect(stored?.contains(HTTPField.Name(name)!) == false)
    }
  }

  /// RFC 9111, section 3.5.
  @Test(arguments: [
    ("max-age=100", false), ("max-age=100, public", true), ("s-maxage=100", true),
    ("max-age=100, must-revalidate", true), ("max-age=100, public, private", false),
  ])
  func `a response to a request with credentials is stored if the origin allows it`(
    control: String, isStored: Bool
  ) {
    let harness = harness()
    harness.prime([("Cache-Control", control)], request: request("GET", "/a", Self.alice))
    #expect(harness.held.count == (isStored ? 1 : 0))
    #expect(harness.isHit(request("GET", "/a", Self.bob)) == isStored)
    #expect(harness.isHit() == isStored)
  }

  @Test func `user information and partition fields are credentials, too`() {
    let harness = harness()
    harness.rules.policy.partitionFields = [.cookie]
    harness.prime(
      [("Cache-Control", "max-age=100")], request: request("GET", "/a", host: "a:b@example.com"))
    harness.prime(
      [("Cache-Control", "max-age=100")], request: request("GET", "/a", [("Cookie", "session=1")]))
    #expect(harness.held.isEmpty)
  }

  @Test func `a request with credentials gets a response that is stored for everyone`() {
    let harness = harness()
    harness.prime([("Cache-Control", "max-age=100")])
    #expect(harness.isHit(request("GET", "/a", Self.alice)))
  }

  /// RFC 9213, section 2.1.
  @Test func `CDN-Cache-Control replaces Cache-Control if it is valid`() {
    for (targeted, control, isHit) in [
      ("max-age=100", "no-store", true), ("no-store", "max-age=100", false),
      ("max-age=100, x=\"y\"", "no-store", true), ("max-age=\"", "max-age=100", true),
      ("MAX-AGE = 100", "no-store", false), ("", "max-age=100", true),
    ] {
      let harness = harness()
      harness.prime([("CDN-Cache-Control", targeted), ("Cache-Control", control)])
      #expect(harness.isHit() == isHit, "\(targeted) / \(control)")
      let privately = self.harness(.private)
      privately.prime([("CDN-Cache-Control", targeted), ("Cache-Control", control)])
      #expect(privately.isHit() == (control != "no-store"), "\(targeted) / \(control)")
    }
  }

  /// RFC 9111, section 5.2.2.3.
  @Test func `must-understand stores what is understood although no-store is stated`() {
    for (status, isStored) in [(200, true), (404, true), (599, false)] {
      let harness = harness()
      harness.prime([("Cache-Control", "no-store, must-understand, max-age=100")], status: status)
      #expect(harness.held.count == (isStored ? 1 : 0), "\(status)")
    }
  }

  @Test func `a private cache keeps users apart and stores all of it`() {
    let harness = harness(.private)
    for user in [Self.alice, Self.bob] {
      harness.prime(
        [("Cache-Control", "private, max-age=100")], request: request("GET", "/a", user))
    }
    #expect(harness.held.count == 2)
  }
}
