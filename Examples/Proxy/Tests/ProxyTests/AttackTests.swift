import HTTPTypes
import Larder
import LarderHTTP
import Testing

@testable import ProxyServer

/// Hostile bytes, which could break the proxy or make the proxy send wrong bytes on a connection that stays open.
struct AttackTests {
  private static let fresh = "Cache-Control: max-age=100\r\n"
  private static let close = "Host: x\r\nConnection: close\r\n"

  @Test(arguments: [1_001, 70_000])
  func `a request with too many fields is a 431`(count: Int) async throws {
    let bench = try await Bench(RawOrigin("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"))
    let fields = (0..<count).map { "a\($0):\r\n" }.joined()
    let answer = try await bench.ask("GET /a HTTP/1.1\r\n\(Self.close)\(fields)\r\n")
    // The proxy refuses a head that is too long before it counts the fields, so the status may differ from 431.
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

  /// RFC 9112 has this rule in section 6.3.
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
    "GET /a HTTP/1.x\r\nHost: x\r\nConnection: close\r\n\r\n",
    "GET /a HTTP/2\r\nHost: x\r\nConnection: close\r\n\r\n",
    "GET /a HTTP/10.0\r\nHost: x\r\nConnection: close\r\n\r\n",
    "GET /a http/2.0\r\nHost: x\r\nConnection: close\r\n\r\n",
    "GET /a\r\n\r\n", "nonsense\r\n\r\n", "G T /a HTTP/1.1\r\nHost: x\r\n\r\n",
    "GET /a HTTP/1.1\r\nHost: x\r\nno field\r\n\r\n",
    "GET /a b HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n",
    "POST /a HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\nContent-Length: 4\r\n\r\nabcd",
    "POST /a HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n-1\r\n\r\n",
    "POST /a HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n1 \r\nx\r\n0\r\n\r\n",
    "POST /a HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n1 2\r\nx\r\n0\r\n\r\n",
    "POST /a HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n1;\nx\r\n0\r\n\r\n",
    "POST /a HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nx\n0\r\n\r\n",
    "POST /a HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n\u{FF11}\r\nx\r\n0\r\n\r\n",
    "POST /a HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n1;a=\"\r\n\"\r\nx\r\n0\r\n\r\n",
    "POST /a HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked, gzip, chunked\r\n\r\n0\r\n\r\n",
    "POST /a HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: \u{0B}x, chunked\r\n\r\n0\r\n\r\n",
    "POST /a HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked;q=1\r\n\r\n0\r\n\r\n",
    "POST /a HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chun\u{212A}ed\r\n\r\n0\r\n\r\n",
    "POST /a HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked, chunked\r\n\r\n0\r\n\r\n",
    "POST /a HTTP/1.0\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
    "GET /a HTTP/1.1\r\nHost: x\r\nA: b\r\n c\r\n\r\n",
    "GET /a HTTP/1.1\r\nHost: x\r\nA\u{0}: b\r\n\r\n",
    "GET /a HTTP/1.1\r\nHost: a b, c\r\n\r\n",
    "GET /a HTTP/1.1\r\nHost: x/y\r\n\r\n",
    "GET /a HTTP/1.1\r\nHost: a@x\r\n\r\n",
    "GET x:80 HTTP/1.1\r\nHost: x\r\n\r\n",
    "CONNECT x:80 HTTP/1.1\r\nHost: x\r\n\r\n",
    "CONNECT /x HTTP/1.1\r\nHost: x\r\n\r\n",
    "GET https://x/a HTTP/1.1\r\nHost: x\r\n\r\n",
    "GET * HTTP/1.1\r\nHost: x\r\n\r\n",
    "GET /a http/1.1\r\nHost: x\r\n\r\n",
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

  /// RFC 9110 has this rule in section 15.6.6.
  @Test(arguments: [
    "GET /a HTTP/2.0\r\nHost: x\r\nConnection: close\r\n\r\n", "GET /a HTTP/3.0\r\n\r\n",
    "GET /a HTTP/0.9\r\nHost: x\r\n\r\n", "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
  ])
  func `a request of another major version is a 505`(text: String) async throws {
    let bench = try await Bench(RawOrigin("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"))
    let answer = try await bench.ask(text)
    #expect(answer.head.hasPrefix("HTTP/1.1 505 HTTP Version Not Supported\r\n"))
    #expect(answer.head.contains("Connection: close") && bench.origin.count == 0)
    try await bench.stop()
  }

  /// RFC 9112 has this rule in section 6.1.
  @Test(arguments: ["gzip, chunked", "x\r\nTransfer-Encoding: Chunked"])
  func `a request in an unknown coding is a 501`(codings: String) async throws {
    let bench = try await Bench(RawOrigin("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"))
    let answer = try await bench.ask(
      "POST /a HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: \(codings)\r\n\r\n0\r\n\r\n")
    #expect(answer.head.hasPrefix("HTTP/1.1 501 ") && bench.origin.count == 0)
    try await bench.stop()
  }

  @Test func `extensions of a chunk are limited`() async throws {
    let bench = try await Bench(RawOrigin("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"))
    for (count, status) in [(4_000, 200), (5_000, 400), (70_000, 400)] {
      let extensions = String(repeating: "a", count: count)
      let answer = try await bench.ask(
        "POST /a HTTP/1.1\r\n\(Self.close)Transfer-Encoding: chunked\r\n\r\n"
          + "1 ;\(extensions)\r\nx\r\n0\r\n\r\n")
      #expect(answer.head.hasPrefix("HTTP/1.1 \(status) "), "\(count)")
    }
    try await bench.stop()
  }

  /// Odd requests that can have only one meaning. The proxy must send each in a form that every server reads in the same way.
  @Test(arguments: [
    ("GET /a HTTP/1.1\r\nHost: x\r\nA: b\rX-Evil: 1\r\n", "A: b X-Evil: 1"),
    ("GET /a HTTP/1.1\r\nHost: x\r\nA: b\u{0}c\r\n", "A: b c"),
    ("GET /a#b HTTP/1.1\r\nHost: x\r\n", "GET /a HTTP/1.1"),
    ("GET http://user:pw@evil.example/a HTTP/1.1\r\nHost: x\r\n", "GET /a HTTP/1.1"),
    ("OPTIONS http://evil.example HTTP/1.1\r\nHost: x\r\n", "OPTIONS * HTTP/1.1"),
    ("GET /%0d%0aX-Evil:1 HTTP/1.1\r\nHost: x\r\n", "GET /%0d%0aX-Evil:1 HTTP/1.1"),
    (
      "GET /a HTTP/1.1\r\nHost: x\r\nUpgrade: h2c\r\nHTTP2-Settings: x\r\nTE: trailers\r\n",
      "Via: 1.1 larder"
    ),
  ])
  func `an odd request reaches the origin in one meaning`(text: String, expected: String)
    async throws
  {
    let bench = try await Bench(
      RawOrigin("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"))
    let answer = try await bench.ask(text + "Connection: close, HTTP2-Settings\r\n\r\n")
    #expect(answer.head.hasPrefix("HTTP/1.1 200 "))
    let head = try #require(bench.origin.received.first)
    let lines = [head.start] + head.fields.map { "\($0.name.rawName): \($0.value)" }
    #expect(lines.contains(expected))
    let names = Set(head.fields.map(\.name.canonicalName))
    #expect(names.isDisjoint(with: ["x-evil", "upgrade", "http2-settings", "te"]))
    #expect(head.fields[OriginTransport.host]?.hasPrefix("127.0.0.1:") == true)
    try await bench.stop()
  }

  /// RFC 9110, section 8.6. If the head stated a length, a client would wait for a body that never comes.
  @Test(arguments: [
    "HTTP/1.1 204 No Content\r\nContent-Length: 5\r\n\r\nhello",
    "HTTP/1.1 103 Early Hints\r\nContent-Length: 5\r\n\r\nHTTP/1.1 204 No Content\r\n\r\n",
  ])
  func `a response without a body states no length`(text: String) async throws {
    let bench = try await Bench(RawOrigin(text))
    let answer = try await bench.get()
    #expect(!(answer.head + answer.body).lowercased().contains("content-length"))
    #expect(!answer.body.contains("hello"))
    try await bench.stop()
  }

  /// RFC 9110, section 8.6. If the head stated two lengths, caches behind the proxy could differ about the length.
  @Test(
    arguments: [
      "HEAD /a HTTP/1.1\r\n", "GET /a HTTP/1.1\r\nIf-None-Match: \"1\"\r\n",
    ],
    [
      ("5\r\nContent-Length: 6", nil), ("5, 6", nil), ("x", nil), ("5, 5", "5"), ("5", "5"),
    ] as [(String, String?)])
  func `a response without a body states no two lengths`(
    request: String, lengths: (stated: String, passed: String?)
  ) async throws {
    let status = request.hasPrefix("HEAD") ? "200 OK" : "304 Not Modified"
    let bench = try await Bench(
      RawOrigin("HTTP/1.1 \(status)\r\nContent-Length: \(lengths.stated)\r\n\r\n"))
    let answer = try await bench.ask(request + Self.close + "\r\n")
    #expect(answer.head.hasPrefix("HTTP/1.1 \(status)"))
    let lines = answer.head.split(separator: "\r\n").filter { $0.hasPrefix("Content-Length") }
    #expect(lines == (lengths.passed.map { ["Content-Length: \($0)"] } ?? []))
    try await bench.stop()
  }

  @Test func `a length that is listed twice is passed on once`() async throws {
    let bench = try await Bench(
      RawOrigin("HTTP/1.1 200 OK\r\n\(Self.fresh)Content-Length: 2, 2\r\n\r\nok"))
    for _ in 0..<2 {
      let answer = try await bench.get()
      #expect(answer.head.contains("Content-Length: 2\r\n") && answer.body == "ok")
    }
    try await bench.stop()
  }

  @Test(arguments: [
    "HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\n\r\nHTTP/1.1 200 OK\r\n\r\n",
    String(repeating: "HTTP/1.1 100 Continue\r\n\r\n", count: 200) + "HTTP/1.1 200 OK\r\n\r\n",
    "HTTP/1.1 099 Odd\r\n\r\n", "HTTP/9.9 200 OK\r\n\r\n", "garbage\r\n\r\n",
    "HTTP/1.1 200 OK\r\nContent-Length: 2\r\nContent-Length: 3\r\n\r\nabc",
    "HTTP/1.1 200 OK\r\nContent-Length: \u{661}\r\n\r\na",
    "HTTP/1.1 200 OK\r\nContent-Length: 3, 6\r\n\r\nabcdef",
    "HTTP/1.1 200 OK\r\nTransfer-Encoding: x\r\n\r\nabcdef",
    "HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip, chunked\r\n\r\nabcdef",
    "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked, x\r\n\r\n0\r\n\r\n",
    "HTTP/1.1 200 OK\r\nTransfer-Encoding: chun\u{212A}ed\r\n\r\n0\r\n\r\n",
  ])
  func `a response that cannot be understood is a 502`(text: String) async throws {
    let bench = try await Bench(RawOrigin(text))
    let client = try await RawClient(bench)
    try await client.send("GET /a HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
    let all = try await client.rest()
    #expect(all.contains("HTTP/1.1 502 ") && !all.contains("HTTP/1.1 200 "))
    client.close()
    try await bench.stop()
  }

  @Test(arguments: ["OPTIONS", "TRACE", "GET"])
  func `RFC 9110, 7.6.2: Max-Forwards ends the way of an OPTIONS and a TRACE`(method: String)
    async throws
  {
    let bench = try await Bench(
      RawOrigin("HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\norigin"))
    func ask(_ count: String) async throws -> (head: String, body: String) {
      try await bench.ask("\(method) /a HTTP/1.1\r\n\(Self.close)Max-Forwards: \(count)\r\n\r\n")
    }
    let name = HTTPField.Name("Max-Forwards")!
    let isLimited = method != "GET"
    let last = try await ask("0")
    if isLimited {
      #expect(last.head.hasPrefix("HTTP/1.1 \(method == "TRACE" ? 501 : 200) ") && last.body == "")
      #expect(bench.origin.count == 0)
    }
    for (count, left) in [("1", "0"), ("7", "6"), ("x", "x"), ("-1", "-1")] {
      #expect(try await ask(count).body == "origin")
      #expect(bench.origin.received.last?.fields[values: name] == [isLimited ? left : count])
    }
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
