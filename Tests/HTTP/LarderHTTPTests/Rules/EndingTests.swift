import HTTPTypes
import Larder
import Synchronization
import TestSupport
import Testing

@testable import LarderHTTP

/// Response fields that invalidate stored responses: cache groups (RFC 9875) and Clear Site Data.
struct EndingTests {
  /// Answers a GET with the groups of its path. Answers `/end` and other methods with the request's invalidating fields.
  private func fixture(
    _ groups: [String: [String]], kind: HTTPCachePolicy.Kind = .private
  ) throws -> Fixture {
    let origin = Origin { request, _ in
      if request.method != .get || request.path == "/end" {
        let fields = request.headerFields.filter {
          ["cache-group-invalidation", "clear-site-data"].contains($0.name.canonicalName)
        }
        return (HTTPResponse(status: .ok, headerFields: HTTPFields(fields)), HTTPBody())
      }
      let lines = (groups[request.path ?? ""] ?? []).map { ("Cache-Groups", $0) }
      return (response(200, [("Cache-Control", "max-age=1000")] + lines), HTTPBody("body"))
    }
    return try Fixture(origin, policy: HTTPCachePolicy(kind: kind))
  }

  private func end(_ groups: String, of fixture: Fixture, by method: String = "POST") async throws {
    _ = try await fixture.isHit(request(method, "/end", [("Cache-Group-Invalidation", groups)]))
  }

  /// Requests each path of each origin, and returns the paths whose response was already stored.
  private func stored(
    _ fixture: Fixture, _ paths: [String], at origins: [String] = ["https://example.com"],
    _ fields: Pairs = []
  ) async throws -> Set<String> {
    var stored: Set<String> = []
    for origin in origins {
      let parts = origin.split(separator: "://").map(String.init)
      for path in paths
      where try await fixture.isHit(request("GET", path, fields, host: parts[1], scheme: parts[0]))
      { stored.insert(origins.count == 1 ? path : origin + path) }
    }
    return stored
  }

  @Test(arguments: [HTTPCachePolicy.Kind.private, .shared])
  func `RFC 9875, 3: an unsafe request ends the groups that its answer names`(
    kind: HTTPCachePolicy.Kind
  ) async throws {
    let fixture = try fixture(
      [
        "/a": ["\"one\""], "/b": ["\"two\", \"on\\\"e\";x=1"], "/c": ["\"two\"", "\"one\""],
        "/d": ["\"One\""],
      ], kind: kind)
    let paths = ["/a", "/b", "/c", "/d", "/e"]
    _ = try await stored(fixture, paths)
    #expect(try await stored(fixture, paths) == Set(paths))
    try await end("\"one\"", of: fixture)
    #expect(try await stored(fixture, paths) == ["/b", "/d", "/e"])
    try await end("\"on\\\"e\", \"three\"", of: fixture, by: "DELETE")
    #expect(try await stored(fixture, paths) == ["/a", "/c", "/d", "/e"])
  }

  @Test func `RFC 9875, 3: a safe request ends nothing`() async throws {
    let fixture = try fixture(["/a": ["\"one\""]])
    _ = try await stored(fixture, ["/a"])
    for method in ["GET", "HEAD", "OPTIONS", "QUERY"] {
      try await end("\"one\"", of: fixture, by: method)
    }
    #expect(try await stored(fixture, ["/a"]) == ["/a"])
  }

  @Test func `RFC 9875, 2.1: the groups of other origins stay`() async throws {
    let fixture = try fixture(["/a": ["\"one\""]])
    let origins = [
      "https://example.com", "http://example.com", "https://example.com:8443",
      "https://www.example.com", "https://example.org",
    ]
    _ = try await stored(fixture, ["/a"], at: origins)
    // The texts of two groups look like groups of other origins. But these texts must not affect responses of those origins.
    for group in ["one", "https://example.org one", "http://example.com one"] {
      try await end("\"\(group)\"", of: fixture)
    }
    #expect(
      try await stored(fixture, ["/a"], at: origins) == Set(origins.dropFirst().map { $0 + "/a" }))
  }

  @Test(arguments: [
    "one", "\"one", "\"one\" \"two\"", "\"one\",", "\"one\", two", "(\"one\")", "1, \"one\"",
    "?1", "",
  ]) func `RFC 9651: what is no list of strings names no group`(field: String) async throws {
    let fixture = try fixture(["/a": ["\"one\""], "/b": [field]])
    _ = try await stored(fixture, ["/a", "/b"])
    try await end(field, of: fixture)
    #expect(try await stored(fixture, ["/a", "/b"]) == ["/a", "/b"])
    try await end("\"one\"", of: fixture)
    #expect(try await stored(fixture, ["/a", "/b"]) == ["/b"])
  }

  @Test func `RFC 9875, 2: 64 groups of any length count, and more do no harm`() async throws {
    let names = (0..<100).map { "\"\(String(repeating: "g", count: 300)) \($0)\"" }
    let many = (0..<100).flatMap { _ in names }
    let fixture = try fixture([
      "/a": [names.joined(separator: ", ")], "/b": [names[63]], "/c": [names[64]],
    ])
    _ = try await stored(fixture, ["/a", "/b", "/c"])
    let tags = try fixture.store.namespace("http").entry(for: "https://example.com/a")?.tags
    #expect(tags?.count == 65 && tags?.allSatisfy { $0.utf8.count <= 200 } == true)
    try await end(names[63], of: fixture)
    #expect(try await stored(fixture, ["/a", "/b", "/c"]) == ["/c"])
    try await end(many.joined(separator: ","), of: fixture)
    #expect(try await stored(fixture, ["/a", "/b", "/c"]) == ["/c"])
  }

  @Test func `RFC 9875, 2.2.1: an unsafe request ends its URI's groups, no more`() async throws {
    let fixture = try fixture(["/a": ["\"one\""], "/b": ["\"one\", \"two\""], "/c": ["\"two\""]])
    let paths = ["/a", "/b", "/c"]
    _ = try await stored(fixture, paths)
    _ = try await fixture.isHit(request("POST", "/a"))
    #expect(try await stored(fixture, paths) == ["/c"])
    try await fixture.cache.removeAll(for: request())
    #expect(try await stored(fixture, paths) == ["/b", "/c"], "an application ends one URI alone")
  }

  @Test func `a response that leaves a group does not end with it`() async throws {
    let fixture = try Fixture(Origin())
    let groups = Mutex(["\"one\"", "\"two\"", ""])
    fixture.origin.become { request, _ in
      guard request.method == .get else {
        return (response(204, [("Cache-Group-Invalidation", "\"one\"")]), HTTPBody())
      }
      let group = groups.withLock { $0.removeFirst() }
      let fields: Pairs = [
        ("Cache-Control", "max-age=10"), ("ETag", "\"1\""), ("Cache-Groups", group),
      ]
      let isKnown = request.headerFields[.ifNoneMatch] != nil
      return (response(isKnown ? 304 : 200, fields), HTTPBody(isKnown ? [] : [1]))
    }
    _ = try await fixture.get()
    fixture.clock.advance(by: .seconds(11))
    #expect(try await fixture.get().result.reason == .validated)
    _ = try await fixture.cache.send(request("POST", "/x"))
    #expect(try await fixture.get().result.isHit)
    #expect(try fixture.cache.namespace.entry(for: "https://example.com/a")?.tags.count == 2)
  }

  @Test(arguments: [
    ("\"cache\"", true), ("\"*\"", true), ("\"cookies\", \"cache\"", true),
    ("\"storage\" ,\"*\"", true), ("cache", false), ("\"Cache\"", false), ("\"cookies\"", false),
    ("'cache'", false), ("\"cache\";q=1", false), ("*", false), ("\"cache", false),
  ])
  func `Clear Site Data, 3: two values end all of an origin`(field: String, ends: Bool) async throws
  {
    let fixture = try fixture([:])
    let origins = [
      "https://example.com", "http://example.com", "https://example.com:8443",
      "https://www.example.com", "https://example.co", "https://example.com.org",
    ]
    let paths = ["/", "/a", "/a?b=1", "/" + String(repeating: "c", count: 300)]
    _ = try await stored(fixture, paths, at: origins)
    _ = try await fixture.isHit(request("GET", "/end", [("Clear-Site-Data", field)]))
    let expected = origins.dropFirst(ends ? 1 : 0).flatMap { origin in paths.map { origin + $0 } }
    #expect(try await stored(fixture, paths, at: origins) == Set(expected))
  }

  @Test func `Clear Site Data: a shared cache and an insecure origin end nothing`() async throws {
    let shared = try fixture([:], kind: .shared)
    _ = try await stored(shared, ["/a"])
    _ = try await shared.isHit(request("GET", "/end", [("Clear-Site-Data", "\"cache\"")]))
    #expect(try await stored(shared, ["/a"]) == ["/a"])
    let fixture = try fixture([:])
    let origins = ["http://example.com", "https://example.com"]
    _ = try await stored(fixture, ["/a"], at: origins)
    _ = try await fixture.isHit(
      request("GET", "/end", [("Clear-Site-Data", "\"cache\"")], scheme: "http"))
    #expect(try await stored(fixture, ["/a"], at: origins).count == 2)
  }

  @Test func `Clear Site Data: a user's and nobody's responses end, not another's`() async throws {
    let fixture = try fixture([:])
    let users: [Pairs] = [[], [("Authorization", "1")], [("Authorization", "2")]]
    for user in users { _ = try await stored(fixture, ["/a", "/b"], user) }
    _ = try await fixture.isHit(
      request("POST", "/end", [("Clear-Site-Data", "\"*\""), ("Authorization", "1")]))
    for (user, count) in zip(users, [0, 0, 2]) {
      #expect(try await stored(fixture, ["/a", "/b"], user).count == count)
    }
    // A request without a user may come from any user, so its answer removes the responses of all users.
    _ = try await fixture.isHit(request("POST", "/end", [("Clear-Site-Data", "\"*\"")]))
    for user in users { #expect(try await stored(fixture, ["/a"], user) == []) }
  }
}
