import Foundation
import HTTPTypes
import Larder
import LarderHTTP
import NIOCore
import NIOPosix
import Synchronization
import Testing

@testable import ProxyServer

let group = MultiThreadedEventLoopGroup.singleton

/// A server on loopback that answers with given bytes, and counts requests.
final class RawOrigin: Sendable {
  /// The bytes to write. An empty list closes the connection without an answer.
  typealias Answer = @Sendable (MessageHead, [UInt8]) async throws -> [[UInt8]]

  private let heads = Mutex<[MessageHead]>([])
  private let whole = Mutex(0)
  private let write: @Sendable (MessageHead, [UInt8], Connection) async throws -> Void
  private let listener = Mutex<(any Channel)?>(nil)
  private let accepted = Mutex(0)
  private let isPersistent: Bool

  /// - Parameter isPersistent: whether a connection stays open after an answer that is not empty.
  init(isPersistent: Bool = false, _ answer: @escaping Answer) {
    self.isPersistent = isPersistent
    write = { head, body, connection in
      let pieces = try await answer(head, body)
      for piece in pieces { try await connection.write(piece) }
      if pieces.isEmpty { connection.close() }
    }
  }

  /// Answers one request. Sends each part as soon as the stream yields the part.
  init(_ parts: AsyncStream<String>) {
    isPersistent = false
    write = { _, _, connection in
      for await part in parts { try await connection.write(Array(part.utf8)) }
    }
  }

  convenience init(_ text: String) { self.init { _, _ in [Array(text.utf8)] } }

  var received: [MessageHead] { heads.withLock { $0 } }
  var count: Int { received.count }
  /// The number of connections to the origin.
  var connectionCount: Int { accepted.withLock { $0 } }
  /// The number of requests whose whole body has arrived.
  var wholeCount: Int { whole.withLock { $0 } }

  func start() async throws -> Address {
    let channel = try await ServerBootstrap(group: group)
      .childChannelOption(.autoRead, value: false)
      .childChannelInitializer { channel in
        channel.eventLoop.makeCompletedFuture {
          let connection = try Connection(settingUp: channel)
          Task { await self.serve(connection) }
        }
      }
      .bind(host: "127.0.0.1", port: 0).get()
    listener.withLock { $0 = channel }
    return Address(host: "127.0.0.1", port: channel.localAddress?.port ?? 0)
  }

  private func serve(_ connection: Connection) async {
    accepted.withLock { $0 += 1 }
    let reader = MessageReader(connection)
    do {
      repeat {
        guard let head = try await reader.head(isLenient: false) else { break }
        heads.withLock { $0.append(head) }
        reader.begin(Framing(ofRequest: head.fields) ?? .length(0))
        var body: [UInt8] = []
        while let piece = try await reader.piece() { body += piece }
        whole.withLock { $0 += 1 }
        try await write(head, body, connection)
      } while isPersistent
    } catch {
      // Ignores errors, because a client may close its connection early. The test checks the received bytes instead.
    }
    connection.close()
  }

  func stop() async throws {
    try await listener.withLock { $0 }?.close()
  }
}

/// A proxy, the origin behind it, and requests to the proxy.
struct Bench {
  let origin: RawOrigin
  let server: ProxyServer
  let store: Store

  init(
    _ origin: RawOrigin, policy: HTTPCachePolicy = HTTPCachePolicy(),
    limits: ProxyLimits = ProxyLimits(), clock: any LarderClock = SystemClock()
  ) async throws {
    let address = try await origin.start()
    try await self.init(
      origin, at: address, over: OriginTransport(to: address, on: group, limits: limits),
      store: Store.temporary(options: Store.Options(clock: clock)), policy: policy, limits: limits)
  }

  init(origin: RawOrigin, server: ProxyServer, store: Store) {
    self.origin = origin
    self.server = server
    self.store = store
  }

  /// A proxy over a transport in place of an origin.
  init(over transport: any HTTPTransport, clock: any LarderClock) async throws {
    let origin = RawOrigin("")
    try await self.init(
      origin, at: origin.start(), over: transport,
      store: Store.temporary(options: Store.Options(clock: clock)))
  }

  private init(
    _ origin: RawOrigin, at address: Address, over transport: any HTTPTransport, store: Store,
    policy: HTTPCachePolicy = HTTPCachePolicy(), limits: ProxyLimits = ProxyLimits()
  ) async throws {
    self.origin = origin
    self.store = store
    let cache = try ProxyCache(over: transport, policy: policy) { store }
    server = try await ProxyServer.start(
      cache, for: address, at: Address(host: "127.0.0.1", port: 0), on: group, limits: limits)
  }

  /// The proxy's answer as sent over the connection, split into head and body.
  func ask(_ text: String) async throws -> (head: String, body: String) {
    try await ask(Array(text.utf8))
  }

  func ask(_ request: [UInt8]) async throws -> (head: String, body: String) {
    let connection = try await Connection.connect(to: server.address, on: group)
    defer { connection.close() }
    try await connection.write(request)
    var bytes: [UInt8] = []
    while let more = try await connection.read() { bytes += Array(more.readableBytesView) }
    let all = String(decoding: bytes, as: UTF8.self)
    guard let end = all.firstRange(of: "\r\n\r\n") else { return (all, "") }
    return (String(all[..<end.lowerBound]), String(all[end.upperBound...]))
  }

  func get(_ path: String = "/a", _ fields: String = "") async throws -> (
    head: String, body: String
  ) {
    try await ask("GET \(path) HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\(fields)\r\n")
  }

  /// Stops the proxy and the origin, and then checks the whole store.
  func stop() async throws {
    try await server.stop()
    try await origin.stop()
    #expect(try store.verify().faults == [])
  }
}

/// A client's connection, over which a test writes any bytes.
final class RawClient: Sendable {
  let connection: Connection

  init(_ bench: Bench) async throws {
    connection = try await Connection.connect(to: bench.server.address, on: group)
  }

  /// A client for which the system buffers only a few KB.
  init(_ bench: Bench, receiveBuffer: CInt) async throws {
    connection = try await ClientBootstrap(group: group)
      .channelOption(.autoRead, value: false)
      .channelOption(.maxMessagesPerRead, value: 1)
      .channelOption(.socketOption(.so_rcvbuf), value: .init(receiveBuffer))
      .connect(host: bench.server.address.host, port: bench.server.address.port) { channel in
        channel.eventLoop.makeCompletedFuture { try Connection(settingUp: channel) }
      }
  }

  func send(_ text: String) async throws { try await connection.write(Array(text.utf8)) }

  /// All bytes until the proxy closes the connection.
  func rest() async throws -> String {
    var bytes: [UInt8] = []
    while let more = try await connection.read() { bytes += Array(more.readableBytesView) }
    return String(decoding: bytes, as: UTF8.self)
  }

  /// At least `count` bytes, or fewer if the proxy closes the connection.
  func read(_ count: Int) async throws -> [UInt8] {
    var bytes: [UInt8] = []
    while bytes.count < count, let more = try await connection.read() {
      bytes += Array(more.readableBytesView)
    }
    return bytes
  }

  func close() { connection.close() }
}

/// A wait has taken two minutes, which is far longer than a wait in a correct test takes.
struct NeverTrue: Error {}

func waitUntil(_ condition: () async throws -> Bool) async throws {
  let start = ContinuousClock.now
  while try await !condition() {
    if start.duration(to: .now) > .seconds(120) { throw NeverTrue() }
    try await Task.sleep(for: .milliseconds(2))
  }
}

/// An origin that sends a head and the beginning of a body, and then nothing more.
struct SilentOrigin: HTTPTransport {
  let begun: String
  /// Yields when the origin has sent all its bytes.
  let silence: AsyncStream<Void>.Continuation

  func send(
    _ request: HTTPRequest, body: HTTPBody,
    interim: @escaping @Sendable (HTTPResponse) async -> Void
  ) async throws -> (HTTPResponse, HTTPBody) {
    let isBegun = Mutex(begun.isEmpty)
    let isFirst = { @Sendable in
      isBegun.withLock { isBegun in
        defer { isBegun = true }
        return !isBegun
      }
    }
    return (
      HTTPResponse(status: .ok, headerFields: [.contentLength: "4"]),
      HTTPBody(next: { [begun, silence] in
        if isFirst() { return Array(begun.utf8) }
        silence.yield()
        try await Task.sleep(for: .seconds(1_000_000))
        return nil
      })
    )
  }
}
