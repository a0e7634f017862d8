import HTTPTypes
import Larder
import Testing

@testable import LarderHTTP

struct SharedCacheTests {
  private func harness(_ kind: HTTPCachePolicy.Kind = .shared) -> HTTPHarness {
    let harness = HTTPHarness()
    harness.rules.policy.kind = kind
    return harness
  }

  private static let alice: Pairs = [("Authorization", "Bearer alice")]
  private static let bob: Pairs = [("Authorization", "Bearer bob")]

  @Test func `RFC 9111, 5.2.2.10: s-maxage replaces max-age and Expires`() {
    for (control, seconds) in [
      ("max-age=10, s-maxage=50", 50), ("s-maxage=5, max-age=100", 5), ("s-maxage=7", 7),
    ] {
      let harness = harness()
      harness.prime(control, [("Expires", date(20)), ("Date", date(0))])
      #expect(harness.isFresh(for: seconds), "\(control)")
    }
  }

  @Test(arguments: ["max-age=1, proxy-revalidate", "s-maxage=1", "max-age=1, must-revalidate"])
  func `RFC 9111, 5.2.2.2 and 5.2.2.8: stale is not served without validation`(control: String) {
    let harness = harness()
    harness.prime(control + ", stale-if-error=100")
    harness.wait(5)
    let result = harness.ask { _ in throw Origin.Down() }
    #expect(result.reason == nil && result.status == 0)
  }

  @Test func `fields of a qualified private are not stored`() {
    let harness = harness()
    harness.prime(
      "private=\"X-User, X-Token\", max-age=100",
      [("X-User", "alice"), ("X-Token", "1"), ("X-Page", "2"), ("Set-Cookie", "a=b")])
    let stored = harness.held.values.first?.response.fields
    #expect(stored?.map(\.name.rawName) == ["Cache-Control", "X-Page", "Date"])
  }

  @Test func `a shared cache uses what a private cache has stored only if all users may get it`() {
    for (control, isHit) in [("private", false), ("private=\"X-User\"", false), ("public", true)] {
      let harness = HTTPHarness(holding: control + ", max-age=100", [("X-User", "alice")])
      harness.rules.policy.kind = .shared
      #expect(harness.isHit() == isHit, "\(control)")
    }
  }

  @Test(arguments: [
    ("max-age=100", false), ("max-age=100, public", true), ("s-maxage=100", true),
    ("max-age=100, must-revalidate", true), ("max-age=100, public, private", false),
  ])
  func `RFC 9111, 3.5: a response to a request with credentials is stored if the origin allows it`(
    control: String, isStored: Bool
  ) {
    let harness = harness()
    harness.prime(control, request: request(Self.alice))
    #expect(harness.held.count == (isStored ? 1 : 0))
    #expect(harness.isHit(request(Self.bob)) == isStored)
    #expect(harness.isHit() == isStored)
  }

  /// A 304 for one user may have fields for this user only. If the stored response got these fields, all users would see them.
  @Test(arguments: [
    ("private, max-age=9", false, false), ("max-age=9", true, false),
    ("public, max-age=9", true, true), ("max-age=9", false, true),
  ])
  func `RFC 9111, 3.5 and 5.2.2.7: a 304 for one user ends the stored one after this use`(
    control: String, hasCredentials: Bool, isStored: Bool
  ) {
    for method in ["GET", "HEAD"] {
      let harness = harness()
      harness.prime("max-age=2", [("ETag", "\"1\"")])
      harness.wait(3)
      let status = method == "GET" ? 304 : 200
      let result = harness.ask(request(method, "/a", hasCredentials ? Self.alice : [])) { _ in
        (response(status, [("Cache-Control", control), ("ETag", "\"1\""), ("X-User", "a")]), "")
      }
      #expect(result.fields[HTTPField.Name("X-User")!] == "a")
      #expect(harness.held.count == (isStored ? 1 : 0), "\(method) \(control)")
    }
  }

  @Test func `user information and partition fields are credentials, too`() {
    let harness = harness()
    harness.rules.policy.partitionFields = [.cookie]
    harness.prime("max-age=100", request: request(host: "a:b@example.com"))
    harness.prime("max-age=100", request: request([("Cookie", "session=1")]))
    #expect(harness.held.isEmpty)
    let policy = HTTPCachePolicy(partitionFields: [HTTPField.Name("User")!, .cookie])
    let users = [request(host: "a@example.com")] + ["User", "Cookie"].map { request([($0, "a")]) }
    #expect(Set(users.map { Principal($0, policy: policy) }).count == 3)
  }

  @Test func `RFC 9213, 2.1: CDN-Cache-Control replaces Cache-Control if it is valid`() {
    for (targeted, control, isHit) in [
      ("max-age=100", "no-store", true), ("no-store", "max-age=100", false),
      ("max-age=100, x=\"y\"", "no-store", true), ("max-age=\"", "max-age=100", true),
      ("max-age=\"100\"", "no-store", false), ("max-age=100, x=\"100\"", "no-store", true),
      ("MAX-AGE = 100", "no-store", false), ("", "max-age=100", true),
      ("no-store;a=1", "max-age=100", false), ("private; a", "max-age=100", false),
      ("no-store=?1", "max-age=100", false), ("no-store=?0, max-age=9", "no-store", true),
      ("max-age=0;a=\"x, y\";b=?0", "max-age=100", false),
      ("max-age=100, max-age=0", "max-age=100", false),
      ("max-age=0, max-age=100", "no-store", true), ("max-age=0, ;", "max-age=100", true),
      ("max-age=0,", "max-age=100", true), ("max-age=0 x", "max-age=100", true),
      ("max-age=0, a=(\"x\" y;z 1.5);b", "max-age=100", false),
      ("max-age=0, a=(x", "max-age=100", true), ("max-age=0, a=:YQ==:", "max-age=100", false),
      ("max-age=0, a=\"\\x\"", "max-age=100", true), ("max-age=0, a=1.", "max-age=100", true),
      ("max-age=-1;a=@1", "max-age=100", false), ("max-age=0, a=\u{E9}", "max-age=100", true),
      ("max-age=@9", "no-store", false),
    ] {
      let harness = harness()
      harness.prime([("CDN-Cache-Control", targeted), ("Cache-Control", control)])
      #expect(harness.isHit() == isHit, "\(targeted) / \(control)")
      let privately = self.harness(.private)
      privately.prime([("CDN-Cache-Control", targeted), ("Cache-Control", control)])
      #expect(privately.isHit() == (control != "no-store"), "\(targeted) / \(control)")
    }
  }

  @Test func `RFC 9213, 2.2: beside a valid CDN-Cache-Control, Expires has no effect`() {
    for (targeted, isHit) in [("public", false), ("foo", false), ("foo=", true)] {
      let harness = harness()
      harness.prime([("CDN-Cache-Control", targeted), ("Expires", date(100))])
      #expect(harness.isHit() == isHit, "\(targeted)")
    }
  }

  @Test func `RFC 9213, 2.1: private and no-cache name fields in a list or a string`() {
    for value in ["no-cache=(\"x-a\" x-b), max-age=100", "private=\"X-A, X-B\", max-age=100"] {
      let directives = ResponseDirectives(HTTPFields([("CDN-Cache-Control", value)]), for: .shared)
      #expect(directives.unusableFields == ["x-a", "x-b"] && !directives.noCache)
    }
  }

  @Test(.timeLimit(.minutes(5))) func `many keys in CDN-Cache-Control take no quadratic time`() {
    let keys = (0..<200_000).map { "k\($0)" }.joined(separator: ",")
    let fields = HTTPFields([("CDN-Cache-Control", "max-age=1,\(keys),max-age=2")])
    #expect(ResponseDirectives(fields, for: .shared).maxAge == .seconds(2))
  }

  /// Takes the user from a cookie, for a service whose requests name the user in no other field.
  private static let byCookie: @Sendable (HTTPRequest) -> String? = { request in
    request.headerFields[.cookie].map { String($0.drop { $0 != "=" }.prefix { $0 != ";" }) }
  }

  private static func cookie(_ user: String, token: String? = nil) -> HTTPRequest {
    let fields: Pairs = [("Cookie", "user=\(user); seen=\(token ?? "1")")]
    return request(fields + (token.map { [("Authorization", $0)] } ?? []))
  }

  @Test func `nothing of a principal is stored for all unless the origin allows it`() {
    for (control, isStored) in [("max-age=100", false), ("max-age=100, public", true)] {
      let harness = harness()
      harness.rules.policy.principal = Self.byCookie
      harness.prime(control, request: Self.cookie("alice"))
      #expect(harness.held.count == (isStored ? 1 : 0))
      harness.prime("max-age=100", request: request())
      #expect(harness.isHit(Self.cookie("alice")), "a response for all serves users, too")
    }
  }

  @Test func `a private cache keeps principals apart, whatever their tokens`() {
    let harness = harness(.private)
    harness.rules.policy.principal = Self.byCookie
    harness.prime("max-age=100", request: Self.cookie("alice", token: "A"))
    #expect(harness.isHit(Self.cookie("alice", token: "B")), "a new token, the same user")
    #expect(harness.isHit(Self.cookie("alice")))
    #expect(!harness.isHit(Self.cookie("bob", token: "A")), "the name counts")
    #expect(!harness.isHit(request()))
    #expect(!harness.isHit(request([("Authorization", "A")])))
    let lines = ["principal", "", "=alice"].map { ("Authorization", $0) }
    #expect(!harness.isHit(request(lines)), "no credentials equal a name")
    #expect(harness.held.keys.allSatisfy { !$0.contains("alice") })
  }

  @Test func `the responses of a principal are removed by its name`() async throws {
    let fixture = try Fixture(
      .page("max-age=100"), policy: HTTPCachePolicy(principal: Self.byCookie))
    for user in ["alice", "bob"] {
      _ = try await fixture.cache.send(Self.cookie(user, token: user)).body.bytes()
    }
    #expect(try await fixture.cache.removeAll(principal: "=alice").entries == 1)
    #expect(try await !fixture.cache.send(Self.cookie("alice", token: "alice")).isHit)
    #expect(try await fixture.cache.send(Self.cookie("bob", token: "bob")).isHit)
  }
}
