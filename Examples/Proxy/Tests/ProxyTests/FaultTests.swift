import HTTPTypes
import Larder
import LarderHTTP
import NIOCore
import Synchronization
import Testing

@testable import ProxyServer

/// Known faults of network caches, each with the bytes that show it.
struct FaultTests {
  private static let fresh = "Cache-Control: max-age=100\r\n"

  /// An origin that answers with the target and the fields of the request as the body.
  private static func echo(_ fields: String = fresh) -> RawOrigin {
    RawOrigin { head, _ in
      let words = head.start.split(separator: " ")
      let got = head.fields.map { "\($0.name.canonicalName)=\($0.value)" }.sorted()
        .joined(separator: "&")
      let body = "\(words.count > 1 ? words[1] : "")|\(got)"
      return [
        Array("HTTP/1.1 200 OK\r\n\(fields)Content-Length: \(body.utf8.count)\r\n\r\n\(body)".utf8)
      ]
    }
  }

  // MARK: Keys

  @Test(arguments: [
    ("/search?q=x%20y", "/search?q=x"), ("/a%20b", "/a"), ("/a%09", "/a"), ("/a%7F", "/a"),
    ("/a\"b", "/a"), ("/a%23b", "/a"), ("/a?%20", "/a?"), ("/a%00", "/a"),
  ])
  func `targets with a common beginning have answers of their own`(long: String, short: String)
    async throws
  {
    let bench = try await Bench(Self.echo())
    for _ in 0..<2 {
      let encoded = long.replacing("\"", with: "%22")
      #expect(try await bench.get(long).body.hasPrefix("\(encoded)|"))
      #expect(try await bench.get(short).body.hasPrefix("\(short)|"))
    }
    #expect(bench.origin.count == 2)
    try await bench.stop()
  }

  @Test(arguments: ["/a b", "/a\tb", "/a\u{7F}b", "/a\rb", "/a\u{0}b", "ftp://x/a", "a", "//x:y@"])
  func `a target that is none does not reach the origin as another`(target: String) async throws {
    let bench = try await Bench(Self.echo())
    let answer = try await bench.get(target)
    if target == "//x:y@" {
      #expect(answer.body.hasPrefix("//x:y@|"))
    } else {
      #expect(answer.head.hasPrefix("HTTP/1.1 400 ") && bench.origin.count == 0)
    }
    try await bench.stop()
  }

  @Test func `a fragment is not sent`() async throws {
    let bench = try await Bench(Self.echo())
    #expect(try await bench.get("/a#b").body.hasPrefix("/a|"))
    #expect(try await bench.get("/a").body.hasPrefix("/a|"))
    #expect(bench.origin.count == 1)
    try await bench.stop()
  }

  @Test func `long targets with the same first bytes have answers of their own`() async throws {
    let bench = try await Bench(Self.echo())
    let start = "/" + String(repeating: "a", count: 600)
    for number in 0..<20 { _ = try await bench.get("\(start)\(number)") }
    for number in 0..<20 {
      #expect(try await bench.get("\(start)\(number)").body.hasPrefix("\(start)\(number)|"))
    }
    #expect(bench.origin.count == 20)
    try await bench.stop()
  }

  // MARK: Poisoning

  @Test(arguments: [
    ("If-Match: \"x\"\r\n", 412), ("If-Unmodified-Since: Thu, 01 Jan 1970 00:00:00 GMT\r\n", 412),
    ("Range: bytes=900-\r\n", 416), ("Range: bytes=0-0\r\n", 404), ("Range: bytes=0-0\r\n", 500),
  ])
  func `an error to a condition or a range is stored for no other request`(
    fields: String, status: Int
  )
    async throws
  {
    let bench = try await Bench(
      RawOrigin { head, _ in
        let isPlain =
          !head.fields.contains { ["If-Match", "Range"].contains($0.name.rawName) }
          && !head.fields.contains(.ifUnmodifiedSince)
        return [
          Array(
            "HTTP/1.1 \(isPlain ? 200 : status) X\r\n\(Self.fresh)Content-Length: 0\r\n\r\n".utf8)
        ]
      })
    #expect(try await bench.get("/a", fields).head.hasPrefix("HTTP/1.1 \(status) "))
    #expect(try await bench.get("/a").head.hasPrefix("HTTP/1.1 200 "))
    try await bench.stop()
  }

  @Test func `variants and the tags of a request are limited`() async throws {
    let bench = try await Bench(
      RawOrigin { head, _ in
        let tag = head.fields[.init("X-V")!] ?? ""
        return [
          Array(
            "HTTP/1.1 200 OK\r\n\(Self.fresh)Vary: X-V\r\nETag: \"\(tag)\"\r\nContent-Length: 0\r\n\r\n"
              .utf8)
        ]
      })
    for number in 0..<100 { _ = try await bench.get("/a", "X-V: \(number)\r\n") }
    let tags = bench.origin.received.compactMap { $0.fields[.ifNoneMatch] }
      .map { $0.split(separator: ",").count }
    #expect((tags.max() ?? 0) <= 8)
    #expect(try bench.store.namespace("http").count() <= 32)
    // The newest variants are still stored.
    _ = try await bench.get("/a", "X-V: 99\r\n")
    #expect(bench.origin.count == 100)
    try await bench.stop()
  }

  // MARK: Users

  @Test func `credentials are kept apart, and so are the fields that name a user`() async throws {
    var policy = HTTPCachePolicy()
    policy.partitionFields = [.cookie]
    let bench = try await Bench(Self.echo(), policy: policy)
    let alice = "Authorization: Bearer alice\r\n"
    #expect(try await bench.get("/a", alice).body.contains("alice"))
    #expect(try await !bench.get("/a", "Authorization: Bearer bob\r\n").body.contains("alice"))
    #expect(try await !bench.get("/a").body.contains("alice"))
    #expect(try await bench.get("/b", "Cookie: user=alice\r\n").body.contains("alice"))
    #expect(try await !bench.get("/b", "Cookie: user=bob\r\n").body.contains("alice"))
    #expect(try await !bench.get("/b").body.contains("alice"))
    // The proxy drops a field that `Connection` names: neither the key nor the origin gets it.
    #expect(
      try await !bench.get("/a", alice + "Connection: authorization\r\n").body.contains("alice"))
    try await bench.stop()
  }

  @Test func `clients that differ in fields that say nothing cost one request`() async throws {
    let bench = try await Bench(
      RawOrigin { _, _ in
        try await Task.sleep(for: .milliseconds(300))
        return [Array("HTTP/1.1 200 OK\r\n\(Self.fresh)Content-Length: 2\r\n\r\nok".utf8)]
      })
    try await withThrowingTaskGroup(of: String.self) { clients in
      for number in 0..<50 {
        clients.addTask {
          try await bench.get("/a", "User-Agent: \(number)\r\ntraceparent: \(number)\r\n").body
        }
      }
      for try await body in clients { #expect(body == "ok") }
    }
    #expect(bench.origin.count == 1)
    try await bench.stop()
  }

  @Test func `Vary separates`() async throws {
    let bench = try await Bench(Self.echo(Self.fresh + "Vary: X-V\r\n"))
    for _ in 0..<2 {
      for value in ["1", "2", "1,2", "1%2C2"] {
        let body = try await bench.get("/a", "X-V: \(value)\r\n").body
        #expect(body.contains("x-v=\(value)&") || body.hasSuffix("x-v=\(value)"))
      }
    }
    try await bench.stop()
  }

  // MARK: Framing towards the origin

  /// Requests whose length can be read in two ways. A server that reads the other way would find a second request in the bytes.
  @Test(arguments: [
    "Transfer-Encoding: xchunked\r\n", "Transfer-Encoding : chunked\r\n",
    "Transfer-Encoding: chunked, identity\r\n", "Transfer-Encoding: \u{B}chunked\r\n",
    "Transfer-Encoding: chunked\r\nTransfer-Encoding: x\r\n",
    "Transfer-Encoding: chunked\r\nContent-Length: 5\r\n", "Content-Length: +5\r\n",
    "Content-Length: 0x5\r\n", "Content-Length: 5, 6\r\n", "Content-Length: -1\r\n",
    "Content-Length: 99999999999999999999\r\n", "Content-Length:\r\n", "Content-Length: 5,\r\n",
    "Content-Length : 5\r\n", " Content-Length: 5\r\n",
  ])
  func `a request whose length is doubtful is a 400`(fields: String) async throws {
    let bench = try await Bench(Self.echo())
    let answer = try await bench.ask(
      "POST /a HTTP/1.1\r\nHost: x\r\n\(fields)\r\n0\r\n\r\nGET /b HTTP/1.1\r\nHost: x\r\n\r\n")
    #expect(answer.head.hasPrefix("HTTP/1.1 400 ") && !answer.body.contains("HTTP/1.1"))
    #expect(bench.origin.count == 0)
    try await bench.stop()
  }

  // MARK: An origin that is down, a store that is gone

  @Test(arguments: [
    ("must-revalidate", "504"), ("no-cache", "504"), ("stale-if-error=0", "504"),
  ])
  func `a response that must be validated is not served while the origin is down`(
    directive: String, status: String
  ) async throws {
    let asked = Mutex(0)
    let bench = try await Bench(
      RawOrigin { _, _ in
        let isFirst = asked.withLock { asked in
          asked += 1
          return asked == 1
        }
        let head = "HTTP/1.1 200 OK\r\nCache-Control: max-age=0, \(directive)\r\nETag: \"1\"\r\n"
        return isFirst ? [Array((head + "Content-Length: 4\r\n\r\nbody").utf8)] : []
      })
    #expect(try await bench.get().body == "body")
    let answer = try await bench.get()
    #expect(answer.head.hasPrefix("HTTP/1.1 \(status) ") && answer.body == "")
    try await bench.stop()
  }

  @Test func `a proxy whose store was removed opens another`() async throws {
    let path = TestDirectory.temporary()
    let origin = Self.echo()
    let address = try await origin.start()
    let cache = try ProxyCache(over: OriginTransport(to: address, on: group)) {
      try Store(at: path.text)
    }
    let server = try await ProxyServer.start(
      cache, for: address, at: Address(host: "127.0.0.1", port: 0), on: group)
    let bench = Bench(origin: origin, server: server, store: cache.cache.namespace.store)
    #expect(try await bench.get("/a").body.hasPrefix("/a|"))
    try path.remove()
    var number = 0
    try await waitUntil {
      number += 1
      let body = try await bench.get("/b\(number)").body
      #expect(body.hasPrefix("/b\(number)|"))
      return path.exists
    }
    #expect(try await bench.get("/c").body.hasPrefix("/c|"))
    try await waitUntil { try await bench.get("/c").head.contains("; hit") }
    try await server.stop()
    try await origin.stop()
    #expect(try cache.cache.namespace.store.verify().faults == [])
    try cache.close()
    try path.remove()
  }

  @Test func `a closed cache does not open its store again`() async throws {
    let path = TestDirectory.temporary()
    let origin = Self.echo()
    let address = try await origin.start()
    let cache = try ProxyCache(over: OriginTransport(to: address, on: group)) {
      try Store(at: path.text)
    }
    try cache.close()
    try path.remove()
    let request = HTTPRequest(
      method: .get, scheme: "http", authority: address.description, path: "/a")
    let result = try await cache.send(request, body: HTTPBody()) { _ in }
    #expect(String(decoding: try await result.body.bytes(), as: UTF8.self).hasPrefix("/a|"))
    #expect(!path.exists)
    try await origin.stop()
  }

  // MARK: What the answer says

  @Test func `stored is said only of what is stored`() async throws {
    let bench = try await Bench(
      RawOrigin { head, _ in
        head.start.contains("/broken")
          ? [Array("HTTP/1.1 200 OK\r\n\(Self.fresh)Content-Length: 9\r\n\r\nbody".utf8)]
          : [Array("HTTP/1.1 200 OK\r\n\(Self.fresh)Content-Length: 0\r\n\r\n".utf8)]
      })
    #expect(try await bench.get("/empty").head.contains("; stored"))
    #expect(try await !bench.get("/broken").head.contains("; stored"))
    try await bench.stop()
  }
}
