import Foundation
import HTTPTypes
import Larder
import Synchronization
import TestSupport
import Testing

@testable import LarderHTTP

struct RemovingTests {
  private static var page: Origin { Origin.page("max-age=1000", [("ETag", "\"1\"")]) }

  private func isHit(
    _ fixture: Fixture, _ path: String = "/a", _ fields: Pairs = [], host: String = "example.com"
  ) async throws -> Bool { try await fixture.isHit(request("GET", path, fields, host: host)) }

  @Test func `one call ends all of a host of any letters, and nothing of another`() async throws {
    let fixture = try Fixture(Self.page)
    for host in ["Example.com:443", "example.com:8443", "example.org"] {
      for path in ["/a", "/b"] { _ = try await isHit(fixture, path, host: host) }
    }
    _ = try await isHit(fixture, "/a", [("Authorization", "Bearer 1")])
    #expect(try await fixture.cache.removeAll(host: "EXAMPLE.com").entries == 3)
    #expect(try await !isHit(fixture))
    #expect(try await !isHit(fixture, "/a", [("Authorization", "Bearer 1")]))
    #expect(try await isHit(fixture, host: "example.com:8443"))
    #expect(try await isHit(fixture, host: "example.org"))
    #expect(try await fixture.cache.removeAll(host: "example.com:8443").entries == 2)
    #expect(try await fixture.cache.removeAll(host: "nobody").entries == 0)
    let long = String(repeating: "x", count: 240) + ".example"
    for host in [long, "ZUG\u{DC}.example", "[::1]:8000", "alice@zug.example"] {
      _ = try await isHit(fixture, host: host)
      #expect(try await fixture.cache.removeAll(host: host).entries == 1, "\(host)")
    }
  }

  @Test func `a removal of a URI also ends what a commit under way stores`() async throws {
    let fixture = try Fixture(Self.page)
    let (cache, permits) = (fixture.cache, fixture.cache.responses.permits)
    let uri = try #require(ResponseKey(request()))
    let permit = permits.issue([ResponseTags.uri(uri)], in: fixture.store)
    let (isWriting, goOn) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
    Thread.detachNewThread {
      do {
        try cache.namespace.store.write { batch in
          guard permit.isValid else { return }
          isWriting.signal()
          goOn.wait()
          try batch.set([1], for: uri.base, in: cache.namespace)
        }
      } catch { Issue.record(error) }
    }
    try await waitUntil { isWriting.wait(timeout: .now()) == .success }
    let removing = Task { try await cache.removeAll(for: request()) }
    try await waitUntil { !permit.isValid }
    // A faulty removal that does not wait for the commit would read the store during this loop, and find nothing to remove.
    for _ in 0..<1000 { await Task.yield() }
    goOn.signal()
    #expect(try await removing.value == RemovalResult(entries: 1, bytes: 1))
    #expect(try !cache.namespace.contains(uri.base))
  }

  @Test func `a write ends the responses of the URI even if its client is cancelled meanwhile`()
    async throws
  {
    let (origin, gate) = (Self.page, Gate())
    let put = Mutex<Task<HTTPCacheResult, any Error>?>(nil)
    let policy = HTTPCachePolicy(principal: { _ in
      // The cache asks for the user again when the origin has answered.
      if origin.count == 2 { put.withLock { $0?.cancel() } }
      return nil
    })
    let fixture = try Fixture(origin, policy: policy)
    _ = try await isHit(fixture)
    origin.become(.behind(gate, Self.page))
    let task = Task { try await fixture.cache.send(request("PUT")) }
    put.withLock { $0 = task }
    await gate.open()
    _ = await task.result
    #expect(try await !isHit(fixture))
  }

  @Test func `one call ends all that a user was answered, on every host`() async throws {
    let fixture = try Fixture(Self.page)
    let (one, other): (Pairs, Pairs) = ([("Authorization", "1")], [("Authorization", "2")])
    for host in ["example.com", "example.org"] {
      for fields in [[], one, other] { _ = try await isHit(fixture, "/a", fields, host: host) }
    }
    #expect(try await fixture.cache.removeAll(authorization: "1").entries == 2)
    #expect(try await !isHit(fixture, "/a", one))
    #expect(try await isHit(fixture, "/a", other))
    #expect(try await isHit(fixture, "/a", other, host: "example.org"))
    #expect(try await isHit(fixture))
  }

  @Test func `tags of the client's choice end what was asked for with them`() async throws {
    let fixture = try Fixture(Self.page)
    for cursor in 0..<4 {
      let tags = ["listing", cursor % 2 == 0 ? "even" : "odd"]
      _ = try await fixture.cache.send(request("GET", "/list?cursor=\(cursor)"), tags: tags)
        .body.bytes()
    }
    _ = try await isHit(fixture)
    #expect(try await fixture.cache.removeAll(tag: "odd").entries == 2)
    #expect(try await isHit(fixture, "/list?cursor=2"))
    // An entry of another namespace also has the tag, so the invalidation in the store removes this entry, too.
    try await fixture.store.namespace("decoded").set([1], for: "list", .with(tags: ["listing"]))
    #expect(try fixture.store.invalidate(tag: "listing").entries == 3)
    #expect(try await !isHit(fixture, "/list?cursor=2"))
    #expect(try await isHit(fixture))
  }

  @Test func `tags stay while a response is validated and replaced, and more come`() async throws {
    let fixture = try Fixture(Origin.page("max-age=10", [("ETag", "\"1\"")]))
    func ask(_ tags: [String]) async throws -> HTTPCacheResult {
      let result = try await fixture.cache.send(request(), tags: tags)
      _ = try await result.body.bytes()
      return result
    }
    func tags() throws -> Set<String> {
      let (key, policy) = (ResponseKey(request()), HTTPCachePolicy())
      return Set(try fixture.cache.responses.variants(under: key, policy: policy).flatMap(\.tags))
    }
    _ = try await ask(["first"])
    #expect(try tags() == ["first", "http-host:example.com"])
    fixture.clock.advance(by: .seconds(11))
    #expect(try await ask(["second"]).reason == .validated)
    #expect(try tags() == ["first", "second", "http-host:example.com"])
    fixture.clock.advance(by: .seconds(11))
    fixture.origin.become(.page("max-age=10", [("Vary", "Foo")], body: "new"))
    _ = try await ask([])
    #expect(try tags() == ["first", "second", "http-host:example.com"])
    #expect(try await fixture.cache.removeAll(tag: "first").entries == 1)
    _ = try await ask([])
    #expect(try tags() == ["http-host:example.com"])
  }

  @Test(arguments: ["", "a\0b", String(repeating: "x", count: 201)])
  func `what cannot be a tag is refused before anything is sent`(tag: String) async throws {
    let fixture = try Fixture(Self.page)
    await #expect(throws: LarderError.self) { try await fixture.cache.send(request(), tags: [tag]) }
    #expect(fixture.origin.count == 0)
  }

  @Test(arguments: [Ending.uri, .unsafe])
  func `a URI is dropped with all its variants, and no other`(ending: Ending) async throws {
    let fixture = try Fixture(Origin.page("max-age=1000", [("Vary", "Foo")]))
    for value in ["1", "2"] { _ = try await isHit(fixture, "/a", [("Foo", value)]) }
    _ = try await isHit(fixture, "/ab")
    try await ending.end(fixture.cache)
    #expect(try fixture.store.namespace("http").count() == 1)
    #expect(try await !isHit(fixture, "/a", [("Foo", "1")]))
    #expect(try await isHit(fixture, "/ab"))
  }

  @Test func `more than a transaction removes is gone at once for others, too`() async throws {
    let path = TemporaryDirectory()
    let (store, other) = (try Store(at: path.path), try Store(at: path.path))
    let origin = Origin.page("max-age=1000")
    let cache = HTTPCache(in: store.namespace("http"), over: origin)
    let there = HTTPCache(in: other.namespace("http"), over: origin)
    for number in 0..<1200 { _ = try await cache.send(request("GET", "/\(number)")).body.bytes() }
    #expect(try await there.send(request("GET", "/1199")).isHit)
    #expect(try await cache.removeAll(host: "example.com").entries == 1200)
    #expect(try await !there.send(request("GET", "/1199")).isHit)
    #expect(try store.verify().faults == [])
  }

  @Test func `one write removes many responses`() async throws {
    let fixture = try Fixture(Self.page)
    for path in 0..<50 { _ = try await isHit(fixture, "/\(path)") }
    let before = try fixture.store.statistics().file.transaction
    let removed = try await fixture.cache.removeAll(where: { _, _ in true }).entries
    #expect(try removed == 50 && fixture.store.statistics().file.transaction < before + 10)
  }

  enum Ending: CaseIterable {
    case host, user, tag, uri, unsafe, clear, everything, group, siteData

    func end(_ cache: HTTPCache) async throws {
      switch self {
      case .host: try await cache.removeAll(host: "example.com")
      case .user: try await cache.removeAll(authorization: "1")
      case .tag: try await cache.removeAll(tag: "listing")
      case .uri: try await cache.removeAll(for: request())
      case .unsafe: _ = try await cache.send(request("DELETE"))
      case .clear: try cache.namespace.clear()
      case .everything: try cache.namespace.store.clear()
      case .group: _ = try await cache.send(request("POST", "/group"))
      case .siteData: _ = try await cache.send(request("GET", "/site")).body.bytes()
      }
    }
  }

  /// The cache of a fixture, or a second cache over its namespace. The second cache does not know the first cache's requests.
  private func cache(_ fixture: Fixture, isOther: Bool) -> HTTPCache {
    isOther ? HTTPCache(in: fixture.cache.namespace, over: fixture.origin) : fixture.cache
  }

  @Test(arguments: Ending.allCases, [false, true])
  func `what is ended meanwhile is answered, not kept`(ending: Ending, isOther: Bool) async throws {
    let gate = Gate()
    let fixture = try Fixture(
      Origin { request, _ in
        if request.method == .get, request.path == "/a" { await gate.wait() }
        let ends: Pairs =
          switch request.path {
          case "/group": [("Cache-Group-Invalidation", "\"one\"")]
          case "/site": [("Clear-Site-Data", "\"cache\"")]
          default: [("Cache-Groups", "\"one\"")]
          }
        return (response(200, [("Cache-Control", "max-age=1000")] + ends), HTTPBody("old"))
      })
    let asking = Task {
      try await fixture.cache.send(request([("Authorization", "1")]), tags: ["listing"])
        .body.bytes()
    }
    try await fixture.origin.wait(for: 1)
    try await ending.end(cache(fixture, isOther: isOther))
    await gate.open()
    #expect(try await asking.value == Array("old".utf8))
    #expect(try fixture.store.namespace("http").count() == 0)
    // The next request begins after the removal, so its response is stored.
    _ = try await isHit(fixture, "/a", [("Authorization", "1")])
    #expect(try fixture.store.namespace("http").count() == 1)
  }

  @Test func `what takes the place of something with a tag is ended with it`() async throws {
    let gate = Gate()
    let fixture = try Fixture(Origin.page("max-age=10"))
    _ = try await fixture.cache.send(request(), tags: ["listing"]).body.bytes()
    fixture.clock.advance(by: .seconds(11))
    fixture.origin.become(.behind(gate, .page("max-age=10", body: "old")))
    // This request has no tag, but its response would replace a tagged response. So after the removal it must not be stored.
    let asking = Task { try await fixture.get().body }
    try await fixture.origin.wait(for: 2)
    #expect(try await fixture.cache.removeAll(tag: "listing").entries == 1)
    await gate.open()
    #expect(try await asking.value == "old")
    #expect(try fixture.store.namespace("http").count() == 0)
  }

  @Test(arguments: [Ending.host, .user, .tag, .uri, .clear, .everything], [false, true])
  func `a 304 for what has ended brings nothing back`(ending: Ending, isOther: Bool) async throws {
    let fields: Pairs = [("Cache-Control", "max-age=10"), ("ETag", "\"1\"")]
    let gate = Gate()
    let fixture = try Fixture(Origin.page(fields, body: "old"))
    let asked = request([("Authorization", "1")])
    _ = try await fixture.cache.send(asked, tags: ["listing"]).body.bytes()
    fixture.clock.advance(by: .seconds(11))
    fixture.origin.become { request, _ in
      guard request.headerFields[.ifNoneMatch] != nil else {
        return (response(200, fields), HTTPBody("old"))
      }
      await gate.wait()
      return (response(304, fields), HTTPBody())
    }
    let asking = Task { try await fixture.cache.send(asked, tags: ["listing"]).body.bytes() }
    try await fixture.origin.wait(for: 2)
    try await ending.end(cache(fixture, isOther: isOther))
    await gate.open()
    #expect(try await asking.value == Array("old".utf8))
    #expect(fixture.origin.count == 3, "once more without a condition")
    #expect(try fixture.store.namespace("http").count() == 0)
  }

  @Test func `a POST that names itself is stored, though it ends what its URI had`() async throws {
    let fixture = try Fixture(Origin.page("max-age=1000", [("Content-Location", "/a")]))
    _ = try await fixture.cache.send(request("POST")).body.bytes()
    #expect(try await isHit(fixture))
  }

  @Test func `responses are removed by a predicate, such as their date`() async throws {
    let fixture = try Fixture(.page("max-age=1000"))
    for number in 0..<150 { _ = try await fixture.get("/old/\(number)") }
    fixture.clock.advance(by: .seconds(100))
    _ = try await fixture.get("/new")
    try await fixture.store.namespace("http").set("no response", for: "other")
    let removed = try await fixture.cache.removeAll { key, response in
      response.received < start.advanced(by: .seconds(50)) && key.contains("/old/")
    }
    #expect(removed.entries == 150)
    #expect(try fixture.store.namespace("http").count() == 2)
    #expect(try await fixture.get("/new").result.isHit)
  }
}
