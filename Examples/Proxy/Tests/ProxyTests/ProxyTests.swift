import HTTPTypes
import Larder
import LarderHTTP
import Synchronization
import Testing

@testable import ProxyServer

struct ProxyTests {
  private static let fresh = "Cache-Control: max-age=100\r\n"

  @Test func `a fresh response is requested once`() async throws {
    let bench = try await Bench(
      RawOrigin("HTTP/1.1 200 OK\r\n\(Self.fresh)Content-Length: 4\r\n\r\nbody"))
    let first = try await bench.get()
    let second = try await bench.get()
    #expect(first.body == "body" && second.body == "body" && bench.origin.count == 1)
    #expect(first.head.contains("Cache-Status: larder; fwd=uri-miss; fwd-status=200; ttl="))
    #expect(
      second.head.contains("Cache-Status: larder; hit; ttl=") && second.head.contains("Age: "))
    try await bench.stop()
  }

  @Test func `fields keep their order, spelling, repetition and bytes`() async throws {
    let lines = "x-B: 2\r\nDate: Thu, 01 Jan 2015 00:00:00 GMT\r\nAge: 7\r\nX-a: 1\r\nx-b: 3"
    let bench = try await Bench(
      RawOrigin("HTTP/1.1 200 Fine, thanks\r\n\(lines)\r\nContent-Length: 0\r\n\r\n"))
    let answer = try await bench.get()
    #expect(answer.head.hasPrefix("HTTP/1.1 200 Fine, thanks\r\n\(lines)\r\nContent-Length: 0\r\n"))
    try await bench.stop()
  }

  @Test(arguments: ["M-SEARCH", "FOO", "get", "X!#"], [200, 299, 418, 599, 999])
  func `any method and any status passes`(method: String, status: Int) async throws {
    let bench = try await Bench(RawOrigin("HTTP/1.1 \(status) X\r\nContent-Length: 2\r\n\r\nab"))
    let answer = try await bench.ask(
      "\(method) /a?b=c%20d HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Length: 3\r\n\r\nxyz"
    )
    #expect(answer.head.hasPrefix("HTTP/1.1 \(status) X\r\n") && answer.body == "ab")
    #expect(bench.origin.received.first?.start == "\(method) /a?b=c%20d HTTP/1.1")
    try await bench.stop()
  }

  @Test func `an origin that hangs up is not asked twice, and is a 502`() async throws {
    let bench = try await Bench(RawOrigin { _, _ in [] })
    let answer = try await bench.get()
    #expect(answer.head.hasPrefix("HTTP/1.1 502 ") && bench.origin.count == 1)
    try await bench.stop()
  }

  @Test func `an origin that hangs up in its head, or before its body, is a 502`() async throws {
    for text in [
      "HTTP/1.1 200 OK\r\nContent-Le", "HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\n",
    ] {
      let bench = try await Bench(RawOrigin(text))
      let answer = try await bench.get()
      #expect(answer.head.hasPrefix("HTTP/1.1 502 ") && answer.body == "")
      #expect(bench.origin.count == 1)
      try await bench.stop()
    }
  }

  @Test func `an origin that cannot be reached is a 502`() async throws {
    let bench = try await Bench(RawOrigin(""))
    try await bench.origin.stop()
    #expect(try await bench.get().head.hasPrefix("HTTP/1.1 502 "))
    try await bench.server.stop()
  }

  @Test func `only-if-cached without a stored response is a 504`() async throws {
    let bench = try await Bench(RawOrigin("HTTP/1.1 200 OK\r\n\r\n"))
    let answer = try await bench.get("/a", "Cache-Control: only-if-cached\r\n")
    #expect(answer.head.hasPrefix("HTTP/1.1 504 ") && bench.origin.count == 0)
    #expect(answer.head.contains("detail=only-if-cached"))
    try await bench.stop()
  }

  @Test(arguments: [("", "HTTP/1.1 504 "), ("bo", "HTTP/1.1 200 ")])
  func `an origin that falls silent is a 504, if nothing of its body has passed`(
    begun: String, start: String
  ) async throws {
    let (silence, silent) = AsyncStream.makeStream(of: Void.self)
    let clock = ManualClock()
    let bench = try await Bench(over: SilentOrigin(begun: begun, silence: silent), clock: clock)
    let passing = Task { for await _ in silence { clock.advance(by: .seconds(15)) } }
    let answer = try await bench.get()
    #expect(answer.head.hasPrefix(start) && answer.body == begun)
    passing.cancel()
    try await bench.stop()
  }

  @Test func `an origin that is too slow is a 504`() async throws {
    var policy = HTTPCachePolicy()
    policy.timeout = .milliseconds(50)
    let bench = try await Bench(
      RawOrigin { _, _ in
        try await Task.sleep(for: .seconds(30))
        return []
      }, policy: policy)
    #expect(try await bench.get().head.hasPrefix("HTTP/1.1 504 "))
    try await bench.stop()
  }

  @Test func `a stale response is served while the origin is down`() async throws {
    let asked = Mutex(0)
    let bench = try await Bench(
      RawOrigin { _, _ in
        let number = asked.withLock { asked in
          asked += 1
          return asked
        }
        return number == 1
          ? [
            Array(
              "HTTP/1.1 200 OK\r\nCache-Control: max-age=0\r\nContent-Length: 4\r\n\r\nbody".utf8)
          ]
          : []
      })
    _ = try await bench.get()
    let answer = try await bench.get()
    #expect(answer.body == "body" && answer.head.contains("detail=stale-disconnected"))
    try await bench.stop()
  }

  @Test func `a body that is longer than announced is cut, and one that is shorter ends early`()
    async throws
  {
    let long = try await Bench(
      RawOrigin("HTTP/1.1 200 OK\r\n\(Self.fresh)Content-Length: 4\r\n\r\nbody and more"))
    #expect(try await long.get().body == "body")
    #expect(try await long.get().body == "body")
    #expect(long.origin.count == 1)
    try await long.stop()
    let short = try await Bench(
      RawOrigin("HTTP/1.1 200 OK\r\n\(Self.fresh)Content-Length: 9\r\n\r\nbody"))
    let answer = try await short.get()
    #expect(answer.body == "body" && answer.head.contains("Content-Length: 9"))
    _ = try await short.get()
    #expect(short.origin.count == 2, "what broke off is not stored")
    try await short.stop()
  }

  @Test func `chunks are passed on in chunks, and stored as the body that they make`() async throws
  {
    let bench = try await Bench(
      RawOrigin { _, _ in
        [
          "HTTP/1.1 200 OK\r\n\(Self.fresh)Transfer-Encoding: chunked\r\n\r\n", "2\r\nbo\r\n",
          "2;x=y\r\ndy\r\n0\r\nT: 1\r\n\r\n",
        ]
        .map { Array($0.utf8) }
      })
    let first = try await bench.get()
    #expect(
      first.head.contains("transfer-encoding: chunked")
        || first.head.contains("Transfer-Encoding: chunked"))
    // The proxy may join the origin's chunks, so two bodies are right.
    let whole = ["2\r\nbo\r\n2\r\ndy\r\n", "4\r\nbody\r\n"].map { $0 + "0\r\n\r\n" }
    #expect(whole.contains(first.body))
    let second = try await bench.get()
    #expect(second.body == "body" && second.head.contains("Content-Length: 4"))
    try await bench.stop()
  }

  @Test func `a large body passes whole`() async throws {
    let size = 20_000_000
    let bench = try await Bench(
      RawOrigin { _, _ in
        [Array("HTTP/1.1 200 OK\r\nContent-Length: \(size)\r\n\r\n".utf8)]
          + (0..<20).map { [UInt8](repeating: UInt8(ascii: "a") + $0, count: size / 20) }
      })
    let answer = try await bench.get()
    #expect(answer.body.utf8.count == size && answer.body.utf8.last == UInt8(ascii: "t"))
    try await bench.stop()
  }

  @Test func `interim answers pass, and are not stored`() async throws {
    let bench = try await Bench(
      RawOrigin(
        "HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\nHTTP/1.1 200 OK\r\n\(Self.fresh)Content-Length: 1\r\n\r\n1"
      ))
    #expect(try await bench.get().head == "HTTP/1.1 103 Early Hints\r\nLink: </a>")
    let again = try await bench.get()
    #expect(
      again.head.hasPrefix("HTTP/1.1 200 ") && !again.head.contains("Link") && again.body == "1")
    try await bench.stop()
  }

  @Test func `a connection serves one request after the other`() async throws {
    let bench = try await Bench(
      RawOrigin("HTTP/1.1 200 OK\r\n\(Self.fresh)Content-Length: 4\r\n\r\nbody"))
    let one = "GET /a HTTP/1.1\r\nHost: x\r\n\r\n"
    let answer = try await bench.ask(
      one + one + "GET /a HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
    let all = answer.head + answer.body
    #expect(all.split(separator: "HTTP/1.1 200 OK").count == 3 && bench.origin.count == 1)
    try await bench.stop()
  }

  @Test func `fields of the connection go no further, and Via says who was here`() async throws {
    let bench = try await Bench(RawOrigin("HTTP/1.1 204 No Content\r\n\r\n"))
    _ = try await bench.get("/a", "Connection: foo\r\nFoo: 1\r\nTE: x\r\nBar: 2\r\n")
    let fields = try #require(bench.origin.received.first?.fields)
    #expect(!fields.contains(.init("Foo")!) && !fields.contains(.te))
    #expect(fields[.init("Bar")!] == "2" && fields[.via] == "1.1 larder")
    try await bench.stop()
  }
}
