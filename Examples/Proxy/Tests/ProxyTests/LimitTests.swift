import Foundation
import HTTPTypes
import Larder
import LarderHTTP
import NIOCore
import Synchronization
import Testing

@testable import ProxyServer

/// Limits for slow clients, for many clients, and for clients that need many bytes of the proxy's memory.
@Suite(.serialized) struct LimitTests {
  private static let small = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"

  /// The bytes that a client gets if it sends `text` and then waits forever.
  ///
  /// - Parameter arrival: returns whether the text has arrived, so that the clock may begin to move.
  private func answer(
    to text: String, passing limit: Duration,
    once arrival: (Bench, Int) -> Bool = { bench, _ in bench.server.connections.count == 1 }
  ) async throws -> String {
    let clock = ManualClock()
    let bench = try await Bench(RawOrigin(Self.small), clock: clock)
    let client = try await RawClient(bench)
    if !text.isEmpty { try await client.send(text) }
    let answer = Mutex((bytes: [UInt8](), isEnded: false))
    let reading = Task {
      while let more = try await client.connection.read() {
        answer.withLock { $0.bytes += Array(more.readableBytesView) }
      }
      answer.withLock { $0.isEnded = true }
    }
    try await waitUntil { arrival(bench, answer.withLock { $0.bytes.count }) }
    var passed = Duration.zero
    try await waitUntil {
      clock.advance(by: .seconds(1))
      passed += .seconds(1)
      return answer.withLock { $0.isEnded }
    }
    #expect(passed >= limit)
    try await reading.value
    client.close()
    try await waitUntil { bench.server.connections.count == 0 }
    try await bench.stop()
    return String(decoding: answer.withLock { $0.bytes }, as: UTF8.self)
  }

  @Test func `a client that sends nothing is disconnected`() async throws {
    #expect(try await answer(to: "", passing: .seconds(15)).hasPrefix("HTTP/1.1 408 "))
  }

  @Test func `half a head is a 408`() async throws {
    let answer = try await answer(to: "GET /a HTTP/1.1\r\nHost: x\r\nA", passing: .seconds(15))
    #expect(answer.hasPrefix("HTTP/1.1 408 "))
  }

  @Test func `half a body is a 408`() async throws {
    let answer = try await answer(
      to: "POST /a HTTP/1.1\r\nHost: x\r\nContent-Length: 9\r\n\r\nhalf", passing: .seconds(30),
      once: { bench, _ in bench.origin.count == 1 })
    #expect(answer.hasPrefix("HTTP/1.1 408 "))
  }

  @Test func `an idle connection ends without a word`() async throws {
    let answer = try await answer(
      to: "GET /a HTTP/1.1\r\nHost: x\r\n\r\n", passing: .seconds(60),
      once: { _, count in count > 0 })
    #expect(answer.hasPrefix("HTTP/1.1 200 ") && answer.hasSuffix("ok"))
  }

  @Test func `a client that reads nothing is disconnected`() async throws {
    let clock = ManualClock()
    let body = [UInt8](repeating: 7, count: 8_000_000)
    let bench = try await Bench(
      RawOrigin { _, _ in
        [Array("HTTP/1.1 200 OK\r\nContent-Length: \(body.count)\r\n\r\n".utf8) + body]
      }, clock: clock)
    let client = try await RawClient(bench)
    try await client.send("GET /a HTTP/1.1\r\nHost: x\r\n\r\n")
    try await waitUntil { bench.origin.count == 1 }
    try await waitUntil {
      clock.advance(by: .seconds(1))
      return bench.server.connections.count == 0
    }
    client.close()
    try await bench.stop()
  }

  /// The client needs longer than the limit for each piece of 64 KB, but keeps reading, so the limit must not apply.
  @Test func `a client that reads slowly gets all of a large answer`() async throws {
    let clock = ManualClock()
    let size = 8_000_000
    let body = [UInt8](repeating: 7, count: size)
    var limits = ProxyLimits()
    limits.write = .seconds(12)
    let bench = try await Bench(
      RawOrigin { head, _ in
        head.start.contains("/large")
          ? [Array("HTTP/1.1 200 OK\r\nContent-Length: \(size)\r\n\r\n".utf8) + body]
          : [Array(Self.small.utf8)]
      }, limits: limits, clock: clock)
    let client = try await RawClient(bench, receiveBuffer: 4096)
    try await client.send("GET /large HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
    var count = 0
    while let more = try await client.connection.read() {
      count += more.readableBytes
      clock.advance(by: .seconds(1))
      // Waits for an answer of the proxy. Otherwise the clock could move faster than the proxy works.
      if count % 3 == 0 { _ = try await bench.get() }
    }
    #expect(count > size)
    client.close()
    try await bench.stop()
  }

  @Test func `a write goes on while something is taken`() {
    let clock = ManualClock()
    let deadline = Deadline(clock, write: .seconds(60))
    func passed(_ untaken: Int) -> Bool? {
      clock.advance(by: .seconds(30))
      return deadline.expire(at: clock.monotonic) == .read
        ? deadline.mayGoOn(untaken: untaken) : nil
    }
    deadline.beginWrite()
    #expect(deadline.expire(at: clock.monotonic) == nil)
    #expect(passed(100) == true && passed(99) == true && passed(99) == false)
    deadline.beginWrite()
    #expect(passed(99) == true)
    deadline.clear(.read)
    #expect(passed(99) == nil && deadline.mayGoOn(untaken: 99))
  }

  @Test func `more connections than allowed get a 503, and room comes again`() async throws {
    var limits = ProxyLimits()
    limits.connections = 3
    let bench = try await Bench(RawOrigin(Self.small), limits: limits)
    var clients: [RawClient] = []
    for _ in 0..<3 { clients.append(try await RawClient(bench)) }
    try await waitUntil { bench.server.connections.count == 3 }
    let refused = try await bench.get()
    #expect(refused.head.hasPrefix("HTTP/1.1 503 ") && refused.head.contains("Retry-After"))
    #expect(bench.origin.count == 0)
    clients[0].close()
    try await waitUntil { bench.server.connections.count == 2 }
    #expect(try await bench.get().body == "ok")
    for client in clients { client.close() }
    try await bench.stop()
  }

  /// Twenty clients ask for a large stored body and read nothing. The proxy may hold only a small part of each body.
  @Test func `slow readers of large hits hold no copies`() async throws {
    let size = 50_000_000
    let body = [UInt8](repeating: 7, count: size)
    let bench = try await Bench(
      RawOrigin { _, _ in
        [
          Array(
            "HTTP/1.1 200 OK\r\nCache-Control: max-age=100\r\nContent-Length: \(size)\r\n\r\n".utf8)
            + body
        ]
      })
    #expect(try await bench.get().body.utf8.count == size)
    let before = Self.residentAnonymous
    var clients: [RawClient] = []
    for _ in 0..<20 {
      let client = try await RawClient(bench)
      try await client.send("GET /a HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
      _ = try await client.read(1)
      clients.append(client)
    }
    #expect(bench.origin.count == 1, "all of them are hits")
    #expect(Self.residentAnonymous - before < 400_000_000, "20 copies would be 1 GB")
    // The proxy holds no snapshot of the store between two pieces, but the whole body must stay readable.
    #expect(try await clients[0].rest().utf8.count > size - 1_000_000)
    for client in clients { client.close() }
    try await bench.stop()
  }

  @Test func `a large upload passes without being held`() async throws {
    let size = 200_000_000
    let count = Mutex((sent: 0, received: 0, most: 0))
    let bench = try await Bench(
      over: CountingOrigin { piece in
        count.withLock { count in
          count.received += piece
          count.most = max(count.most, count.sent - count.received)
        }
      }, clock: SystemClock())
    let piece = String(repeating: "x", count: 1_000_000)
    let client = try await RawClient(bench)
    try await client.send(
      "POST /a HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Length: \(size)\r\n\r\n")
    for _ in 0..<size / 1_000_000 {
      count.withLock { $0.sent += 1_000_000 }
      try await client.send(piece)
    }
    #expect(try await client.rest().hasPrefix("HTTP/1.1 200 "))
    #expect(count.withLock { $0.received } == size)
    #expect(count.withLock { $0.most } < 30_000_000, "the buffers of the system hold some of it")
    try await bench.stop()
  }

  @Test func `an answer before the whole request ends the connection`() async throws {
    let bench = try await Bench(over: HastyOrigin(), clock: SystemClock())
    let client = try await RawClient(bench)
    try await client.send(
      "POST /a HTTP/1.1\r\nHost: x\r\nContent-Length: 50\r\n\r\nGET /smuggled HTTP/1.1\r\nHost: x\r\n\r\n"
    )
    let answer = try await client.rest()
    #expect(answer.hasPrefix("HTTP/1.1 413 "))
    #expect(answer.split(separator: "HTTP/1.1 ").count == 1)
    try await bench.stop()
  }

  /// After an early answer, the proxy waits for the rest of the request. The upload to the origin must not wait for that rest.
  @Test func `an answer before the rest of a request ends the upload`() async throws {
    let hasEnded = Mutex(false)
    let bench = try await Bench(
      over: ImpatientOrigin { hasEnded.withLock { $0 = true } }, clock: SystemClock())
    let client = try await RawClient(bench)
    try await client.send("POST /a HTTP/1.1\r\nHost: x\r\nContent-Length: 50\r\n\r\nhalf")
    #expect(try await client.read(10).starts(with: "HTTP/1.1 413 ".utf8.prefix(10)))
    try await waitUntil { hasEnded.withLock { $0 } }
    client.close()
    try await bench.stop()
  }

  /// The bytes of memory of this process, without the mapped pages of the store's file.
  static var residentAnonymous: Int {
    guard let text = try? String(contentsOfFile: "/proc/self/status", encoding: .utf8),
      let line = text.split(separator: "\n").first(where: { $0.hasPrefix("RssAnon:") }),
      let kilobytes = line.split(whereSeparator: \.isWhitespace).dropFirst().first.flatMap({
        Int($0)
      })
    else { return 0 }
    return kilobytes * 1024
  }
}

/// Reads every request to its end.
private struct CountingOrigin: HTTPTransport {
  let count: @Sendable (Int) -> Void

  func send(
    _ request: HTTPRequest, body: HTTPBody,
    interim: @escaping @Sendable (HTTPResponse) async -> Void
  ) async throws -> (HTTPResponse, HTTPBody) {
    for try await piece in body { count(piece.count) }
    return (HTTPResponse(status: .ok), HTTPBody())
  }
}

/// Answers without reading the body.
private struct HastyOrigin: HTTPTransport {
  func send(
    _ request: HTTPRequest, body: HTTPBody,
    interim: @escaping @Sendable (HTTPResponse) async -> Void
  ) async throws -> (HTTPResponse, HTTPBody) {
    (HTTPResponse(status: .init(code: 413, reasonPhrase: "Content Too Large")), HTTPBody())
  }
}

/// Answers after the first piece of the body, and keeps reading.
private struct ImpatientOrigin: HTTPTransport {
  let uploadHasEnded: @Sendable () -> Void

  func send(
    _ request: HTTPRequest, body: HTTPBody,
    interim: @escaping @Sendable (HTTPResponse) async -> Void
  ) async throws -> (HTTPResponse, HTTPBody) {
    var pieces = body.makeAsyncIterator()
    _ = try await pieces.next()
    Task { [pieces] in
      var pieces = pieces
      _ = try? await pieces.next()
      uploadHasEnded()
    }
    return (HTTPResponse(status: .init(code: 413, reasonPhrase: "Content Too Large")), HTTPBody())
  }
}
