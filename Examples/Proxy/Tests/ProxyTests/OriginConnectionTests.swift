import HTTPTypes
import Larder
import LarderHTTP
import Synchronization
import Testing

@testable import ProxyServer

/// Connections to the origin, which stay open for later GET and HEAD requests.
struct OriginConnectionTests {
  private static func page(_ head: MessageHead, _ fields: String = "") -> [[UInt8]] {
    let path = String(head.start.split(separator: " ")[1])
    return [
      Array("HTTP/1.1 200 OK\r\n\(fields)Content-Length: \(path.utf8.count)\r\n\r\n\(path)".utf8)
    ]
  }

  private func get(_ bench: Bench, _ path: String) async throws {
    let answer = try await bench.get(path)
    #expect(answer.head.hasPrefix("HTTP/1.1 200 ") && answer.body == path)
  }

  @Test func `requests one after the other use one connection`() async throws {
    let bench = try await Bench(RawOrigin(isPersistent: true) { head, _ in Self.page(head) })
    for number in 0..<5 { try await get(bench, "/\(number)") }
    _ = try await bench.ask("HEAD /0 HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
    #expect(bench.origin.count == 6 && bench.origin.connectionCount == 1)
    try await bench.stop()
  }

  @Test func `chunks, too, end a response so that another can follow`() async throws {
    let bench = try await Bench(
      RawOrigin(isPersistent: true) { head, _ in
        let path = head.start.split(separator: " ")[1]
        let chunk = String(path.utf8.count, radix: 16) + "\r\n" + path + "\r\n"
        return [
          Array("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n".utf8),
          Array((chunk + "0\r\nTrailer-Field: x\r\n\r\n").utf8),
        ]
      })
    for number in 0..<3 {
      let path = "/\(number)"
      #expect(try await bench.get(path).body.contains(path))
    }
    #expect(bench.origin.connectionCount == 1)
    try await bench.stop()
  }

  @Test(arguments: [
    "HTTP/1.1 200 OK\r\nConnection: x, Close\r\nContent-Length: 2\r\n\r\nok",
    "HTTP/1.0 200 OK\r\nContent-Length: 2\r\n\r\nok",
    "HTTP/1.0 200 OK\r\nConnection: keep-alive\r\nContent-Length: 2\r\n\r\nok",
    "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nokHTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nevil",
    "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok\r\n",
    "HTTP/1.1 204 No Content\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nevil",
    "HTTP/1.1 304 Not Modified\r\nContent-Length: 4\r\n\r\nevil",
  ])
  func `a connection after which anything is open is not used again`(text: String) async throws {
    let bench = try await Bench(RawOrigin(isPersistent: true) { _, _ in [Array(text.utf8)] })
    for number in 0..<2 {
      let answer = try await bench.get("/\(number)")
      #expect(!(answer.head + answer.body).contains("evil"))
    }
    #expect(bench.origin.connectionCount == 2)
    try await bench.stop()
  }

  /// Some origins send a body after a head that permits none. On a kept connection, this body would count as the next response.
  @Test(arguments: [
    ("HEAD", "200 OK\r\nContent-Length: 4"), ("HEAD", "200 OK\r\nContent-Length: 4, 5"),
    ("HEAD", "200 OK\r\nTransfer-Encoding: chunked"),
    ("GET", "204 No Content\r\nContent-Length: 4"),
    ("GET", "204 No Content\r\nTransfer-Encoding: chunked"),
    ("GET", "304 Not Modified\r\nContent-Length: 4"),
  ])
  func `a connection is not used again after a head that announces a body which none may have`(
    method: String, head: String
  ) async throws {
    #expect(try await connectionCount(method, head) == 2)
  }

  @Test(arguments: [
    ("HEAD", "200 OK\r\nContent-Length: 0"), ("HEAD", "200 OK"), ("GET", "204 No Content"),
    ("GET", "200 OK\r\nContent-Length: 0"), ("GET", "304 Not Modified\r\nContent-Length: 0"),
  ])
  func `a connection is used again after a head that announces none`(method: String, head: String)
    async throws
  {
    #expect(try await connectionCount(method, head) == 1)
  }

  /// The number of connections for two requests whose answer is only `head`.
  private func connectionCount(_ method: String, _ head: String) async throws -> Int {
    let bench = try await Bench(
      RawOrigin(isPersistent: true) { _, _ in [Array("HTTP/1.1 \(head)\r\n\r\n".utf8)] })
    for number in 0..<2 {
      _ = try await bench.ask(
        "\(method) /\(number) HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
    }
    try await bench.stop()
    return bench.origin.connectionCount
  }

  /// An origin may send a second response a moment later. This response would then answer the request of another client.
  @Test func `a connection over which anything comes while it waits is closed`() async throws {
    let (parts, more) = AsyncStream<String>.makeStream()
    let origin = RawOrigin(parts)
    let connection = try await Connection.connect(to: try await origin.start(), on: group)
    try await connection.write(Array("GET /a HTTP/1.1\r\nHost: x\r\n\r\n".utf8))
    let idle = IdleConnections()
    await idle.keep(connection)
    more.yield("HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nevil")
    try await waitUntil {
      guard let taken = await idle.take() else { return true }
      await idle.keep(taken)
      return false
    }
    more.finish()
    try await origin.stop()
  }

  @Test func `a request over a connection that the origin has ended is sent once more`()
    async throws
  {
    let bench = try await Bench(
      RawOrigin(isPersistent: true) { head, _ in
        head.start.contains("/end") ? [] : Self.page(head)
      })
    try await get(bench, "/1")
    // The origin closes the connection at this request. The proxy tries again over a new connection, which is closed, too.
    #expect(try await bench.get("/end").head.hasPrefix("HTTP/1.1 502 "))
    #expect(bench.origin.count == 3 && bench.origin.connectionCount == 2)
    try await get(bench, "/2")
    #expect(bench.origin.connectionCount == 3)
    try await bench.stop()
  }

  @Test(arguments: ["POST", "PUT", "DELETE", "OPTIONS", "X"])
  func `another method has a connection of its own, and is never sent twice`(method: String)
    async throws
  {
    let bench = try await Bench(
      RawOrigin(isPersistent: true) { head, _ in
        head.start.hasPrefix("GET") ? Self.page(head) : []
      })
    try await get(bench, "/1")
    let answer = try await bench.ask(
      "\(method) /a HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Length: 0\r\n\r\n")
    #expect(answer.head.hasPrefix("HTTP/1.1 502 ") && bench.origin.count == 2)
    #expect(bench.origin.received.last?.fields[.connection] == "close")
    try await get(bench, "/2")
    #expect(bench.origin.connectionCount == 2)
    try await bench.stop()
  }

  @Test func `a GET with a body has a connection of its own`() async throws {
    let bench = try await Bench(RawOrigin(isPersistent: true) { head, _ in Self.page(head) })
    try await get(bench, "/1")
    _ = try await bench.ask(
      "GET /b HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Length: 1\r\n\r\nx")
    #expect(bench.origin.connectionCount == 2)
    try await bench.stop()
  }

  @Test func `a client that goes away ends the connection of its response`() async throws {
    let (parts, more) = AsyncStream<String>.makeStream()
    let bench = try await Bench(RawOrigin(parts))
    more.yield("HTTP/1.1 200 OK\r\nCache-Control: no-store\r\nContent-Length: 10\r\n\r\nab")
    let client = try await RawClient(bench)
    try await client.send("GET /a HTTP/1.1\r\nHost: x\r\n\r\n")
    _ = try await client.read(10)
    client.close()
    more.finish()
    try await bench.stop()
  }
}
