import HTTPTypes
import Larder
import LarderHTTP
import NIOCore
import Testing

@testable import ProxyServer

/// Many clients that read slowly: what the proxy holds for all of them together is bounded, and each gets the right body.
@Suite(.serialized) struct SlowReaderTests {
  private static let clients = 20
  /// More than the system holds for a connection.
  private static let body = (0..<8_000_000).map { UInt8(truncatingIfNeeded: $0 &* 31 &+ $0 >> 9) }

  private static func bench(_ control: String, buffered: Int) async throws -> Bench {
    var limits = ProxyLimits()
    limits.connections = 32
    limits.buffered = buffered
    return try await Bench(
      RawOrigin { _, _ in
        let head = "HTTP/1.1 200 OK\r\nCache-Control: \(control)\r\nContent-Length: \(body.count)"
        return [Array((head + "\r\n\r\n").utf8) + body]
      }, limits: limits)
  }

  /// Clients that have read nothing, once the proxy waits for each of them.
  private static func slowClients(_ bench: Bench) async throws -> [RawClient] {
    var clients: [RawClient] = []
    for _ in 0..<Self.clients {
      let client = try await RawClient(bench, receiveBuffer: 4096)
      try await client.send("GET /a HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
      clients.append(client)
    }
    try await waitUntil { try await waiting(bench).count { $0 > 0 } == Self.clients }
    return clients
  }

  /// How much the proxy holds for each client that does not take it.
  private static func waiting(_ bench: Bench) async throws -> [Int] {
    var counts: [Int] = []
    for connection in bench.server.connections.all {
      counts.append(await connection.waitingBytes())
    }
    return counts
  }

  private static func expectBodies(_ clients: [RawClient]) async throws {
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

  @Test func `hits for many slow readers stay below the limit of all`() async throws {
    let limit = 1_000_000
    let bench = try await Self.bench("max-age=1000", buffered: limit)
    #expect(try await bench.get().body.utf8.count > 0)
    let clients = try await Self.slowClients(bench)
    #expect(bench.origin.count == 1, "all of them are hits")
    #expect(try await Self.waiting(bench).reduce(0, +) < limit)
    // Others are answered meanwhile.
    let other = try await RawClient(bench)
    try await other.send("GET /a HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
    try await Self.expectBodies([other])
    try await Self.expectBodies(clients)
    try await waitUntil { bench.server.held.count == 0 }
    try await bench.stop()
  }

  @Test func `responses that pass to many slow readers stay below the limit of all`() async throws {
    let limit = 1_000_000
    let bench = try await Self.bench("no-store", buffered: limit)
    let clients = try await Self.slowClients(bench)
    #expect(bench.origin.count == Self.clients)
    #expect(try await Self.waiting(bench).reduce(0, +) < limit)
    #expect(bench.server.held.count < limit)
    try await Self.expectBodies(clients)
    try await waitUntil { bench.server.held.count == 0 }
    try await bench.stop()
  }

  /// The same load without a limit to speak of: it would exceed that of the tests above.
  @Test func `with room each slow reader has a large piece`() async throws {
    let bench = try await Self.bench("max-age=1000", buffered: 64_000_000)
    #expect(try await bench.get().body.utf8.count > 0)
    let clients = try await Self.slowClients(bench)
    #expect(try await Self.waiting(bench).reduce(0, +) > 500_000)
    for client in clients { client.close() }
    try await waitUntil { bench.server.held.count == 0 }
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
