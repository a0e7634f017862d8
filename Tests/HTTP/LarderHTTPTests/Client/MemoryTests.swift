import HTTPTypes
import Larder
import Synchronization
import TestSupport
import Testing

@testable import LarderHTTP

struct MemoryTests {
  private static let fresh: Pairs = [("Cache-Control", "max-age=100")]

  /// An origin that sends the body in pieces of 10,000 bytes, with or without `Content-Length`.
  private static func origin(
    _ bytes: [UInt8], isAnnounced: Bool,
    _ meanwhile: @escaping @Sendable (Int) async throws -> Void = { _ in }
  ) -> Origin {
    let length = isAnnounced ? [("Content-Length", "\(bytes.count)")] : []
    return .giving(fresh + length) { LongBodyTests.pieces(bytes, of: 10_000, meanwhile) }
  }

  @Test(arguments: [1, 65_535, 65_536, 65_537, 500_000], [true, false])
  func `a hit comes in pieces that are the whole body`(size: Int, isAnnounced: Bool) async throws {
    let bytes = LongBodyTests.body(size)
    let fixture = try Fixture(Self.origin(bytes, isAnnounced: isAnnounced))
    #expect(try await fixture.cache.send(request()).body.bytes() == bytes)
    let hit = try await fixture.cache.send(request())
    #expect(hit.isHit && hit.body.count == size && (hit.body.whole == nil) == (size > 65_536))
    var pieces: [[UInt8]] = []
    for try await piece in hit.body { pieces.append(piece) }
    #expect(pieces.allSatisfy { $0.count <= 65_536 } && pieces.flatMap { $0 } == bytes)
    let part = try await fixture.cache.send(request([("Range", "bytes=-\(size)")]))
    #expect(part.response.status.code == 206)
    #expect(try await part.body.bytes() == bytes)
    #expect(fixture.cache.buffers.reserved == 0)
  }

  @Test(arguments: [60_000, 500_000])
  func `what is given back is read again`(size: Int) async throws {
    let bytes = LongBodyTests.body(size)
    let fixture = try Fixture(Self.origin(bytes, isAnnounced: true))
    #expect(try await fixture.cache.send(request()).body.bytes() == bytes)
    let hit = try await fixture.cache.send(request([("Range", "bytes=10-")]))
    var pieces = hit.body.makeAsyncIterator()
    #expect(await !pieces.rewind(by: 1))
    var read: [UInt8] = []
    var surplus = 1
    while let piece = try await pieces.next() {
      read += piece
      let count = min(surplus, piece.count / 2)
      for wrong in [-1, size] { #expect(await !pieces.rewind(by: wrong)) }
      guard count > 0, await pieces.rewind(by: count) else { continue }
      read.removeLast(count)
      surplus = surplus * 5 % 40_000
    }
    #expect(read.elementsEqual(bytes[10...]))
    var once = HTTPBody(bytes).makeAsyncIterator()
    #expect(try await once.next() == bytes)
    #expect(await !once.rewind(by: 1))
  }

  @Test func `what is given back of a body that was replaced is gone`() async throws {
    let bytes = LongBodyTests.body(60_000)
    let fixture = try Fixture(Self.origin(bytes, isAnnounced: true))
    #expect(try await fixture.cache.send(request()).body.bytes() == bytes)
    var pieces = try await fixture.cache.send(request()).body.makeAsyncIterator()
    #expect(try await pieces.next()?.count == bytes.count)
    let newer = response(200, Self.fresh)
    #expect(try await fixture.cache.put(newer, body: bytes.reversed(), for: request()))
    #expect(await pieces.rewind(by: 10_000))
    await #expect(throws: HTTPCacheError.self) { try await pieces.next() }
  }

  @Test func `what is given back of a body on its way into the store is read again`() async throws {
    let bytes = LongBodyTests.body(700_000)
    let fixture = try Fixture(Self.origin(bytes, isAnnounced: true))
    var pieces = try await fixture.cache.send(request()).body.makeAsyncIterator()
    var read: [UInt8] = []
    var round = 0
    while let piece = try await pieces.next() {
      read += piece
      round += 1
      if round % 2 == 0, await pieces.rewind(by: piece.count / 2) {
        read.removeLast(piece.count / 2)
      }
    }
    #expect(read.elementsEqual(bytes) && round > 2)
    #expect(fixture.cache.buffers.reserved == 0)
  }

  @Test func `a slow reader outlives a validation`() async throws {
    let bytes = LongBodyTests.body(300_000)
    let fixture = try Fixture(LongBodyTests.origin(bytes))
    #expect(try await fixture.cache.send(request()).body.bytes() == bytes)
    var pieces = try await fixture.cache.send(request()).body.makeAsyncIterator()
    var read = try #require(try await pieces.next())
    fixture.clock.advance(by: .seconds(20_000))
    let confirmed = try await fixture.cache.send(request())
    #expect(confirmed.reason == .validated && confirmed.isStored)
    #expect(try await confirmed.body.bytes() == bytes)
    while let piece = try await pieces.next() { read += piece }
    #expect(read == bytes)
  }

  @Test func `a slow client reads the rest from the store, and no memory is held`() async throws {
    let bytes = LongBodyTests.body(1_000_000)
    let fixture = try Fixture(Self.origin(bytes, isAnnounced: true))
    var pieces = try await fixture.cache.send(request()).body.makeAsyncIterator()
    var read = try #require(try await pieces.next())
    try await waitUntil { try fixture.store.namespace("http").count() == 6 }
    try await waitUntil { fixture.cache.buffers.reserved < 100_000 }
    while let piece = try await pieces.next() { read += piece }
    #expect(read == bytes)
  }

  @Test(arguments: [true, false])
  func `without room a body passes at client speed, unstored`(isAnnounced: Bool) async throws {
    let bytes = LongBodyTests.body(400_000)
    let taken = Mutex(0)
    let fixture = try Fixture(
      Self.origin(bytes, isAnnounced: isAnnounced) { offset in
        taken.withLock { $0 = min(bytes.count, offset + 10_000) }
      }, policy: HTTPCachePolicy(bufferLimit: 50_000))
    var pieces = try await fixture.cache.send(request()).body.makeAsyncIterator()
    var read = try #require(try await pieces.next())
    // The bytes that the cache has taken and the client has not read may be at most the budget and one more piece.
    #expect(taken.withLock { $0 } <= read.count + 70_000)
    while let piece = try await pieces.next() {
      read += piece
      #expect(taken.withLock { $0 } <= read.count + 70_000)
    }
    #expect(read == bytes)
    try await waitUntil { fixture.cache.buffers.reserved == 0 }
    #expect(try fixture.store.namespace("http").count() == 0)
  }

  @Test func `all bodies together stay within the budget`() async throws {
    let policy = HTTPCachePolicy(bufferLimit: 250_000)
    let bytes = LongBodyTests.body(100_000)
    let fixture = try Fixture(Self.origin(bytes, isAnnounced: true), policy: policy)
    var results: [HTTPCacheResult] = []
    var most = 0
    for number in 0..<20 {
      results.append(try await fixture.cache.send(request("GET", "/\(number)")))
      most = max(most, fixture.cache.buffers.reserved)
    }
    #expect(most <= 250_000)
    for result in results { #expect(try await result.body.bytes() == bytes) }
    results = []
    try await waitUntil { fixture.cache.buffers.reserved == 0 }
  }

  @Test func `a client that goes away leaves nothing reserved`() async throws {
    let fixture = try Fixture(Self.origin(LongBodyTests.body(500_000), isAnnounced: false))
    for number in 0..<5 {
      var pieces = try await fixture.cache.send(request("GET", "/\(number)")).body
        .makeAsyncIterator()
      _ = try await pieces.next()
    }
    try await waitUntil { fixture.cache.buffers.reserved == 0 }
    try await waitUntil { try fixture.store.namespace("http").count() == 5 * 4 }
  }

  @Test func `the time of a request begins again with each piece of its body`() async throws {
    let clock = ManualClock()
    let slow = LongBodyTests.pieces([0, 1, 2, 3, 4], of: 1) {
      if $0 < 5 { clock.advance(by: .seconds(14)) }
    }
    let echo = Echo([])
    let fixture = try Fixture(over: echo, clock: clock)
    let result = try await fixture.cache.send(request("POST", "/a"), body: slow)
    #expect(result.response.status.code == 200 && echo.bodies == ["\0\u{1}\u{2}\u{3}\u{4}"])
  }
}
