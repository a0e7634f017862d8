#if HTTPTesting
  import Foundation
  import HTTPTypes
  import Larder
  import LarderHTTP
  import LarderHTTPTesting
  import LarderURLSession
  import Synchronization
  import TestSupport
  import Testing

  #if canImport(FoundationNetworking)
    import FoundationNetworking
  #endif

  /// Server faults that `URLSession` hides.
  @Suite struct URLSessionTests {
    /// A transport with a time limit, because `URLSession` on Linux may notice a fault only at the limit.
    private static func transport(
      _ change: (URLSessionConfiguration) -> Void = { _ in }
    ) -> URLSessionTransport {
      let configuration = URLSessionConfiguration.ephemeral
      configuration.timeoutIntervalForRequest = 60
      change(configuration)
      return URLSessionTransport(configuration: configuration)
    }

    @discardableResult private static func send(
      _ request: HTTPRequest, over transport: URLSessionTransport = URLSessionTests.transport()
    ) async throws -> (response: HTTPResponse, bytes: [UInt8]) {
      let (response, body) = try await transport.send(request, body: HTTPBody(), interim: { _ in })
      return (response, try await body.bytes())
    }

    @Test(arguments: [ServerFault.truncated, .truncatedGzip])
    func `a body that was cut off is an error, and is not stored`(fault: ServerFault) async throws {
      let fixture = try Fixture(over: Self.transport())
      _ = try await fault.serve { base in
        await #expect(throws: (any Error).self) {
          try await fixture.cache.send(LarderHTTPTests.request(at: base)).body.bytes()
        }
      }
      #expect(try fixture.store.namespace("http").count() == 0)
    }

    @Test func `the origin gets each escape of a target once, and one cookie`() async throws {
      try await LocalServer.run { server in
        var request = LarderHTTPTests.request("GET", "/a|?b[1]=c%20d&e=%", at: server.base)
        request.headerFields[.cookie] = "a=1; b=2"
        try await Self.send(request)
        #expect(server.received.map(\.path) == ["/a%7C?b%5B1%5D=c%20d&e=%25"])
        #expect(server.received.map { $0.fields["cookie"] } == ["a=1; b=2"])
      }
    }

    @Test func `users whom only the configuration names share no response`() async throws {
      let fixture = try Fixture()
      try await LocalServer.run { server in
        server.become {
          .init(200, ["Cache-Control": "max-age=9"], text: $0.fields["authorization"] ?? "")
        }
        for user in ["a", "b"] {
          let transport = Self.transport { $0.httpAdditionalHeaders = ["Authorization": user] }
          let cache = HTTPCache(in: fixture.cache.namespace, over: transport)
          let result = try await cache.send(LarderHTTPTests.request(at: server.base))
          #expect(try await result.body.text() == user)
        }
      }
    }

    #if canImport(FoundationNetworking)
      @Test func `bodies are requested without a coding, unless a coding is chosen`() async throws {
        try await LocalServer.run { server in
          server.become { _ in .init(200, text: "a") }
          let chosen = Self.transport { $0.httpAdditionalHeaders = ["accept-encoding": "br"] }
          for (transport, coding) in [
            (Self.transport(), nil), (Self.transport(), "gzip"), (chosen, nil),
          ] {
            var request = LarderHTTPTests.request(at: server.base)
            request.headerFields[.acceptEncoding] = coding
            try await Self.send(request, over: transport)
          }
          #expect(
            server.received.map { $0.fields["accept-encoding"] } == ["identity", "gzip", "br"])
        }
      }
    #endif

    @Test(arguments: [
      ("http", "", "@"), ("http", "", ".invalid/"), ("http", "", ":1/"), ("http", "", "*"),
      ("http", "/x?", "/"), ("http", "#", "/"), ("http://127.0.0.1/?", "", "/"), ("ftp", "", "/"),
    ])
    func `a request whose address names another host is not sent`(
      scheme: String, suffix: String, path: String
    ) async throws {
      try await LocalServer.run { server in
        let host = String(server.base.dropFirst("http://".count))
        let request = HTTPRequest(
          method: .options, scheme: scheme, authority: path == "@" ? "a.invalid" : host + suffix,
          path: path == "@" ? "@\(host)/x" : path)
        await #expect(throws: (any Error).self) { try await Self.send(request) }
        #expect(server.count == 0)
      }
    }

    @Test func `a body that nobody reads takes a bounded part of the memory`() async throws {
      let sent = Mutex(0)
      let isOver = Mutex(false)
      try await RawServer.run { connection in
        _ = await connection.head()
        defer { isOver.withLock { $0 = true } }
        let piece = [UInt8](repeating: 7, count: 1 << 20)
        try await connection.send("HTTP/1.1 200 OK\r\nContent-Length: \(2 << 30)\r\n\r\n")
        for _ in 0..<2048 {
          try await connection.send(piece)
          sent.withLock { $0 += piece.count }
        }
      } _: { authority in
        let (_, body) = try await Self.transport().send(
          request(host: authority, scheme: "http"), body: HTTPBody(), interim: { _ in })
        // The transport closes the connection when it holds its limit of bytes. `URLSession` reads a little longer, so the
        // exact number of sent bytes depends on how busy the machine is.
        try await waitUntil { isOver.withLock { $0 } }
        #expect(sent.withLock { $0 } < 2 << 30)
        await #expect(throws: (any Error).self) { for try await _ in body {} }
      }
    }

    @Test func `a body that is released before its end ends its connection`() async throws {
      let ended = Mutex(false)
      try await RawServer.run { connection in
        _ = await connection.head()
        try await connection.send("HTTP/1.1 200 OK\r\nContent-Length: 8\r\n\r\nbegi")
        await connection.waitForEnd()
        ended.withLock { $0 = true }
      } _: { authority in
        let transport = Self.transport { $0.timeoutIntervalForRequest = 3600 }
        var response: (HTTPResponse, HTTPBody)? = try await transport.send(
          request(host: authority, scheme: "http"), body: HTTPBody(), interim: { _ in })
        #expect(response != nil && !ended.withLock { $0 })
        response = nil
        try await waitUntil { ended.withLock { $0 } }
      }
    }

    @Test(arguments: ["100 Continue", "103 Early Hints"])
    func `an interim answer is not taken for the final one`(interim: String) async throws {
      let answer =
        "HTTP/1.1 \(interim)\r\nLink: </a.css>\r\n\r\n"
        + "HTTP/1.1 404 Not Found\r\nX-A: b\r\nContent-Length: 2\r\nConnection: close\r\n\r\nab"
      let (response, bytes) = try await RawServer.run(answer: Array(answer.utf8)) { authority in
        try await Self.send(request(host: authority, scheme: "http"))
      }
      #expect(response.status.code == 404)
      #expect(
        response.headerFields[.init("X-A")!] == "b" && response.headerFields[.init("Link")!] == nil)
      #expect(bytes == Array("ab".utf8))
    }

    @Test(arguments: [("GET", "304 Not Modified"), ("HEAD", "200 OK")])
    func `an answer without a body may name a coding`(method: String, status: String) async throws {
      let answer = "HTTP/1.1 \(status)\r\nContent-Encoding: gzip\r\nConnection: close\r\n\r\n"
      let response = try await RawServer.run(answer: Array(answer.utf8)) { authority in
        try await Self.transport().send(
          request(method, host: authority, scheme: "http"), body: HTTPBody(), interim: { _ in }
        ).0
      }
      #expect("\(response.status.code)" == status.prefix(3))
    }

    @Test(arguments: ["POST", "PUT", "PATCH", "DELETE"])
    func `a request with an effect is sent once in spite of faults`(method: String) async throws {
      for fault in [ServerFault.resetKept, .reset] {
        let (isAnswered, count) = try await fault.meet(
          method, method == "DELETE" ? "" : "{}", over: Self.transport())
        #expect(isAnswered == (fault == .resetKept) && count == 1, "\(fault)")
      }
    }
  }

  extension ServerFault {
    /// Sends a request to a server with this fault. If the fault needs a kept connection, first sends another request.
    ///
    /// - Returns: Whether the client got an answer, and how often the server received the request.
    func meet(
      _ method: String, _ text: String, over transport: any HTTPTransport
    ) async throws -> (isAnswered: Bool, count: Int) {
      let lines = Mutex([String]())
      let isAnswered = try await serve(
        received: { line in lines.withLock { $0.append(line) } },
        { base in
          func send(_ method: String, _ path: String, _ text: String) async throws {
            let request = LarderHTTPTests.request(method, path, at: base)
            let (_, answer) = try await transport.send(
              request, body: HTTPBody(text), interim: { _ in })
            _ = try await answer.bytes()
          }
          if self == .resetKept { try await send("GET", "/a", "") }
          do {
            try await send(method, "/b", text)
            return true
          } catch is any TransportFailure { return false }
        })
      return (isAnswered, lines.withLock { $0.count { $0.hasPrefix(method + " /b") } })
    }
  }
#endif
