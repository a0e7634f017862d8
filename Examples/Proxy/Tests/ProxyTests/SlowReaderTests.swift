import HTTPTypes
import Larder
import LarderHTTP
import NIOCore
import Testing

@testable import ProxyServer

/// Many clients that read slowly. The proxy holds a bounded number of bytes for all clients, and each gets the right body.
@Suite(.serialized) struct SlowReaderTests {
  private static let clients = 60
  private static let limit = 1_000_000

  private static func body(_ size: Int) -> [UInt8] {
    (0..<size).map { UInt8(truncatingIfNeeded: $0 &* 31 &+ $0 >> 9) }
  }

  private static func bench(
    _ size: Int, _ control: String, buffered: Int = limit, isChunked: Bool = false
  ) async throws -> Bench {
    var limits = ProxyLimits()
    limits.connections = clients + 4
    limits.buffered = buffered
    let body = body(size)
    let length = isChunked ? "Transfer-Encoding: chunked" : "Content-Length: \(size)"
    let head = "HTTP/1.1 200 OK\r\nCache-Control: \(control)\r\n\(length)\r\n\r\n"
    return try await Bench(
      RawOrigin { _, _ in
        [Array(head.utf8) + (isChunked ? body.asChunk + .lastChunk : body)]
      }, limits: limits)
  }

  /// Connects clients that read nothing, with small buffers in the system. Returns when the proxy holds bytes for each client.
  private static func slowClients(_ bench: Bench) async throws -> [RawClient] {
    var clients: [RawClient] = []
    try await waitUntil { bench.server.connections.count == 0 }
    for number in 1...Self.clients {
      clients.append(try await RawClient(bench, receiveBuffer: 4096))
      try await waitUntil { bench.server.connections.count == number }
    }
    for connection in bench.server.connections.all {
      try await connection.channel.setOption(.socketOption(.so_sndbuf), value: 4096).get()
    }
    for client in clients {
      try await client.send("GET /a HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
    }
    try await waitUntil { await waiting(bench).count { $0 > 0 } == Self.clients }
    return clients
  }

  /// The number of bytes that the proxy holds for each client.
  private static func waiting(_ bench: Bench) async -> [Int] {
    var counts: [Int] = []
    for connection in bench.server.connections.all {
      counts.append(await connection.waitingBytes())
    }
    return counts
  }

  private static func expectBodies(_ clients: [RawClient], _ body: [UInt8]) async throws {
    try await withThrowingTaskGroup(of: Bool.self) { group in
      for client in clients {
        group.addTask {
          var bytes: [UInt8] = []
          while let more = try await client.connection.read() {
            bytes += Array(more.readableBytesView)
          }
          client.close()
          return bytes.suffix(body.count).elementsEqual(body)
        }
      }
      for try await isRight in group { #expect(isRight) }
    }
  }

  @Test(arguments: [60_000, 400_000])
  func `hits for many slow readers stay below the limit of all`(size: Int) async throws {
    let bench = try await Self.bench(size, "max-age=1000")
    for _ in 0..<2 { #expect(try await bench.get().body.utf8.count > 0) }
    let clients = try await Self.slowClients(bench)
    #expect(bench.origin.count == 1, "all of them are hits")
    #expect(await Self.waiting(bench).reduce(0, +) < Self.limit)
    #expect(!bench.server.held.hasRoom)
    // While the other clients read nothing, the proxy must answer this client.
    let other = try await RawClient(bench)
    try await other.send("GET /a HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
    try await Self.expectBodies([other], Self.body(size))
    try await Self.expectBodies(clients, Self.body(size))
    try await waitUntil { bench.server.held.count == 0 }
    try await bench.stop()
  }

  @Test(arguments: [false, true])
  func `responses that pass to many slow readers stay below the limit of all`(
    isChunked: Bool
  ) async throws {
    let size = 400_000
    let bench = try await Self.bench(size, "no-store", isChunked: isChunked)
    let clients = try await Self.slowClients(bench)
    #expect(bench.origin.count == Self.clients)
    #expect(await Self.waiting(bench).reduce(0, +) < Self.limit)
    #expect(bench.server.held.count < Self.limit)
    if isChunked {
      for client in clients { client.close() }
    } else {
      try await Self.expectBodies(clients, Self.body(size))
    }
    try await waitUntil { bench.server.held.count == 0 }
    try await bench.stop()
  }

  /// With this higher limit, the proxy holds more bytes than the limit of the other tests would allow.
  @Test(arguments: [60_000, 400_000])
  func `with room each slow reader has a large piece`(size: Int) async throws {
    let bench = try await Self.bench(size, "max-age=1000", buffered: 64_000_000)
    #expect(try await bench.get().body.utf8.count > 0)
    let clients = try await Self.slowClients(bench)
    #expect(await Self.waiting(bench).reduce(0, +) > Self.limit)
    for client in clients { client.close() }
    try await waitUntil { bench.server.held.count == 0 }
    try await bench.stop()
  }

  @Test func `a connection that waits for another request holds nothing`() async throws {
    let body = Self.body(60_000)
    let bench = try await Bench(
      RawOrigin(isPersistent: true) { _, _ in
        [Array("HTTP/1.1 200 OK\r\nContent-Length: \(body.count)\r\n\r\n".utf8) + body]
      })
    for path in ["/a", "/b", "/c"] {
      #expect(try await bench.get(path).body.utf8.count > 0)
      try await waitUntil { bench.server.held.count == 0 }
    }
    #expect(bench.origin.connectionCount == 1)
    try await bench.stop()
  }

  @Test func `the limit leaves each connection a small piece`() {
    let usual = HeldBytes(ProxyLimits())
    #expect(usual.smallPiece == 4096 && usual.limit > 50_000_000 && usual.hasRoom)
    let crowd = HeldBytes(total: 64_000_000, connections: 20_000)
    #expect(crowd.smallPiece == 266 && crowd.limit > 0)
    let none = HeldBytes(total: 0, connections: 10)
    #expect(none.smallPiece == 256 && !none.hasRoom && !none.reserve(1) && none.count == 0)
    #expect(usual.reserve(usual.limit) && !usual.reserve(1) && !usual.hasRoom)
    usual.release(usual.limit)
    #expect(usual.hasRoom)
  }
}
