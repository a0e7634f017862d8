import HTTPTypes
import Larder
import TestSupport
import Testing

@testable import LarderHTTP

struct LongBodyFaultTests {
  @Test func `a body that would take most of a store passes through`() async throws {
    let bytes = LongBodyTests.body(700_000)
    let fixture = try Fixture(LongBodyTests.origin(bytes))
    try fixture.store.declare(Rules(limits: Limits(bytes: 1_000_000)), for: "http")
    let stored = response(200, LongBodyTests.fresh)
    #expect(try await fixture.cache.put(stored, body: [1], for: request("GET", "/b")))
    #expect(try await fixture.cache.send(request()).body.bytes() == bytes)
    try await waitUntil { try LongBodyTests.count(fixture) == 1 }
    #expect(try await fixture.cache.send(request("GET", "/b")).isHit)
  }

  @Test func `eviction takes a response and its body together`() async throws {
    let bytes = LongBodyTests.body(400_000)
    let fixture = try Fixture(LongBodyTests.origin(bytes))
    try fixture.store.declare(Rules(limits: Limits(bytes: 1_000_000)), for: "http")
    for number in 0..<12 {
      let result = try await fixture.cache.send(request("GET", "/\(number)"))
      #expect(try await result.body.bytes() == bytes)
    }
    var stored = 0
    for number in 0..<12 {
      guard let result = try fixture.cache.peek(request("GET", "/\(number)")) else { continue }
      stored += 1
      #expect(try await result.body.bytes() == bytes)
    }
    #expect(stored > 0)
    #expect(try LongBodyTests.count(fixture) == 4 * stored)
  }

  @Test(arguments: [0, 2])
  func `a body without one of its parts is a miss, and is stored again`(number: Int) async throws {
    let bytes = LongBodyTests.body(1_000_000)
    let fixture = try Fixture(LongBodyTests.origin(bytes))
    let namespace = fixture.store.namespace("http")
    #expect(try await fixture.cache.send(request()).body.bytes() == bytes)
    let part = try #require(
      try namespace.keys(prefix: "body ").first { $0.string?.hasSuffix(" \(number)") == true })
    try await namespace.set([1, 2, 3], for: part)
    if number > 0 {
      let cut = try await fixture.cache.send(request())
      await #expect(throws: HTTPCacheError.bodyGone) { try await cut.body.bytes() }
    }
    let again = try await fixture.cache.send(request())
    #expect(!again.isHit)
    #expect(try await again.body.bytes() == bytes)
  }

  @Test func `a reader of a replaced body gets the rest although the store is busy`() async throws {
    let directory = TemporaryDirectory()
    let clock = ManualClock(now: SystemClock().now)
    let options = Store.Options(clock: clock, lockTimeout: .milliseconds(200))
    let store = try Store(at: directory.path, options: options)
    let old = LongBodyTests.body(1_000_000)
    let cache = HTTPCache(in: store.namespace("http"), over: LongBodyTests.origin(old))
    #expect(try await cache.send(request()).body.bytes() == old)
    let slow = try await cache.send(request())
    #expect(slow.isHit)
    #expect(try await cache.put(response(200, LongBodyTests.fresh), body: [1], for: request()))
    clock.advance(by: BodyParts.grace / 4 * 3)
    let other = try PeerProcess("hold-write", directory.path, saying: "writing")
    #expect(try await slow.body.bytes() == old)
    try other.endInput()
    #expect(other.line() == "done")
    try store.close()
  }

  @Test func `a cancelled task still removes the parts of a body that is not stored`() async throws
  {
    let fixture = try Fixture(Origin())
    let permit = fixture.cache.responses.permits.issue([], in: fixture.store)
    let writer = try BodyWriter(in: fixture.cache.namespace, largest: .max, permit: permit)
    #expect(try await writer.write([1], 0))
    let discarding = Task {
      while !Task.isCancelled { await Task.yield() }
      try await writer.discard()
    }
    discarding.cancel()
    try await discarding.value
    #expect(try LongBodyTests.count(fixture) == 0)
  }

  @Test(arguments: ["-1", "0", "9999999999999999", "x", "99999999999999999999999"])
  func `a forged length or part is a miss`(number: String) async throws {
    for lines in ["length \(number)\nparts 1000\n", "length 100000\nparts \(number)\n"] {
      let head =
        "larder-http/2 200 OK\nrequested 1\nreceived 1\nbody 1\n\(lines)\n"
        + "Cache-Control: max-age=99999999999\n"
      let fixture = try Fixture(.page("max-age=1"))
      try await fixture.store.namespace("http").set(
        [], for: "https://example.com/a", .with(metadata: Array(head.utf8)))
      #expect(try await fixture.get().body == "body")
    }
  }

  @Test func `a process that is killed half way leaves nothing after maintenance`() async throws {
    let directory = TemporaryDirectory()
    let peer = try PeerProcess("http", directory.path, saying: "open")
    try peer.tell("GET /endless")
    let clock = ManualClock(now: SystemClock().now)
    let store = try Store(at: directory.path, options: Store.Options(clock: clock))
    let namespace = store.namespace("http")
    try await waitUntil { try namespace.count() >= 4 }
    peer.kill()
    clock.advance(by: BodyParts.lease + .seconds(60))
    #expect(try namespace.entry(for: "https://example.com/endless") == nil)
    _ = try store.purge()
    #expect(try namespace.count() == 0)
    #expect(try store.verify().faults == [])
  }
}

struct BodyTests {
  @Test func `RFC 9111, 3.3: a body that breaks off is passed on, and not stored`() async throws {
    let fixture = try Fixture(
      .giving([("Cache-Control", "max-age=100"), ("Content-Length", "10")]) {
        .steps([{ [1, 2, 3] }, { throw Origin.Down() }])
      })
    let result = try await fixture.cache.send(request())
    var pieces: [[UInt8]] = []
    await #expect(throws: Origin.Down.self) {
      for try await piece in result.body { pieces.append(piece) }
    }
    #expect(pieces == [[1, 2, 3]])
    #expect(try fixture.store.namespace("http").count() == 0)
  }

  @Test func `a response to a request without a host is not announced as stored`() async throws {
    let fixture = try Fixture(.giving([("Cache-Control", "max-age=100")]) { .pieces })
    let result = try await fixture.cache.send(
      HTTPRequest(method: .get, scheme: nil, authority: nil, path: "/a"))
    #expect(!result.isBeingStored && result.remaining == nil)
    #expect(try await result.body.bytes().count == 5_000)
  }
}
