import HTTPTypes
import Larder
import LarderHTTP
import Testing

@testable import ProxyServer

/// Bytes that were made to break the proxy, or to make it say something false on a kept connection.
struct AttackTests {
  private static let fresh = "Cache-Control: max-age=100\r\n"
  private static let close = "Host: x\r\nConnection: close\r\n"

  @Test(arguments: [1_001, 70_000])
  func `a request with too many fields is a 431`(count: Int) async throws {
    let bench = try await Bench(RawOrigin("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"))
    let fields = (0..<count).map { "a\($0):\r\n" }.joined()
    let answer = try await bench.ask("GET /a HTTP/1.1\r\n\(Self.close)\(fields)\r\n")
    // A head that is too long is refused before its fields are counted.
    #expect(answer.head.hasPrefix(count > 10_000 ? "HTTP/1.1 4" : "HTTP/1.1 431 "))
    #expect(bench.origin.count == 0)
    #expect(try await bench.get().head.hasPrefix("HTTP/1.1 200 "))
    try await bench.stop()
  }

  @Test func `a response with too many fields is a 502`() async throws {
    let fields = (0..<1_001).map { "a\($0):\r\n" }.joined()
    let bench = try await Bench(
      RawOrigin("HTTP/1.1 200 OK\r\n\(fields)Content-Length: 0\r\n\r\n"))
    #expect(try await bench.get().head.hasPrefix("HTTP/1.1 502 "))
    try await bench.stop()
  }

  /// RFC 9112, section 6.3.
  @Test(arguments: ["3", "300"])
  func `a length beside chunks is not passed on`(length: String) async throws {
    let bench = try await Bench(
      RawOrigin(
        "HTTP/1.1 200 OK\r\nContent-Length: \(length)\r\nTransfer-Encoding: chunked\r\n\r\n"
          + "6\r\nabcdef\r\n0\r\n\r\n"))
    let answer = try await bench.get()
    #expect(answer.head.hasPrefix("HTTP/1.1 200 ") && !answer.head.contains("Content-Length"))
    #expect(answer.body == "6\r\nabcdef\r\n0\r\n\r\n")
    try await bench.stop()
  }

  @Test func `a body longer than announced does not reach the next response`() async throws {
    let bench = try await Bench(
      RawOrigin { _, _ in
        [Array("HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nabcHTTP/1.1 666 no\r\n\r\n".utf8)]
      })
    let both = try await bench.ask(
      "GET /a HTTP/1.1\r\nHost: x\r\n\r\nGET /b HTTP/1.1\r\n\(Self.close)\r\n")
    #expect(!(both.head + both.body).contains("666"))
    try await bench.stop()
  }

  @Test(arguments: [
    "GET /a HTTP/1.1\r\nConnection: close\r\n\r\n",
    "GET /a HTTP/1.1\r\nHost: x\r\nHost: y\r\nConnection: close\r\n\r\n",
    "GET /a HTTP/1.9\r\nHost: x\r\nConnection: close\r\n\r\n",
    "GET /a HTTP/2.0\r\nHost: x\r\nConnection: close\r\n\r\n",
    "GET /a\r\n\r\n",
    "GET /a b HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n",
    "POST /a HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
    "POST /a HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\nContent-Length: 4\r\n\r\nabcd",
    "POST /a HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n-1\r\n\r\n",
    "POST /a HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n0x5\r\nabcde\r\n0\r\n\r\n",
    "POST /a HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n\r\n",
    "POST /a HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\nffffffffffffffff\r\n",
  ])
  func `a malformed request is a 400`(text: String) async throws {
    let bench = try await Bench(RawOrigin("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"))
    #expect(try await bench.ask(text).head.hasPrefix("HTTP/1.1 400 "))
    #expect(bench.origin.wholeCount == 0)
    try await bench.stop()
  }

  @Test func `a GET with a body is not stored`() async throws {
    let bench = try await Bench(
      RawOrigin { _, body in
        [Array("HTTP/1.1 200 OK\r\n\(Self.fresh)Content-Length: \(body.count)\r\n\r\n".utf8) + body]
      })
    for body in ["one", "two"] {
      let answer = try await bench.ask(
        "GET /a HTTP/1.1\r\n\(Self.close)Content-Length: 3\r\n\r\n\(body)")
      #expect(answer.body == body)
    }
    #expect(bench.origin.count == 2)
    try await bench.stop()
  }
}
