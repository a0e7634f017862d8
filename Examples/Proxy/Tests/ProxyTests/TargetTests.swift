import HTTPTypes
import Larder
import LarderHTTP
import Synchronization
import Testing

@testable import ProxyServer

/// Tests the first lines of requests and responses byte by byte.
struct TargetTests {
  /// An origin whose body is the target.
  private static var echo: RawOrigin {
    RawOrigin { head, _ in
      let target = head.start.split(separator: " ")[1]
      let start = "HTTP/1.1 200 OK\r\nCache-Control: max-age=100\r\n"
      return [Array("\(start)Content-Length: \(target.utf8.count)\r\n\r\n\(target)".utf8)]
    }
  }

  private static let fields = Array("\r\nHost: x\r\nConnection: close\r\n\r\n".utf8)

  /// The proxy compares bytes. As strings, the first two targets would be equal, and the last two would not begin with `/`.
  @Test func `bytes beyond ASCII are percent-encoded, each by itself`() async throws {
    let bench = try await Bench(Self.echo)
    let targets: [([UInt8], String)] = [
      ([0xE8], "%E8"), ([0xE9], "%E9"), ([0xEF, 0xBF, 0xBD], "%EF%BF%BD"),
      ([0xC3, 0xA9], "%C3%A9"),
      ([0x80, 0x61, 0xFF], "%80a%FF"), ([0xCC, 0x81], "%CC%81"), ([0xE2, 0x80, 0x8D], "%E2%80%8D"),
    ]
    for _ in 0..<2 {
      for (bytes, expected) in targets {
        let start = Array("GET /".utf8) + bytes + Array("?a HTTP/1.1".utf8)
        #expect(try await bench.ask(start + Self.fields).body == "/\(expected)?a")
      }
    }
    #expect(bench.origin.count == targets.count)
    try await bench.stop()
  }

  @Test(arguments: [
    Array("G".utf8) + [0xC9] + Array("T /a HTTP/1.1".utf8),
    Array("GET /a HTTP/1.".utf8) + [0xD9, 0xA1],
    Array("GET ".utf8) + [0xCC, 0x81]
      + Array("/a HTTP/1.1".utf8),
  ])
  func `bytes beyond ASCII elsewhere in the line are a 400`(start: [UInt8]) async throws {
    let bench = try await Bench(Self.echo)
    #expect(try await bench.ask(start + Self.fields).head.hasPrefix("HTTP/1.1 400 "))
    #expect(bench.origin.count == 0)
    try await bench.stop()
  }

  /// RFC 9112 has this rule in section 3.
  @Test func `a target that is too long is a 414`() async throws {
    let bench = try await Bench(Self.echo)
    let target = "/" + String(repeating: "a", count: MessageParser.longestHead)
    #expect(try await bench.get(target).head.hasPrefix("HTTP/1.1 414 "))
    try await bench.stop()
  }

  @Test func `RFC 9110, 2.5: a later HTTP/1 is read as HTTP/1.1`() async throws {
    let bench = try await Bench(Self.echo)
    let answer = try await bench.ask(Array("GET /a HTTP/1.2".utf8) + Self.fields)
    #expect(answer.head.hasPrefix("HTTP/1.1 200 ") && answer.body == "/a")
    #expect(bench.origin.received.first?.fields[.via] == "1.2 larder")
    try await bench.stop()
  }

  /// RFC 9112, section 4. A reason phrase may have any bytes beyond ASCII, because clients ignore the phrase.
  @Test(
    arguments: [
      ([0x43, 0xE9], []), ([0x80], []), ([0xFF, 0x20, 0xFE], []), ([0xC3], []),
      ([0xC3, 0xA9], [0xC3, 0xA9]), ([0xCC, 0x81, 0x61], [0xCC, 0x81, 0x61]),
      ([0xE2, 0x80, 0x8D], [0xE2, 0x80, 0x8D]), ([0x4F, 0x0D, 0x4B], [0x4F, 0x20, 0x4B]),
      ([0x4F, 0x00], [0x4F, 0x20]),
    ] as [([UInt8], [UInt8])])
  func `a reason phrase is passed on as it is, or not at all`(sent: [UInt8], passed: [UInt8])
    async throws
  {
    let fields = "\r\nCache-Control: max-age=100\r\nContent-Length: 2\r\n\r\nok"
    let bench = try await Bench(
      RawOrigin { _, _ in [Array("HTTP/1.1 203 ".utf8) + sent + Array(fields.utf8)] })
    for _ in 0..<2 {
      let client = try await RawClient(bench)
      try await client.send("GET /a HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
      let answer = Array(try await client.rest().utf8)
      #expect(answer.starts(with: Array("HTTP/1.1 203 ".utf8) + passed + [0x0D, 0x0A]))
      #expect(answer.suffix(4) == [0x0D, 0x0A] + Array("ok".utf8))
    }
    #expect(bench.origin.count == 1)
    try await bench.stop()
  }

  /// Requests with an answer, requests that fail, and first lines that are no requests.
  @Test(arguments: [
    ("GET /a?token=geheim HTTP/1.1", "GET /a 200"),
    ("GET /a?q=\"geheim\"geheim HTTP/1.1", "GET /a 200"),
    ("GET http://alice:geheim@x/a?geheim HTTP/1.1", "GET /a 200"),
    ("GET /fails?token=geheim HTTP/1.1", "GET /fails failed"),
    ("GET /a?token=geheim geheim HTTP/1.1", "bad request"),
    ("GET a?token=geheim HTTP/1.1", "bad request"),
    ("CONNECT alice:geheim@x:443 HTTP/1.1", "bad request"),
    ("GET http://alice:geheim@/?geheim HTTP/1.1 geheim", "bad request"),
  ])
  func `the log has no queries and no users`(start: String, expected: String) async throws {
    let lines = Mutex<[String]>([])
    let origin = RawOrigin { head, _ in
      head.start.contains("/fails")
        ? [Array("nonsense\r\n\r\n".utf8)]
        : [Array("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok".utf8)]
    }
    let address = try await origin.start()
    let store = try Store.temporary()
    let cache = try ProxyCache(over: OriginTransport(to: address, on: group)) { store }
    let server = try await ProxyServer.start(
      cache, for: address, at: Address(host: "127.0.0.1", port: 0), on: group,
      log: { line in lines.withLock { $0.append(line) } })
    let bench = Bench(origin: origin, server: server, store: store)
    _ = try await bench.ask(Array(start.utf8) + Self.fields)
    let log = lines.withLock { $0 }
    #expect(log.contains { $0.contains(expected) }, "\(log)")
    #expect(!log.contains { $0.contains("geheim") }, "\(log)")
    try await bench.stop()
  }

  /// Characters that a terminal would obey, or that would begin a new line. The log must escape these characters.
  @Test(arguments: [
    ("GET\u{9B}2J /a HTTP/1.1", "GET\\u{9B}2J /a HTTP/1.1"),
    ("GET /a HTTP/1.1\u{85}x", "GET /a HTTP/1.1\\u{85}x"),
    ("GET\u{202E} /a HTTP/1.1", "GET\\u{202E} /a HTTP/1.1"),
    ("GET /a\u{9B} HTTP/1.1", "GET /a%C2%9B 200"),
  ])
  func `the log has no control characters`(start: String, expected: String) async throws {
    let lines = Mutex<[String]>([])
    let origin = Self.echo
    let address = try await origin.start()
    let store = try Store.temporary()
    let cache = try ProxyCache(over: OriginTransport(to: address, on: group)) { store }
    let server = try await ProxyServer.start(
      cache, for: address, at: Address(host: "127.0.0.1", port: 0), on: group,
      log: { line in lines.withLock { $0.append(line) } })
    let bench = Bench(origin: origin, server: server, store: store)
    _ = try await bench.ask(Array(start.utf8) + Self.fields)
    #expect(lines.withLock { $0.contains { $0.contains(expected) } }, "\(lines.withLock { $0 })")
    try await bench.stop()
  }
}
