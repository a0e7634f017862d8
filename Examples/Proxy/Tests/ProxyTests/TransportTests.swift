import HTTPTypes
import Larder
import LarderHTTP
import Synchronization
import Testing

@testable import ProxyServer

struct TransportTests {
  private static func request(
    _ method: HTTPRequest.Method = .get, _ path: String = "/a", at address: Address
  ) -> HTTPRequest {
    HTTPRequest(method: method, scheme: "http", authority: address.description, path: path)
  }

  @Test(arguments: Transports.allCases)
  func `requests go as they are, and what is stale is validated`(kind: Transports) async throws {
    let origin = RawOrigin { head, _ in
      let isSame = head.fields[.ifNoneMatch] == "odd"
      let start = isSame ? "304 Not Modified" : "200 OK"
      let body = isSame ? "" : "Content-Length: 4\r\n\r\nbody"
      return [
        Array("HTTP/1.1 \(start)\r\nCache-Control: max-age=0\r\nETag: odd\r\n\(body)\r\n".utf8)
      ]
    }
    let address = try await origin.start()
    let store = try Store.temporary()
    let cache = HTTPCache(in: store.namespace("http"), over: kind.made)
    let request = Self.request(.get, "/a?b[1]=c%20d", at: address)
    let first = try await cache.send(request)
    #expect(try await first.body.bytes() == Array("body".utf8))
    let second = try await cache.send(request)
    #expect(second.reason == .validated && second.body.whole == Array("body".utf8))
    let name = kind == .curl ? "b[1]" : "b%5B1%5D"
    #expect(origin.count == 2 && origin.received[0].start == "GET /a?\(name)=c%20d HTTP/1.1")
    try await origin.stop()
  }

  @Test(arguments: Transports.allCases, ["POST", "PURGE"])
  func `methods, fields and bodies reach the origin`(kind: Transports, method: String) async throws
  {
    let bodies = Mutex<[[UInt8]]>([])
    let origin = RawOrigin { _, body in
      bodies.withLock { $0.append(body) }
      return [Array("HTTP/1.1 201 Created\r\nContent-Length: 0\r\n\r\n".utf8)]
    }
    let address = try await origin.start()
    var request = Self.request(.init(method)!, at: address)
    request.headerFields[.init("X-One")!] = "1"
    request.headerFields[.authorization] = "Bearer x"
    request.headerFields[.cookie] = "a=1; b=2"
    let sent = [UInt8](repeating: 7, count: 100_000)
    let (response, body) = try await kind.made.send(request, body: HTTPBody(sent)) { _ in }
    #expect(try await body.bytes().isEmpty)
    #expect(response.status.code == 201)
    let head = try #require(origin.received.first)
    #expect(head.start == "\(method) /a HTTP/1.1" && head.fields[.init("X-One")!] == "1")
    #expect(head.fields[.authorization] == "Bearer x")
    #expect(head.fields[values: .cookie] == ["a=1; b=2"])
    #expect(bodies.withLock { $0 } == [sent])
    try await origin.stop()
  }

  @Test(arguments: Transports.allCases)
  func `a redirection is the answer that it is`(kind: Transports) async throws {
    let origin = RawOrigin("HTTP/1.1 302 Found\r\nLocation: /b\r\nContent-Length: 0\r\n\r\n")
    let address = try await origin.start()
    let (response, _) = try await kind.made.send(Self.request(at: address), body: HTTPBody()) { _ in
    }
    #expect(response.status.code == 302 && response.headerFields[.location] == "/b")
    #expect(origin.count == 1)
    try await origin.stop()
  }

  @Test(arguments: Transports.allCases)
  func `an address without a server is an error at once`(kind: Transports) async throws {
    let origin = RawOrigin("")
    let address = try await origin.start()
    try await origin.stop()
    let start = ContinuousClock.now
    let error = await #expect(throws: (any Error).self) {
      _ = try await kind.made.send(Self.request(at: address), body: HTTPBody()) { _ in }
    }
    // On Linux `URLSession` reports some refused connections without a code.
    #expect(!kind.isExact || (error as? any TransportFailure)?.isOffline == true)
    #expect(start.duration(to: .now) < .seconds(5))
  }

  @Test(arguments: Transports.allCases.filter(\.isExact))
  func `user information in a URI is refused`(kind: Transports) async throws {
    let request = HTTPRequest(method: .get, scheme: "http", authority: "a:b@127.0.0.1:1", path: "/")
    let error = await #expect(throws: (any Error).self) {
      _ = try await kind.made.send(request, body: HTTPBody()) { _ in }
    }
    #expect((error as? any TransportFailure)?.failure == .unusable)
  }

  @Test(arguments: Transports.allCases)
  func `an origin that hangs up is asked once`(kind: Transports) async throws {
    let origin = RawOrigin { _, _ in [] }
    let address = try await origin.start()
    await #expect(throws: (any Error).self) {
      _ = try await kind.made.send(Self.request(at: address), body: HTTPBody()) { _ in }
    }
    #expect(origin.count == 1)
    try await origin.stop()
  }

  @Test(arguments: Transports.allCases)
  func `a body comes while the origin still makes it`(kind: Transports) async throws {
    let (parts, more) = AsyncStream.makeStream(of: String.self)
    let origin = RawOrigin(parts)
    let address = try await origin.start()
    more.yield("HTTP/1.1 200 OK\r\nContent-Length: 8\r\n\r\nbegi")
    let (_, body) = try await kind.made.send(Self.request(at: address), body: HTTPBody()) { _ in }
    var pieces = body.makeAsyncIterator()
    #expect(try await pieces.next() == Array("begi".utf8))
    more.yield("nend")
    more.finish()
    #expect(try await pieces.next() == Array("nend".utf8))
    #expect(try await pieces.next() == nil)
    try await origin.stop()
  }

  @Test(arguments: Transports.allCases)
  func `a body that breaks off ends with an error`(kind: Transports) async throws {
    let origin = RawOrigin("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nbody")
    let address = try await origin.start()
    let (_, body) = try await kind.made.send(Self.request(at: address), body: HTTPBody()) { _ in }
    let error = await #expect(throws: (any Error).self) { try await body.bytes() }
    #expect(!kind.isExact || (error as? any TransportFailure)?.isRetryable == true)
    try await origin.stop()
  }

  @Test(arguments: Transports.allCases, [true, false])
  func `a cancelled caller waits no longer, neither for the head nor for the body`(
    kind: Transports, hasHead: Bool
  ) async throws {
    let (parts, more) = AsyncStream.makeStream(of: String.self)
    let origin = RawOrigin(parts)
    let address = try await origin.start()
    if hasHead { more.yield("HTTP/1.1 200 OK\r\nContent-Length: 8\r\n\r\nbegi") }
    let transport = kind.made
    let asking = Task {
      let (_, body) = try await transport.send(Self.request(at: address), body: HTTPBody()) { _ in }
      return try await body.bytes()
    }
    try await waitUntil { origin.count > 0 }
    asking.cancel()
    await #expect(throws: CancellationError.self) { try await asking.value }
    more.finish()
    try await origin.stop()
  }

  @Test(arguments: Transports.allCases.filter(\.isExact))
  func `fields and bodies come as they are`(kind: Transports) async throws {
    let zipped: [UInt8] = [0x1F, 0x8B, 8, 0]
    let origin = RawOrigin { _, _ in
      let lines =
        "HTTP/1.1 299 Fine, thanks\r\nX-B: 2\r\nX-A: 1\r\nX-B: 3\r\nContent-Encoding: gzip\r\nContent-Length: 4\r\n\r\n"
      return [Array(lines.utf8) + zipped]
    }
    let address = try await origin.start()
    let (response, body) = try await kind.made.send(Self.request(at: address), body: HTTPBody()) {
      _ in
    }
    #expect(response.status == .init(code: 299, reasonPhrase: "Fine, thanks"))
    #expect(
      response.headerFields.map { "\($0.name.rawName)=\($0.value)" } == [
        "X-B=2", "X-A=1", "X-B=3", "Content-Encoding=gzip", "Content-Length=4",
      ])
    #expect(try await body.bytes() == zipped)
    try await origin.stop()
  }
}
