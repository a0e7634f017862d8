import HTTPTypes
import Larder
import Synchronization
import TestSupport
import Testing

@testable import LarderHTTP

struct LongBodyTests {
  static let fresh: Pairs = [("Cache-Control", "max-age=10000"), ("ETag", "\"1\"")]

  static func body(_ size: Int, seed: UInt8 = 0) -> [UInt8] {
    (0..<size).map { UInt8(truncatingIfNeeded: $0 &* 31 &+ $0 >> 9) &+ seed }
  }

  /// The body in pieces. `meanwhile` runs before each piece and gets the number of bytes before that piece.
  static func pieces(
    _ bytes: [UInt8], of size: Int = 50_000,
    _ meanwhile: @escaping @Sendable (Int) async throws -> Void = { _ in }
  ) -> HTTPBody {
    let rest = Mutex(bytes[...])
    return HTTPBody(next: {
      try await meanwhile(bytes.count - rest.withLock { $0.count })
      return rest.withLock { rest in
        let piece = Array(rest.prefix(size))
        rest = rest.dropFirst(piece.count)
        return piece.isEmpty ? nil : piece
      }
    })
  }

  static func origin(
    _ bytes: [UInt8], _ meanwhile: @escaping @Sendable (Int) async throws -> Void = { _ in }
  ) -> Origin {
    Origin { request, _ in
      request.headerFields.contains(.ifNoneMatch)
        ? (response(304, fresh), HTTPBody()) : (response(200, fresh), pieces(bytes, meanwhile))
    }
  }

  static func count(_ fixture: Fixture) throws -> Int {
    try fixture.store.namespace("http").count()
  }

  @Test func `a body of over 64 MB is stored while it comes, in bounded memory`() async throws {
    let (piece, count) = (1 << 16, 1_050)
    let next = Atomic(0)
    let fixture = try Fixture(
      .giving(Self.fresh) {
        HTTPBody(next: {
          let number = next.add(1, ordering: .relaxed).oldValue
          guard number < count else { return nil }
          return [UInt8](repeating: UInt8(truncatingIfNeeded: number), count: piece)
        })
      })
    func read(_ body: HTTPBody) async throws -> Int {
      var (size, most) = (0, 0)
      for try await bytes in body {
        #expect(bytes.first == UInt8(truncatingIfNeeded: size / piece) && bytes.count == piece)
        size += bytes.count
        most = max(most, fixture.cache.buffers.reserved)
      }
      #expect(most <= 1 << 20)
      return size
    }
    let first = try await fixture.cache.send(request())
    #expect(first.isBeingStored)
    #expect(try await read(first.body) == count * piece)
    let hit = try await fixture.cache.send(request())
    #expect(hit.isHit && hit.body.count == count * piece)
    #expect(try await read(hit.body) == count * piece)
    let last = count * piece - 1
    let part = try await fixture.cache.send(request([("Range", "bytes=\(last)-")]))
    #expect(try await part.body.bytes() == [UInt8(truncatingIfNeeded: count - 1)])
    #expect(fixture.cache.buffers.reserved == 0 && fixture.origin.count == 1)
  }

  @Test func `a HEAD renews a stored body that is longer than the memory for bodies`() async throws
  {
    let body = Self.body(700_000)
    let fields: Pairs = [
      ("Cache-Control", "max-age=10"), ("ETag", "\"1\""), ("Content-Length", "700000"),
    ]
    let origin = Origin.giving(fields) { Self.pieces(body) }
    let fixture = try Fixture(origin, policy: HTTPCachePolicy(bufferLimit: 600_000))
    #expect(try await !fixture.isHit(request()))
    fixture.clock.advance(by: .seconds(11))
    origin.become { _, _ in (response(200, fields), HTTPBody()) }
    #expect(try await !fixture.isHit(request("HEAD")))
    #expect(try await fixture.isHit(request()) && fixture.origin.count == 2)
  }

  @Test(arguments: [65_537, BodyParts.usualSize, BodyParts.usualSize + 1, 3 * BodyParts.usualSize])
  func `every length leads back to the same bytes`(size: Int) async throws {
    let bytes = Self.body(size)
    let fixture = try Fixture(Self.origin(bytes))
    #expect(try await fixture.cache.send(request()).body.bytes() == bytes)
    #expect(try await fixture.cache.send(request()).body.bytes() == bytes)
    let all = 0..<size
    for bounds in [
      (0, 1), (65_530, 65_537), (size - 70_000, size), (BodyParts.usualSize - 1, size),
    ] {
      let range = all.clamped(to: bounds.0..<max(bounds.0, bounds.1))
      if range.isEmpty { continue }
      let fields = [("Range", "bytes=\(range.lowerBound)-\(range.upperBound - 1)")]
      let part = try await fixture.cache.send(request(fields))
      #expect(try await part.body.bytes() == Array(bytes[range]))
    }
    // One commit stores the response and its last part, so all parts are there. The response and `body ID` are 2 more entries.
    #expect(try Self.count(fixture) == 2 + (size + BodyParts.usualSize - 1) / BodyParts.usualSize)
    let stored = response(200, Self.fresh)
    #expect(try await fixture.cache.put(stored, body: bytes, for: request("GET", "/b")))
    #expect(try await fixture.cache.send(request("GET", "/b")).body.bytes() == bytes)
  }

  @Test func `a body that breaks off leaves nothing, once its client has read it`() async throws {
    let bytes = Self.body(1_000_000)
    let fixture = try Fixture(Self.origin(bytes) { if $0 == 900_000 { throw Origin.Down() } })
    var pieces = try await fixture.cache.send(request()).body.makeAsyncIterator()
    var read = try #require(try await pieces.next())
    try await waitUntil { try Self.count(fixture) == 4 }
    #expect(try fixture.cache.peek(request()) == nil)
    await #expect(throws: Origin.Down.self) {
      while let piece = try await pieces.next() { read += piece }
    }
    #expect(read == Array(bytes[..<900_000]))
    try await waitUntil { try Self.count(fixture) == 0 }
    #expect(fixture.cache.buffers.reserved == 0)
  }

  @Test func `a body whose client and origin both go away leaves nothing`() async throws {
    let bytes = Self.body(1_000_000)
    let gate = Gate()
    let fixture = try Fixture(
      Self.origin(bytes) {
        guard $0 == 900_000 else { return }
        await gate.wait()
        throw Origin.Down()
      })
    do {
      var pieces = try await fixture.cache.send(request()).body.makeAsyncIterator()
      _ = try await pieces.next()
    }
    try await waitUntil { try Self.count(fixture) == 4 }
    await gate.open()
    try await waitUntil { try Self.count(fixture) == 0 }
  }

  @Test func `a body that is invalidated meanwhile is read whole, and not stored`() async throws {
    let bytes = Self.body(1_000_000)
    let gate = Gate()
    let fixture = try Fixture(Self.origin(bytes) { if $0 == 600_000 { await gate.wait() } })
    let result = try await fixture.cache.send(request())
    try await waitUntil { try Self.count(fixture) > 0 }
    try await fixture.cache.removeAll(host: "example.com")
    await gate.open()
    #expect(try await result.body.bytes() == bytes)
    try await waitUntil { try Self.count(fixture) == 0 }
  }

  @Test func `a slow reader of a body that becomes too long for the store reads its parts`()
    async throws
  {
    let bytes = Self.body(2_000_000)
    let fixture = try Fixture(
      Origin { _, number in
        (response(200, Self.fresh), number == 1 ? Self.pieces(bytes) : HTTPBody("short"))
      }, policy: HTTPCachePolicy(largestBody: 1_000_000))
    let slow = try await fixture.cache.send(request())
    // This client waits until the cache stops storing the long body, and then sends a request of its own.
    #expect(try await fixture.get().body == "short")
    var read: [UInt8] = []
    for try await piece in slow.body {
      read += piece
      guard read.count < 700_000 else { continue }
      try fixture.purge(after: BodyParts.lease / 5)
    }
    #expect(read == bytes)
  }

  @Test func `a slow reader of a replaced body reads to its end, and then it goes`() async throws {
    let (old, new) = (Self.body(1_000_000), Self.body(500_000, seed: 7))
    let fixture = try Fixture(Self.origin(old))
    #expect(try await fixture.cache.send(request()).body.bytes() == old)
    let slow = try await fixture.cache.send(request())
    #expect(slow.isHit)
    var pieces = slow.body.makeAsyncIterator()
    var read = try #require(try await pieces.next())
    fixture.origin.become { _, _ in (response(200, Self.fresh), Self.pieces(new)) }
    let reload = request([("Cache-Control", "no-cache")])
    #expect(try await fixture.cache.send(reload).body.bytes() == new)
    #expect(try await fixture.cache.send(request()).body.bytes() == new)
    // The reader needs far more time than the lifetime of the replaced parts. After each piece it may pause for two minutes.
    while let piece = try await pieces.next() {
      read += piece
      try fixture.purge(after: .seconds(read.count / 65_536 % 2 == 0 ? 119 : 59))
    }
    #expect(read == old)
    try fixture.purge(after: BodyParts.grace)
    #expect(try Self.count(fixture) == 2 + 2)
    #expect(try await fixture.cache.send(request()).body.bytes() == new)
  }

  @Test func `a reader of a response that expires meanwhile reads to its end`() async throws {
    let bytes = Self.body(1_000_000)
    let fixture = try Fixture(
      .giving([("Cache-Control", "max-age=10, must-revalidate")]) { Self.pieces(bytes) })
    #expect(try await fixture.cache.send(request()).body.bytes() == bytes)
    let slow = try await fixture.cache.send(request())
    #expect(slow.isHit)
    var read: [UInt8] = []
    for try await piece in slow.body {
      read += piece
      try fixture.purge(after: .seconds(20))
    }
    #expect(read == bytes)
    try fixture.purge(after: BodyParts.grace)
    #expect(try Self.count(fixture) == 0)
  }

  @Test func `a variant keeps its body after another variant is replaced`() async throws {
    let (vary, body) = ([("Vary", "Foo")], String(repeating: "x", count: 100_000))
    let fixture = try Fixture(.page(Self.fresh + vary, body: body))
    for value in ["a", "b"] { #expect(try await !fixture.isHit(request([("Foo", value)]))) }
    #expect(fixture.origin.received.last?.headerFields[.ifNoneMatch] == "\"1\"")
    fixture.origin.become(.page("max-age=10000", vary, body: body))
    #expect(try await !fixture.isHit(request([("Foo", "a"), ("Cache-Control", "no-cache")])))
    try fixture.purge(after: BodyParts.grace)
    #expect(try await fixture.isHit(request([("Foo", "b")])))
  }

  @Test func `an unsafe request lets readers read on, and a removal does not`() async throws {
    let bytes = Self.body(1_000_000)
    let fixture = try Fixture(Self.origin(bytes))
    for isLogout in [false, true] {
      #expect(try await fixture.cache.send(request()).body.bytes() == bytes)
      var pieces = try await fixture.cache.send(request()).body.makeAsyncIterator()
      var read = try #require(try await pieces.next())
      if isLogout {
        try await fixture.cache.removeAll(host: "example.com")
        _ = try fixture.store.purge()
        await #expect(throws: HTTPCacheError.bodyGone) { while try await pieces.next() != nil {} }
      } else {
        _ = try await fixture.cache.send(request("POST"))
        #expect(try fixture.cache.peek(request()) == nil)
        while let piece = try await pieces.next() { read += piece }
        #expect(read == bytes)
      }
    }
    try fixture.purge(after: BodyParts.grace)
    #expect(try Self.count(fixture) == 0)
  }

  @Test func `a validation writes the head alone, and the body lives as long`() async throws {
    let bytes = Self.body(1_000_000)
    let policy = HTTPCachePolicy(bufferLimit: 600_000)
    let fixture = try Fixture(Self.origin(bytes), policy: policy)
    #expect(try await fixture.cache.send(request()).body.bytes() == bytes)
    for _ in 0..<5 {
      fixture.clock.advance(by: .days(20))
      let confirmed = try await fixture.cache.send(request())
      #expect(confirmed.reason == .validated && confirmed.isStored)
      #expect(try await confirmed.body.bytes() == bytes)
    }
    try fixture.purge(after: .days(40))
    #expect(try Self.count(fixture) == 0)
  }
}
