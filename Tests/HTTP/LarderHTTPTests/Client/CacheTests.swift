import HTTPTypes
import Larder
import Synchronization
import TestSupport
import Testing

@testable import LarderHTTP

struct CacheTests {
  @Test func `a response is stored as an ordinary entry under its URI`() async throws {
    let fixture = try Fixture(.page("max-age=100", [("ETag", "\"1\""), ("A", "b")]))
    let first = try await fixture.get()
    #expect(first.body == "body" && !first.result.isHit && first.result.isBeingStored)
    #expect(first.result.forwarded == .uriMiss && first.result.originStatus == 200)
    let second = try await fixture.get()
    #expect(second.body == "body" && second.result.isHit && fixture.origin.count == 1)
    #expect(second.result.age == 0 && second.result.remaining == 100)
    let namespace = fixture.store.namespace("http")
    let entry = try #require(try namespace.entry(for: "https://example.com/a"))
    #expect(entry.entityTag == Array("\"1\"".utf8) && entry.size == 4)
    #expect(String(decoding: entry.metadata ?? [], as: UTF8.self).contains("\nA: b\n"))
    #expect(try namespace.value(for: "https://example.com/a") == "body")
  }

  @Test func `an answer as it came says how long it is fresh, if it is stored`() async throws {
    for (control, age, remaining) in [
      ("max-age=100", "0", 100), ("max-age=100", "30", 70), ("max-age=100", "101", -1),
      ("no-store", "0", nil as Int?),
    ] {
      let fixture = try Fixture(.page(control, [("Age", age), ("ETag", "\"1\"")]))
      let result = try await fixture.get().result
      #expect(result.remaining == remaining && result.age == nil && result.reason == nil)
    }
  }

  @Test(arguments: ["no-store", "max-age=10"], ["GET", "POST"])
  func `RFC 9110, 6.6.1: a missing date is added`(control: String, method: String) async throws {
    let fixture = try Fixture(
      Origin { _, number in
        let fields: Pairs = [("Cache-Control", control)]
        return (response(200, fields + (number == 1 ? [] : [("Date", date(-5))])), HTTPBody())
      })
    for expected in [date(0), date(-5)] {
      let result = try await fixture.cache.send(request(method, expected == date(0) ? "/a" : "/b"))
      #expect(result.response.headerFields[values: .date] == [expected])
    }
    let passed = try await fixture.cache.pass(request(method))
    #expect(passed.response.headerFields[values: .date] == [date(-5)])
  }

  @Test func `stale for serving is not expired for purge, reads or a restart`() async throws {
    let page = Origin.page("public, max-age=300, must-revalidate", [("ETag", "\"1\"")])
    let fixture = try await Fixture.filled(page, age: .seconds(301))
    #expect(try fixture.store.purge().entries == 0)
    let again = HTTPCache(in: fixture.store.namespace("http"), over: fixture.origin)
    let result = try await again.send(request())
    #expect(fixture.origin.received.last?.headerFields[.ifNoneMatch] == "\"1\"")
    #expect(result.reason == .validated && result.body.whole == Array("body".utf8))
    fixture.clock.advance(by: .seconds(299))
    #expect(try await fixture.get().result.isHit)
    fixture.clock.advance(by: .days(30))
    #expect(try fixture.store.purge().entries == 1)
  }

  @Test func `a body that another process replaced keeps its own validators`() async throws {
    let fixture = try await Fixture.filled(.page("max-age=0", [("ETag", "\"1\"")]))
    let other = HTTPCache(
      in: fixture.store.namespace("http"),
      over: Origin.page("max-age=9", [("ETag", "\"2\"")], body: "new"))
    fixture.origin.become { _, _ in
      _ = try await other.send(request()).body.bytes()
      return (response(304, [("ETag", "\"1\"")]), HTTPBody())
    }
    _ = try await fixture.get()
    let entry = try #require(
      try fixture.store.namespace("http").entry(for: "https://example.com/a"))
    let body: String? = try fixture.store.namespace("http").value(for: "https://example.com/a")
    #expect(entry.entityTag == Array((body == "new" ? "\"2\"" : "\"1\"").utf8))
  }

  @Test func `a part that comes late does not replace the whole`() async throws {
    let gate = Gate()
    let fields: Pairs = [("Cache-Control", "max-age=100"), ("ETag", "\"1\"")]
    let fixture = try Fixture(
      Origin { request, _ in
        guard request.headerFields.contains(.range) else {
          return (response(200, fields), HTTPBody("body"))
        }
        let part = response(206, fields + [("Content-Range", "bytes 0-1/4")])
        return (part, .steps([{ Array("bo".utf8) }, { await gate.wait(for: nil) }]))
      })
    let slow = try await fixture.cache.send(request([("Range", "bytes=0-1")]))
    #expect(try await fixture.get().body == "body")
    await gate.open()
    #expect(try await slow.body.text() == "bo")
    #expect(try await fixture.get().result.isHit)
  }

  @Test func `an error is passed on if the stored response that could replace it is gone`()
    async throws
  {
    let fixture = try await Fixture.filled(.page("max-age=1, stale-if-error=60"), age: .seconds(2))
    let namespace = fixture.cache.namespace
    fixture.origin.become { _, number in
      if number > 20 { throw Origin.Down() }
      try await namespace.remove("https://example.com/a")
      return (response(503), HTTPBody())
    }
    #expect(try await fixture.get().result.response.status.code == 503)
    #expect(fixture.origin.count == 3)
  }

  @Test(arguments: [
    (2500, Rules()), (5000, Rules(largestValue: 2500)),
    (5000, Rules(limits: Limits(entries: 1), eviction: .refuse)),
  ])
  func `a new response ends the use of the older one even if its body is too long to be stored`(
    largestBody: Int, rules: Rules
  ) async throws {
    let policy = HTTPCachePolicy(largestBody: largestBody)
    let fixture = try Fixture(.page("max-age=100"), policy: policy)
    try fixture.store.declare(rules, for: "http")
    _ = try await fixture.get()
    let fields = [("Cache-Control", "max-age=100"), ("Vary", "Foo")]
    fixture.origin.become(.giving(fields) { .pieces })
    #expect(try await fixture.get("/a", [("Cache-Control", "no-cache")]).body.utf8.count == 5000)
    fixture.origin.become(.page("max-age=100"))
    #expect(try await !fixture.get().result.isHit)
    let (long, head) = ([UInt8](repeating: 1, count: 5000), response(200, fields))
    #expect((try? await fixture.cache.put(head, body: long, for: request())) != true)
    #expect(try fixture.cache.peek(request()) == nil)
  }

  @Test func `an answer reaches the client though a read-only store keeps nothing`() async throws {
    let (directory, clock) = (TemporaryDirectory(), ManualClock())
    let origin = Origin.page("max-age=1, stale-while-revalidate=60")
    let store = try Store(at: directory.path, options: Store.Options(clock: clock))
    _ = try await HTTPCache(in: store.namespace("http"), over: origin).send(request()).body.bytes()
    try store.close()
    clock.advance(by: .seconds(2))
    let same = try Store(at: directory.path, options: Store.Options(readOnly: true, clock: clock))
    let cache = HTTPCache(in: same.namespace("http"), over: origin)
    #expect(try await cache.send(request()).reason == .staleWhileRevalidating)
    #expect(cache.flights.count == 0, "a refresh could store nothing")
    clock.advance(by: .minutes(2))
    for (method, status) in [("GET", 404), ("POST", 200)] {
      origin.become { _, _ in (response(status), HTTPBody()) }
      #expect(try await cache.send(request(method)).response.status.code == status)
    }
  }

  @Test func `a 304 in place of a new response that is too long ends the older one`() async throws {
    let (control, policy) = (("Cache-Control", "max-age=100"), HTTPCachePolicy(largestBody: 2500))
    let page = Origin.page("max-age=100", [("ETag", "\"1\"")])
    let fixture = try await Fixture.filled(page, policy: policy)
    fixture.origin.become(.giving([control, ("ETag", "\"2\"")]) { .pieces })
    let fields = [("Cache-Control", "no-cache"), ("If-None-Match", "\"2\"")]
    #expect(try await fixture.get("/a", fields).result.response.status.code == 304)
    #expect(try await !fixture.get().result.isHit)
  }

  @Test func `an error that a stale response replaces is reported`() async throws {
    let reports = Atomic(0)
    let fixture = try Fixture(
      .page("max-age=1"), report: { _ in reports.add(1, ordering: .relaxed) })
    _ = try await fixture.get()
    fixture.clock.advance(by: .seconds(2))
    fixture.origin.become(Origin())
    #expect(try await fixture.get().result.reason == .staleDisconnected)
    #expect(reports.load(ordering: .relaxed) == 1)
  }

  @Test func `RFC 9111, 7: secrets are neither in keys nor metadata nor values`() async throws {
    for partition in [[], [HTTPField.Name("X-API-Key")!]] as [Set<HTTPField.Name>] {
      let fixture = try Fixture(
        .page(
          "max-age=100",
          [("Set-Cookie", "s=geheim"), ("Vary", "Cookie, X-API-Key"), ("Vary", "X-Session")]),
        policy: HTTPCachePolicy(partitionFields: partition))
      let first = try await fixture.get(
        "/a?key=geheim",
        [
          ("Authorization", "geheim"), ("Cookie", "geheim"), ("X-API-Key", "geheim"),
          ("X-Session", "geheim"),
        ])
      #expect(first.result.response.headerFields[.setCookie] == "s=geheim")
      var seen = 0
      try fixture.store.namespace("http").scan { entry, value in
        seen += 1
        #expect(entry.key.string?.contains("geheim") == false)
        #expect(!String(decoding: entry.metadata ?? [], as: UTF8.self).contains("geheim"))
        #expect(!entry.tags.contains { $0.contains("geheim") })
        return true
      }
      #expect(seen == 1)
    }
  }

  @Test func `metadata of something else is not believed, and makes way`() async throws {
    let fixture = try Fixture(.page("max-age=100"))
    try await fixture.store.namespace("http").set("foreign", for: "https://example.com/a")
    #expect(try await fixture.get().body == "body")
    #expect(try await fixture.get().result.isHit)
  }

  @Test func `a response is put and looked at by its request`() async throws {
    let fixture = try Fixture(Origin())
    #expect(try fixture.cache.peek(request()) == nil)
    let fields: Pairs = [("Cache-Control", "max-age=10"), ("ETag", "\"1\"")]
    #expect(
      try await fixture.cache.put(response(200, fields), body: Array("put".utf8), for: request()))
    let found = try #require(try fixture.cache.peek(request()))
    #expect(try await found.body.bytes() == Array("put".utf8) && found.remaining == 10)
    #expect(try fixture.cache.peek(request("POST")) == nil)
    #expect(try await fixture.get().body == "put" && fixture.origin.count == 0)
    fixture.clock.advance(by: .seconds(20))
    #expect(try fixture.cache.peek(request())?.remaining == -10)
    let part = try fixture.cache.peek(request([("Range", "bytes=1-")]))
    #expect(try await part?.body.bytes() == Array("ut".utf8))
    for (fields, method) in [([("Cache-Control", "no-store")], "GET"), (fields, "POST")] {
      let isStored = try await fixture.cache.put(
        response(200, fields), body: [], for: request(method, "/b"))
      #expect(!isStored)
    }
  }

  @Test func `a response that is put replaces the earlier one, whatever its Vary and its date`()
    async throws
  {
    let fixture = try Fixture(Origin())
    for (body, more) in [("A", []), ("B", [("Vary", "Accept"), ("Date", date(-5))])]
      as [(String, Pairs)]
    {
      let head = response(200, [("Cache-Control", "max-age=100")] + more)
      #expect(try await fixture.cache.put(head, body: Array(body.utf8), for: request()))
    }
    #expect(try await fixture.cache.peek(request())?.body.text() == "B")
  }

  @Test func `a call may have a policy of its own`() async throws {
    let fixture = try Fixture(.page([]))
    let patient = fixture.cache.with {
      $0 = HTTPCachePolicy(rules: [HTTPCacheRule("*", defaultFreshness: .seconds(10))])
    }
    _ = try await patient.send(request()).body.bytes()
    #expect(try await fixture.get().result.isHit, "both have the same responses")
    #expect(fixture.cache.statistics == patient.statistics)
    let alice: Pairs = [("Authorization", "alice")]
    _ = try await patient.send(request("GET", "/b", alice)).body.bytes()
    #expect(try await fixture.get("/b", alice).result.isHit, "credentials have the same digests")
  }
}
