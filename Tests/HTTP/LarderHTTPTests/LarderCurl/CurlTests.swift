#if Curl && HTTPTesting
  import HTTPTypes
  import LarderCurl
  import LarderHTTP
  import LarderHTTPTesting
  import Synchronization
  import Testing

  @Suite struct CurlTests {
    @Test(arguments: [HTTPRequest.Method.post, .put, .init("PURGE")!])
    func `methods, fields and bodies arrive as they are`(method: HTTPRequest.Method) async throws {
      let heads = Mutex([String]())
      let sent = [UInt8](repeating: 7, count: 2_000_000)
      try await RawServer.run { connection in
        let head = await connection.head()!
        heads.withLock { $0.append(head) }
        let isWhole = try await connection.body(sent.count) == sent
        try await connection.send(
          "HTTP/1.1 \(isWhole ? 201 : 400) Made\r\nContent-Length: 0\r\n\r\n")
      } _: { authority in
        var request = LarderHTTPTests.request(
          method.rawValue, "/a/../b?c[0]=%20d", [("X-One", "1"), ("X-None", ""), ("X-One", "2")],
          host: authority, scheme: "http")
        request.headerFields[.contentLength] = "5"
        request.headerFields[.expect] = "100-continue"
        request.headerFields[.cookie] = "a=1; b=2"
        let (response, body) = try await CurlTransport().send(request, body: HTTPBody(sent)) { _ in
        }
        #expect(try await body.bytes().isEmpty && response.status.code == 201)
        let expected =
          "\(method.rawValue) /a/../b?c[0]=%20d HTTP/1.1\r\nHost: \(authority)\r\nAccept-Encoding: identity\r\n"
          + "X-One: 1\r\nX-None:\r\nX-One: 2\r\nCookie: a=1; b=2\r\nContent-Length: 2000000\r\n\r\n"
        #expect(heads.withLock { $0 } == [expected])
      }
    }

    @Test(arguments: [HTTPRequest.Method.get, .post, .delete])
    func `a request says if it has no usual body`(method: HTTPRequest.Method) async throws {
      try await RawServer.run { connection in
        let isTold = await connection.head()!.contains("Content-Length: 0\r\n")
        try await connection.send("HTTP/1.1 \(isTold ? 201 : 200) OK\r\nContent-Length: 0\r\n\r\n")
      } _: { authority in
        let (response, _) = try await CurlTransport().send(method, to: authority)
        #expect(response.status.code == (method == .post ? 201 : 200))
      }
    }

    @Test func `requests that name no program get the one of the transport`() async throws {
      let heads = Mutex([String]())
      try await RawServer.run { connection in
        while let head = await connection.head() {
          heads.withLock { $0.append(head) }
          try await connection.send("HTTP/1.1 204 None\r\n\r\n")
        }
      } _: { authority in
        let transport = CurlTransport(userAgent: "a/1")
        for own in [nil, "b/2"] {
          var request = LarderHTTPTests.request(host: authority, scheme: "http")
          request.headerFields[.userAgent] = own
          _ = try await transport.send(request, body: HTTPBody()) { _ in }.1.bytes()
        }
      }
      for (head, agent) in zip(heads.withLock { $0 }, ["a/1", "b/2"]) {
        #expect(head.contains("User-Agent: \(agent)\r\n"))
      }
    }

    @Test func `fields and bodies come as they are, and no redirection is followed`() async throws {
      let zipped: [UInt8] = [0x1F, 0x8B, 8, 0]
      let head =
        "HTTP/1.1 302 Over there\r\nX-B: 2\r\nSet-Cookie: a=1\r\nX-A: 1\r\nSet-Cookie: b=2\r\n"
        + "Location: /b\r\nContent-Encoding: gzip\r\nContent-Length: 4\r\n\r\n"
      let transport = CurlTransport()
      try await RawServer.run(answer: Array(head.utf8) + zipped) { authority in
        for _ in 1...2 {
          let (response, body) = try await transport.send(to: authority)
          #expect(response.status == .init(code: 302, reasonPhrase: "Over there"))
          #expect(
            response.headerFields.map { "\($0.name.rawName)=\($0.value)" } == [
              "X-B=2", "Set-Cookie=a=1", "X-A=1", "Set-Cookie=b=2", "Location=/b",
              "Content-Encoding=gzip", "Content-Length=4",
            ])
          #expect(try await body.bytes() == zipped)
        }
      }
    }

    @Test func `interim responses come first, in order, and trailers are no fields`() async throws {
      let answer =
        "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: </a.css>\r\n\r\n"
        + "HTTP/1.1 404 Not Found\r\nX-A: b\r\nTransfer-Encoding: chunked\r\n\r\n"
        + "2\r\nab\r\n1\r\nc\r\n0\r\nX-Late: d\r\n\r\n"
      let interim = Mutex([String]())
      let (response, bytes) = try await RawServer.run(answer: Array(answer.utf8)) { authority in
        let (response, body) = try await CurlTransport().send(
          request(host: authority, scheme: "http"), body: HTTPBody()
        ) { response in
          interim.withLock { $0.append("\(response.status.code) \(response.headerFields.count)") }
        }
        return (response, try await body.bytes())
      }
      #expect(interim.withLock { $0 } == ["100 0", "103 1"])
      #expect(response.status.code == 404 && bytes == Array("abc".utf8))
      #expect(response.headerFields.map(\.name.rawName) == ["X-A", "Transfer-Encoding"])
    }

    @Test func `the answer to HEAD has no body`() async throws {
      let answer = Array("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n".utf8)
      try await RawServer.run(answer: answer) { authority in
        let (response, body) = try await CurlTransport().send(.head, to: authority)
        #expect(response.headerFields[.contentLength] == "5")
        #expect(try await body.bytes().isEmpty)
      }
    }

    @Test func `a connection is used again, but not for a request with an effect`() async throws {
      let connections = Atomic(0)
      try await RawServer.run { connection in
        let number = connections.add(1, ordering: .relaxed).newValue
        while await connection.head() != nil {
          try await connection.send(
            "HTTP/1.1 200 OK\r\nX-N: \(number)\r\nContent-Length: 1\r\n\r\na")
        }
      } _: { authority in
        let transport = CurlTransport()
        var numbers: [String?] = []
        for method in [HTTPRequest.Method.get, .get, .delete, .head, .get] {
          let (response, body) = try await transport.send(method, to: authority)
          // This server sends a body also to HEAD, so no other request can follow on that connection.
          _ = try await body.bytes()
          numbers.append(response.headerFields[.init("X-N")!])
          if method == .head { break }
        }
        #expect(numbers == ["1", "1", "2", "2"])
      }
    }

    @Test(arguments: ["GET", "POST", "DELETE"])
    func `a kept connection that ends makes no effect come twice`(method: String) async throws {
      for fault in [ServerFault.resetKept, .reset] {
        let (isAnswered, count) = try await fault.meet(
          method, method == "POST" ? "{}" : "", over: CurlTransport())
        #expect(isAnswered == (fault == .resetKept))
        #expect(count == (fault == .resetKept && method == "GET" ? 2 : 1), "\(fault)")
      }
    }
  }

  extension CurlTransport {
    func send(
      _ method: HTTPRequest.Method = .get, path: String = "/a", to authority: String
    ) async throws -> (HTTPResponse, HTTPBody) {
      let request = LarderHTTPTests.request(method.rawValue, path, host: authority, scheme: "http")
      return try await send(request, body: HTTPBody()) { _ in }
    }
  }
#endif
