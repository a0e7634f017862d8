#if Curl && HTTPTesting
  import HTTPTypes
  import Larder
  import LarderCurl
  import LarderHTTP
  import LarderHTTPTesting
  import LarderURLSession
  import Synchronization
  import Testing

  @Suite struct CurlFaultTests {
    /// The response that a client gets from a server that sends these bytes and then closes the connection.
    private static func response(
      _ answer: [UInt8], over transport: CurlTransport = CurlTransport()
    ) async throws -> (HTTPResponse, [UInt8]) {
      try await RawServer.run(answer: answer) { authority in
        let (response, body) = try await transport.send(to: authority)
        return (response, try await body.bytes())
      }
    }

    private static func kind(
      _ answer: String, over transport: CurlTransport = CurlTransport()
    ) async throws -> CurlError.Kind? {
      do {
        _ = try await response(Array(answer.utf8), over: transport)
        return nil
      } catch let error as CurlError {
        #expect(!error.description.isEmpty)
        return error.kind
      }
    }

    @Test(arguments: ["", "HTTP/1.1 103 Early Hints\r\nLink: </a.css>\r\n\r\n"])
    func `a head cut anywhere is an error, also after interim ones`(interim: String) async throws {
      let answer = interim + "HTTP/1.1 200 OK\r\nX-A: b\r\nContent-Length: 2\r\n\r\nab"
      let transport = CurlTransport()
      for count in interim.utf8.count..<answer.utf8.count {
        let kind = try await Self.kind(
          String(decoding: answer.utf8.prefix(count), as: UTF8.self), over: transport)
        #expect(kind == .interrupted, "after \(count) bytes")
      }
      #expect(try await Self.kind(answer, over: transport) == nil)
    }

    @Test func `a cache answers from the store in place of a head that breaks off`() async throws {
      let fixture = try Fixture(over: CurlTransport())
      let count = Atomic(0)
      try await RawServer.run { connection in
        _ = await connection.head()
        let isFirst = count.add(1, ordering: .relaxed).newValue == 1
        let start = "HTTP/1.1 200 OK\r\nCache-Control: max-age=0, stale-if-error=60\r\nContent-Le"
        try await connection.send(isFirst ? start + "ngth: 1\r\n\r\na" : start)
      } _: { authority in
        for _ in 1...2 {
          let result = try await fixture.cache.send(request(host: authority, scheme: "http"))
          #expect(try await result.body.bytes() == [0x61])
        }
      }
      let connections = count.load(ordering: .relaxed)
      #expect(connections == 2)
    }

    @Test(arguments: [
      "Content-Length: 9\r\n\r\nbody", "Transfer-Encoding: chunked\r\n\r\n4\r\nbody\r\n",
      "Transfer-Encoding: chunked\r\n\r\n9\r\nbody", "Transfer-Encoding: chunked\r\n\r\nx\r\nbody",
    ]) func `a body that breaks off ends with an error`(rest: String) async throws {
      #expect(try await Self.kind("HTTP/1.1 200 OK\r\n" + rest) == .interrupted)
    }

    @Test(arguments: [
      "", "HTTP/1.1 200 OK\r\n", "HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nbody",
    ]) func `a connection that is reset is an error`(start: String) async throws {
      try await RawServer.run { connection in
        // The server leaves bytes unread and closes the connection, so the system resets the connection.
        _ = try await connection.body(1)
        if !start.isEmpty { try await connection.send(start) }
      } _: { authority in
        let error = await #expect(throws: CurlError.self) {
          let (_, body) = try await CurlTransport().send(to: authority)
          _ = try await body.bytes()
        }
        #expect(error?.kind == .interrupted)
      }
    }

    @Test(arguments: [
      "SSH-2.0-OpenSSH_9.2\r\n", "this is not HTTP\r\n\r\n", "HTTP/1.1 20 OK\r\n\r\n",
      "HTTP/1.1 abc OK\r\n\r\n", "HTTP/1.1 200 OK\r\nno colon\r\n\r\n",
      "HTTP/1.1 200 OK\r\n: a\r\n\r\n", "HTTP/1.1 200 OK\r\nX A: a\r\n\r\n",
      "HTTP/1.1 200 OK\r\n:status: 204\r\n\r\n", "HTTP/1.1 200 OK\r\n folded: a\r\n\r\n",
      "HTTP/1.1 200 OK\r\nX-A: a\u{0}b\r\n\r\n", "HTTP/1.1 200 OK\r\nX-A: a\rb\r\n\r\n",
    ]) func `an answer that is not HTTP is an error`(answer: String) async throws {
      #expect(try await Self.kind(answer) == .notHTTP)
    }

    @Test(arguments: [true, false])
    func `bytes that nobody asked for answer no later request`(areAtOnce: Bool) async throws {
      let start = "HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\n"
      let (reads, read) = AsyncStream.makeStream(of: Void.self)
      let (sendings, sent) = AsyncStream.makeStream(of: Void.self)
      let count = Atomic(0)
      try await RawServer.run { connection in
        let isOdd = count.add(1, ordering: .relaxed).newValue == 1
        while await connection.head() != nil {
          try await connection.send(start + (!isOdd ? "b" : areAtOnce ? "a\(start)x" : "a"))
          if isOdd, !areAtOnce {
            for await _ in reads { break }
            try await connection.send(start + "x")
          }
          sent.yield()
        }
      } _: { authority in
        let transport = CurlTransport()
        for expected in ["a", "b", "b"] {
          let (_, body) = try await transport.send(to: authority)
          try #require(try await body.text() == expected)
          read.yield()
          for await _ in sendings { break }
        }
      }
    }

    @Test func `odd values are kept, and continued ones are joined`() async throws {
      let lines = "HTTP/1.1 200 OK\r\nX-A: \t a \t\r\nX-B:\r\nX-C: a\r\n \t b\r\nX-D: ä"
      let answer = Array(lines.utf8) + [0xE9] + Array("\r\nContent-Length: 0\r\n\r\n".utf8)
      let (response, _) = try await Self.response(answer)
      let values = response.headerFields.map(\.valueBytes)
      #expect(values.prefix(3).elementsEqual(["a", "", "a b"].map { Array($0.utf8) }))
      #expect(values[3] == Array("ä".utf8) + [0xE9])
    }

    @Test(arguments: [1, 4, 200, 2_000]) func `a head has at most 256 KB`(count: Int) async throws {
      let field = String(repeating: "x", count: 400_000 / count)
      let fields = (0..<count).map { "X-\($0): \(field)\r\n" }.joined()
      let one = "HTTP/1.1 200 OK\r\n" + fields + "Content-Length: 0\r\n\r\n"
      let many = String(repeating: "HTTP/1.1 103 A\r\nX-A: \(field)\r\n\r\n", count: count)
      for answer in [one, many] { #expect(try await Self.kind(answer) == .notHTTP) }
    }

    @Test(arguments: [1_000, 1_001]) func `a head has up to 1,000 fields`(count: Int) async throws {
      let fields = (1..<count).map { "X-\($0): a\r\n" }.joined()
      let answer = Array("HTTP/1.1 200 OK\r\n\(fields)Content-Length: 0\r\n\r\n".utf8)
      do {
        let (response, _) = try await Self.response(answer)
        #expect(count == 1_000 && response.headerFields.count == count)
      } catch { #expect(error as? HTTPCacheError == .tooManyFields(count) && count > 1_000) }
    }

    @Test func `an origin without a server, a name or TLS is an error`() async throws {
      func kind(_ scheme: String, _ authority: String) async -> CurlError.Kind? {
        let request = HTTPRequest(method: .get, scheme: scheme, authority: authority, path: "/")
        do {
          _ = try await CurlTransport().send(request, body: HTTPBody()) { _ in }
          return nil
        } catch { return (error as? CurlError)?.kind }
      }
      try await RawServer.run {
        try await $0.send("no TLS\r\n")
      } _: { authority in
        #expect(await kind("https", authority) == .insecure)
      }
      try await RawServer.refuse { #expect(await kind("http", $0) == .refused) }
      // The name is too long, so curl reports the error without a name server.
      #expect(await kind("http", String(repeating: "a", count: 64) + ".invalid") == .unknownHost)
    }

    @Test(arguments: [
      ("ftp", "127.0.0.1", "/"), ("file", "", "/etc/passwd"),
      ("http", "127.0.0.1", "@example.com/"),
      ("http", "user:word@127.0.0.1", "/"), ("http", "127.0.0.1", "/a b"), ("http", "", "/"),
      ("http", "127.0.0.1:99999", "/"), ("http", "", "/127.0.0.1/"), ("http", "127.0.0.1", ".a/"),
      ("http", "127.0.0.1/x?", "/"), ("http", "127.0.0.1", "*"), ("http://127.0.0.1/?", "a", "/"),
    ]) func `a request that is none is not sent`(scheme: String, authority: String, path: String)
      async throws
    {
      let request = HTTPRequest(method: .get, scheme: scheme, authority: authority, path: path)
      let error = await #expect(throws: CurlError.self) {
        try await CurlTransport().send(request, body: HTTPBody()) { _ in }
      }
      #expect(error?.kind == .invalidRequest)
    }
  }

  /// Origins that accept a connection but fail in the handshake of TLS.
  @Suite struct SecureConnectionTests {
    /// The answer of a server to the first message of TLS.
    enum Handshake: String, CaseIterable {
      /// A server that does not speak TLS.
      case plain = "HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n"
      /// A fatal alert: the client and the server have no cipher in common.
      case alert = "\u{15}\u{3}\u{1}\0\u{2}\u{2}\u{28}"
    }

    private static let transports: [any HTTPTransport] = [CurlTransport(), URLSessionTransport()]

    /// The answer of a cache that has a stale response and asks the server over this transport.
    private static func answer(
      over transport: any HTTPTransport, from authority: String, _ control: String = "max-age=1"
    ) async throws -> HTTPCacheResult {
      let fixture = try Fixture(over: transport)
      let request = HTTPRequest(method: .get, scheme: "https", authority: authority, path: "/a")
      let fresh = HTTPResponse(status: .ok, headerFields: [.cacheControl: control])
      #expect(try await fixture.cache.put(fresh, body: [1], for: request))
      fixture.clock.advance(by: .seconds(2))
      return try await fixture.cache.send(request)
    }

    @Test(arguments: Handshake.allCases, 0..<transports.count)
    func `it is an error, and no stale response is served as if the origin were away`(
      handshake: Handshake, transport: Int
    ) async throws {
      try await RawServer.run { connection in
        _ = try await connection.body(1)
        try await connection.send(handshake.rawValue)
        await connection.waitForEnd()
      } _: { authority in
        for control in ["max-age=1", "max-age=1, stale-if-error=60"] {
          await #expect(throws: (any Error).self) {
            try await Self.answer(over: Self.transports[transport], from: authority, control)
          }
        }
      }
    }

    @Test(arguments: 0..<transports.count)
    func `an origin without a server is away`(transport: Int) async throws {
      try await RawServer.refuse { authority in
        let result = try await Self.answer(over: Self.transports[transport], from: authority)
        #expect(result.reason == .staleDisconnected)
      }
    }
  }
#endif
