import HTTPTypes
import Larder
import LarderHTTP
import NIOCore
import Testing

@testable import ProxyServer

/// Answers that the event loop sends itself, without a call of the cache, and that must equal the cache's answers.
@Suite struct ReadyTests {
  private static func response(_ fields: String, _ body: String) -> String {
    "HTTP/1.1 200 OK\r\n\(fields)Content-Length: \(body.utf8.count)\r\n\r\n\(body)"
  }

  private static let fresh = "Cache-Control: max-age=100\r\nETag: \"1\"\r\n"

  /// A client that keeps its connection.
  private struct Client {
    let client: RawClient

    init(_ bench: Bench, receiveBuffer: CInt = 1 << 20) async throws {
      client = try await RawClient(bench, receiveBuffer: receiveBuffer)
    }

    /// The whole answer with a body of stated length.
    func get(_ path: String = "/a", _ fields: String = "") async throws -> String {
      try await client.send("GET \(path) HTTP/1.1\r\nHost: x\r\n\(fields)\r\n")
      return try await next()
    }

    func next() async throws -> String {
      var text = ""
      while true {
        guard let bytes = try await client.connection.read() else { return text }
        text += String(decoding: bytes.readableBytesView, as: UTF8.self)
        guard let end = text.firstRange(of: "\r\n\r\n") else { continue }
        let line = text.split(separator: "\r\n").first { $0.hasPrefix("Content-Length: ") }
        let length = line.flatMap { Int($0.dropFirst("Content-Length: ".count)) } ?? 0
        if text[end.upperBound...].utf8.count >= length { return text }
      }
    }
  }

  @Test(arguments: ["", "body", String(repeating: "long ", count: 12_000)])
  func `the answer to a repeated request has the same bytes`(body: String) async throws {
    let clock = ManualClock()
    let bench = try await Bench(
      RawOrigin(Self.response(Self.fresh + "X:  two  words\r\n", body)), clock: clock)
    let client = try await Client(bench)
    _ = try await client.get()
    let usual = try await client.get()
    let ready = try #require(bench.server.ready)
    #expect(try await ready.count() == 0)
    #expect(usual.contains("larder; hit; ttl=100\r\n") && usual.contains("Age: 0\r\n"))
    #expect(try await client.get("/a", "User-Agent: t\r\nConnection: Keep-Alive\r\n") == usual)
    #expect(try await client.get() == usual)
    #expect(try await ready.count() == 2)
    #expect(bench.origin.count == 1)
    client.client.close()
    try await bench.stop()
  }

  /// Before the client takes the answer, it may send another request. Then the client ends its side, or the proxy stops.
  @Test(arguments: [(0, false), (1, false), (1, true)])
  func `the last answers before an end of the connection are whole and in order`(
    others: Int, isStop: Bool
  ) async throws {
    let body = String(repeating: "long ", count: 12_000)
    let bench = try await Bench(
      RawOrigin(Self.response(Self.fresh, body)), clock: ManualClock())
    let client = try await Client(bench, receiveBuffer: 4096)
    _ = try await client.get()
    let connection = bench.server.connections.all[0]
    try await connection.channel.setOption(.socketOption(.so_sndbuf), value: 4096).get()
    let usual = try await client.get()
    let request = "GET /a HTTP/1.1\r\nHost: x\r\n\r\n"
    try await client.client.send(request)
    try await waitUntil { await connection.waitingBytes() > 0 }
    for _ in 0..<others { try await client.client.send(request) }
    let connections = bench.server.connections
    let stopping = isStop ? Task { await connections.end(within: .seconds(10)) } : nil
    if isStop {
      try await waitUntil { connections.isEnding }
      connection.endAtRequest()
    } else {
      try await client.client.connection.channel.close(mode: .output)
    }
    #expect(await connection.waitingBytes() > 0)
    let answers = String(repeating: usual, count: isStop ? 1 : 1 + others)
    #expect(try await client.client.rest() == answers)
    #expect(try await #require(bench.server.ready).count() == 1)
    client.client.close()
    await stopping?.value
    try await bench.stop()
  }

  @Test func `the event loop gives way between ready answers`() async throws {
    let bench = try await Bench(RawOrigin(Self.response(Self.fresh, "body")))
    let client = try await Client(bench)
    for _ in 0..<LoopTurn.batch + 1 { _ = try await client.get() }
    let ready = try #require(bench.server.ready)
    #expect(try await ready.turns() == 0)
    for _ in 0..<2 { _ = try await client.get() }
    #expect(try await ready.turns() == 1)
    client.client.close()
    try await bench.stop()
  }

  @Test func `the age is that of each request, and a stale response is not given`() async throws {
    let clock = ManualClock()
    var limits = ProxyLimits()
    (limits.head, limits.idle) = (.seconds(1_000), .seconds(1_000))
    let bench = try await Bench(
      RawOrigin(Self.response(Self.fresh, "body")), limits: limits, clock: clock)
    let client = try await Client(bench)
    for _ in 0..<3 { _ = try await client.get() }
    clock.advance(by: .milliseconds(30_500))
    let answer = try await client.get()
    #expect(answer.contains("Age: 30\r\n") && answer.contains("ttl=70\r\n"))
    clock.advance(by: .milliseconds(69_499))
    #expect(try await client.get().contains("Age: 99\r\n"))
    #expect(try await #require(bench.server.ready).count() == 3 && bench.origin.count == 1)
    clock.advance(by: .milliseconds(1))
    #expect(try await client.get().contains("fwd=stale"))
    #expect(bench.origin.count == 2)
    client.client.close()
    try await bench.stop()
  }

  @Test func `after any commit the cache is asked`() async throws {
    let bench = try await Bench(RawOrigin(Self.response(Self.fresh, "body")))
    let client = try await Client(bench)
    for _ in 0..<3 { _ = try await client.get() }
    #expect(try await #require(bench.server.ready).count() == 1)
    try await client.client.send("POST /a HTTP/1.1\r\nHost: x\r\nContent-Length: 0\r\n\r\n")
    #expect(try await client.next().hasSuffix("body"))
    #expect(try await client.get().contains("fwd=uri-miss"))
    #expect(try await client.get().contains("larder; hit"))
    #expect(bench.origin.count == 3)
    client.client.close()
    try await bench.stop()
  }

  @Test func `fields that choose the answer are obeyed`() async throws {
    let bench = try await Bench(RawOrigin(Self.response(Self.fresh, "body")))
    let client = try await Client(bench)
    for _ in 0..<3 { _ = try await client.get() }
    let ready = try #require(bench.server.ready)
    #expect(try await ready.count() == 1)
    #expect(try await client.get("/a", "If-None-Match: \"1\"\r\n").hasPrefix("HTTP/1.1 304 "))
    #expect(try await client.get("/a", "Range: bytes=1-2\r\n").hasSuffix("\r\n\r\nod"))
    #expect(bench.origin.count == 1)
    #expect(try await client.get("/a", "Authorization: Bearer t\r\n").contains("fwd="))
    #expect(try await client.get("/a", "CACHE-CONTROL: no-cache\r\n").contains("fwd="))
    #expect(try await client.get("/b").contains("fwd=uri-miss"))
    #expect(try await ready.count() == 1)
    client.client.close()
    try await bench.stop()
  }

  @Test func `each client gets the variant of its fields`() async throws {
    let bench = try await Bench(
      RawOrigin { head, _ in
        let language = head.fields[.acceptLanguage] ?? "none"
        return [Array(Self.response(Self.fresh + "Vary: Accept-Language\r\n", language).utf8)]
      })
    let clients = [try await Client(bench), try await Client(bench)]
    for round in 0..<5 {
      for (client, language) in zip(clients, ["de", "fr"]) {
        let answer = try await client.get("/a", "Accept-Language: \(language)\r\n")
        #expect(answer.hasSuffix("\r\n\r\n" + language), "round \(round)")
      }
    }
    #expect(try await clients[0].get().hasSuffix("\r\n\r\nnone"))
    #expect(try await #require(bench.server.ready).count() > 0)
    #expect(bench.origin.count == 3)
    for client in clients { client.client.close() }
    try await bench.stop()
  }

  @Test func `answers with many fields are not kept without end`() async throws {
    let fields = String(repeating: "a: b\r\n", count: 600)
    let bench = try await Bench(RawOrigin(Self.response(Self.fresh + fields, "body")))
    let client = try await Client(bench)
    let ready = try #require(bench.server.ready)
    for number in 0..<60 { _ = try await client.get("/\(number)") }
    for number in 0..<60 { _ = try await client.get("/\(number)") }
    _ = try await client.get("/59")
    #expect(try await ready.count() == 1)
    _ = try await client.get("/0")
    #expect(try await ready.count() == 1, "the first ones were let go of")
    client.client.close()
    try await bench.stop()
  }

  @Test func `requests in one piece are answered in order`() async throws {
    let bench = try await Bench(
      RawOrigin { head, _ in
        [Array(Self.response(Self.fresh, String(head.start.split(separator: " ")[1])).utf8)]
      })
    let client = try await Client(bench)
    for _ in 0..<3 {
      for path in ["/a", "/b"] { _ = try await client.get(path) }
    }
    try await client.client.send(
      "GET /a HTTP/1.1\r\nHost: x\r\n\r\nGET /b HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
    let answers = try await client.client.rest()
    let bodies = answers.split(separator: "\r\n\r\n").dropFirst().map { $0.prefix(2) }
    #expect(bodies == ["/a", "/b"])
    client.client.close()
    try await bench.stop()
  }
}
