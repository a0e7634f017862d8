import Foundation
import HTTPTypes
import Larder
import LarderHTTP
import NIOCore
import NIOPosix
import Synchronization

@testable import ProxyServer

let group = MultiThreadedEventLoopGroup.singleton

/// A server on loopback that answers with the bytes it is told, and counts.
final class RawOrigin: Sendable {
  /// What to write, and whether to end the connection without a word instead.
  typealias Answer = @Sendable (MessageHead, [UInt8]) async throws -> [[UInt8]]

  private let heads = Mutex<[MessageHead]>([])
  private let write: @Sendable (MessageHead, [UInt8], Connection) async throws -> Void
  private let listener = Mutex<(any Channel)?>(nil)

  init(_ answer: @escaping Answer) {
    write = { head, body, connection in
      for piece in try await answer(head, body) { try await connection.write(piece) }
    }
  }

  /// Answers one request as far as the parts have come.
  init(_ parts: AsyncStream<String>) {
    write = { _, _, connection in
      for await part in parts { try await connection.write(Array(part.utf8)) }
    }
  }

  convenience init(_ text: String) { self.init { _, _ in [Array(text.utf8)] } }

  var received: [MessageHead] { heads.withLock { $0 } }
  var count: Int { received.count }

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
    let reader = MessageReader(connection)
    do {
      guard let head = try await reader.head(isLenient: false) else { return }
      heads.withLock { $0.append(head) }
      await reader.begin(Framing(ofRequest: head.fields) ?? .length(0))
      var body: [UInt8] = []
      while let piece = try await reader.piece() { body += piece }
      try await write(head, body, connection)
    } catch {
      // A test whose client goes away looks at what it got.
    }
    connection.close()
  }

  func stop() async throws {
    try await listener.withLock { $0 }?.close()
  }
}

/// A proxy before an origin, and requests to it.
struct Bench {
  let origin: RawOrigin
  let server: ProxyServer
  let store: Store

  init(_ origin: RawOrigin, policy: HTTPCachePolicy = HTTPCachePolicy()) async throws {
    let address = try await origin.start()
    try await self.init(
      origin, at: address, over: OriginTransport(to: address, on: group),
      store: Store.temporary(), policy: policy)
  }

  /// Over a transport that stands for an origin.
  init(over transport: any HTTPTransport, clock: any LarderClock) async throws {
    let origin = RawOrigin("")
    try await self.init(
      origin, at: origin.start(), over: transport, store: Store.temporary(clock: clock))
  }

  private init(
    _ origin: RawOrigin, at address: Address, over transport: any HTTPTransport, store: Store,
    policy: HTTPCachePolicy = HTTPCachePolicy()
  ) async throws {
    self.origin = origin
    self.store = store
    let cache = HTTPCache(in: store.namespace("http"), over: transport, policy: policy)
    server = try await ProxyServer.start(
      cache, for: address, at: Address(host: "127.0.0.1", port: 0), on: group)
  }

  /// What the proxy answers, as it is on the wire: head and body.
  func ask(_ text: String) async throws -> (head: String, body: String) {
    let connection = try await Connection.connect(to: server.address, on: group)
    defer { connection.close() }
    try await connection.write(Array(text.utf8))
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

  func stop() async throws {
    try await server.stop()
    try await origin.stop()
  }
}

/// An origin that sends a head and the beginning of a body, and then nothing more.
struct SilentOrigin: HTTPTransport {
  let begun: String
  /// Yields when it has fallen silent.
  let silence: AsyncStream<Void>.Continuation

  func send(
    _ request: HTTPRequest, body: [UInt8],
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
