import ExampleProgram
import ExampleTesting

struct Thing: Codable, Equatable { var name: String }

extension Service {
  /// A service over a cache in `store`, with the credentials `key abc`.
  static func tested(
    at base: String, in store: Store, over transport: (any HTTPTransport)? = nil,
    slept: Lines<Duration> = Lines<Duration>()
  ) -> Service {
    let cache = HTTPCache(in: store.namespace("http"), over: transport ?? URLSessionTransport())
    var service = Service(at: base, over: cache)
    service.fields = [.authorization: "key abc"]
    service.sleep = { slept.add($0) }
    return service
  }
}

/// The service that all adapters use: cache, credentials, waits, errors, recordings.
@Suite(.checkedStores) struct ServiceTests {
  @Test func `a fresh answer is asked for once, and can be forgotten`() async throws {
    let store = try Store.tested()
    try await LocalServer.run { server in
      server.become { _ in .init(200, ["Cache-Control": "max-age=60"], text: #"{"name":"a"}"#) }
      let service = Service.tested(at: server.base + "/api", in: store)
      for _ in 1...2 {
        let thing = try await service.get(Thing.self, from: "/things?x=1%2F2&u=http://x")
        #expect(thing == Thing(name: "a"))
      }
      #expect(server.received.map(\.path) == ["/api/things?x=1%2F2&u=http://x"])
      #expect(server.received[0].fields["authorization"] == "key abc")
      #expect(try await service.forget("/things?x=1%2F2&u=http://x").entries == 1)
      _ = try await service.send("/things?x=1%2F2&u=http://x")
      #expect(server.count == 2)
    }
  }

  @Test func `credentials go to the service alone, in whatever case its address is`() async throws {
    #expect(Service.base(" HTTP://User@LEGO.example:80/Api/ ") == "http://User@lego.example:80/Api")
    #expect(Service.base("http://Z\u{DC}RICH.example:8") == "http://xn--zrich-kva.example:8")
    let store = try Store.tested()
    try await LocalServer.run { server in
      server.become { request in
        switch request.path {
        case "/api/a": .init(302, ["Location": "b?x=1"])
        case "/api/b?x=1": .init(308, ["Location": server.base + "/elsewhere"])
        case "/api/file": .init(302, ["Location": "file:///etc/passwd"])
        case "/api/loop": .init(301, ["Location": request.path])
        default: .init(200, text: #"{"name":"c"}"#)
        }
      }
      let service = Service.tested(at: server.base + "/api", in: store)
      // 127.0.0.1:4 is not the host whose address 127.0.0.1:40123 begins alike.
      let alike = Service.tested(at: String(server.base.dropLast()), in: store)
      #expect(service.path(of: server.base + "/apis") == nil)
      for address in [
        server.base.replacing("http", with: "HTTP") + "/api/next", server.base + "/x",
      ] {
        _ = try await service.send(address)
      }
      _ = try await alike.send(server.base + "/y")
      let thing = try await service.get(Thing.self, from: "/a")
      #expect(thing == Thing(name: "c"))
      #expect(
        server.received.map { $0.fields["authorization"] }
          == ["key abc", nil, nil, "key abc", "key abc", nil])
      #expect(try await service.send("/file").status == 302)
      server.forget()
      let error = await #expect(throws: ServiceError.self) { try await service.send("/loop") }
      #expect(error?.description.contains("redirections") == true && server.count == 6)
    }
  }

  @Test(arguments: [
    // A part that was not asked for is no answer.
    (
      206, #"{"name":"a"}"#,
      "the service's answer to /x is not what it should be: it is a part (206)"
    ),
    (401, "Invalid key S3CR/ET", "the service answered 401: Invalid key ***"),
    (
      500, "/x?appid=my%20secret: my secret is unknown",
      "the service answered 500: /x?appid=***: *** is unknown"
    ), (403, #"{"detail": "no S3CR\/ET"}"#, "the service answered 403: no ***"),
    (404, "no such thing", "the service answered 404: no such thing"),
    (200, #"{"name": null}"#, "to /x is not what it should be: name is null"),
    (200, "[]", "to /x is not what it should be: the body is not an object"),
    (200, "<html>", "this network may have sent it"),
  ]) func `an error is in words, and has no credential in it`(
    status: Int, body: String, words: String
  ) async throws {
    try await LocalServer.run { server in
      server.become { _ in .init(status, text: body) }
      var service = Service(at: server.base, over: URLSessionTransport())
      service.fields = [.authorization: "Bearer S3CR/ET", .accept: "application/json"]
      service.message = { $0["detail"]?.text }
      let error = await #expect(throws: ServiceError.self) {
        try await service.get(Thing.self, from: "/x?appid=my%20secret&b=1")
      }
      #expect(error?.description.hasSuffix(words) == true)
    }
  }

  @Test(arguments: [1, 2])
  func `an answer that cannot be decoded is requested again`(bad: Int) async throws {
    let store = try Store.tested()
    try await LocalServer.run { server in
      server.become { _ in
        .init(
          200, ["Cache-Control": "max-age=600"],
          text: server.count <= bad ? #"{"name":"trunc"# : #"{"name":"c"}"#)
      }
      let service = Service.tested(at: server.base, in: store)
      if bad == 2 {
        await #expect(throws: ServiceError.self) { try await service.get(Thing.self, from: "/x") }
      }
      for _ in 1...2 {
        let thing = try await service.get(Thing.self, from: "/x")
        #expect(thing == Thing(name: "c"))
      }
      #expect(server.count == bad + 1)
    }
  }

  @Test func `a login page and a lost connection leave the stored answer`() async throws {
    let store = try Store.tested()
    try await LocalServer.run { server in
      let fields = ["Cache-Control": "max-age=600, must-revalidate", "ETag": "\"1\""]
      server.become { _ in .init(200, fields, text: #"{"name":"a"}"#) }
      let network = FaultyTransport(over: URLSessionTransport())
      let service = Service.tested(at: server.base, in: store, over: CheckedTransport(network))
      _ = try await service.get(Thing.self, from: "/x")
      func refreshed() async throws -> Thing {
        try await service.get(Thing.self, from: "/x", fields: [.cacheControl: "no-cache"])
      }
      server.become { _ in .init(200, fields, text: " <html>Please log in</html>") }
      let page = await #expect(throws: ServiceError.self) { try await refreshed() }
      #expect(page?.description.contains("login page") == true && server.count == 3)
      network.plan = [.cutBody(after: 3)]
      await #expect(throws: FaultyTransport.BodyCut.self) { try await refreshed() }
      #expect(try await service.get(Thing.self, from: "/x") == Thing(name: "a"))
    }
  }

  @Test func `a wait in seconds, as a date or in the body, at most a minute`() async throws {
    let clock = ManualClock()
    let store = try Store.tested(clock: clock)
    let waits = Lines<Duration>()
    let cases: [(fields: [String: String], body: String, wait: Int)] = [
      (
        ["Date": "Wed, 21 Oct 2015 07:28:00 GMT", "Retry-After": "Wed, 21 Oct 2015 07:28:09 GMT"],
        "", 9
      ), (["Retry-After": "Thu, 01 Jan 2026 00:00:11 GMT"], "", 11),
      (["Retry-After": "Sun, 06 Nov 1994 08:49:37 GMT"], "", 1), (["Retry-After": "-5"], "", 1),
      (["X-Rate-Limit-Reset": "9223372036854775807"], "", 1), (["Retry-After": "7"], "", 7),
      (["X-Rate-Limit-Reset": "\(clock.now.milliseconds / 1000 + 5)"], "", 5), ([:], "8", 8),
    ]
    try await LocalServer.run { server in
      var service = Service.tested(at: server.base, in: store, slept: waits)
      service.wait = { $0.number.map { .seconds($0) } }
      for (fields, body, wait) in cases {
        let answers = Mutex([429, 200])
        server.become { _ in
          let status = answers.withLock { $0.removeFirst() }
          return .init(
            status, status == 429 ? fields : [:], text: status == 429 ? body : #"{"name":"b"}"#)
        }
        _ = try await service.get(Thing.self, from: "/x?\(wait)")
        #expect(waits.all.last == .seconds(wait), "\(fields)")
      }
      server.become { _ in .init(429, ["Retry-After": "99999999999999999999"]) }
      let error = await #expect(throws: ServiceError.self) { try await service.send("/x") }
      #expect(error?.description.hasSuffix("asked to wait 24855 days") == true)
      #expect(waits.all.count == cases.count, "what is too long is not waited for")
    }
  }

  /// A body without an end, in pieces of so many bytes.
  private struct Endless: HTTPTransport {
    var piece: Int

    func send(
      _ request: HTTPRequest, body: HTTPBody,
      interim: @escaping @Sendable (HTTPResponse) async -> Void
    ) async throws -> (HTTPResponse, HTTPBody) {
      let body = HTTPBody(next: { [piece] in
        try await Task.sleep(for: .milliseconds(1))
        return [UInt8](repeating: 0x20, count: piece)
      })
      return (HTTPResponse(status: .ok), body)
    }
  }

  @Test func `a body without an end is an error, also one that comes byte by byte`() async throws {
    let fast = Service(at: "https://example.com", over: Endless(piece: 8_000_000))
    let large = await #expect(throws: ServiceError.self) { try await fast.send("/x") }
    #expect(large?.description.contains("larger than 64 MB") == true)
    var slow = Service(at: "https://example.com", over: Endless(piece: 1))
    slow.timeout = .milliseconds(40)
    let late = await #expect(throws: ServiceError.self) { try await slow.send("/x") }
    #expect(late?.isOffline == true && late?.description.hasSuffix("timed out after 40 ms") == true)
  }

  @Test(arguments: [true, false]) func `kinds of network errors`(isCached: Bool) async throws {
    let store = try Store.tested()
    func outcome(of error: any Error) async -> String {
      let network = FailingTransport(with: error)
      let base = "https://example.com"
      let service =
        isCached
        ? Service.tested(at: base, in: store, over: network) : Service(at: base, over: network)
      do { return "\(try await service.send("/x").status)" } catch let error as ServiceError {
        return error.isOffline ? "offline" : "broken"
      } catch { return "\(type(of: error))" }
    }
    for code in [
      URLError.Code.notConnectedToInternet, .networkConnectionLost, .timedOut, .cannotFindHost,
      .cannotConnectToHost, .dnsLookupFailed, .unknown,
    ] { #expect(await outcome(of: URLError(code)) == "offline", "\(code)") }
    for code in [URLError.Code.serverCertificateUntrusted, .badServerResponse] {
      #expect(await outcome(of: URLError(code)) == "broken", "\(code)")
    }
    #expect(await outcome(of: CocoaError(.fileReadNoSuchFile)) == "CocoaError")
    #expect(await outcome(of: CancellationError()) == "CancellationError")
  }

  private struct Loose: Decodable {
    @Lenient var count: Int?
    @Lenient var share: Double?
  }

  @Test func `fields and elements of another form do not hide the others`() throws {
    for (json, expected) in [
      (#"{"count": 3}"#, 3), (#"{"count": "+3"}"#, 3), (#"{}"#, nil), (#"{"count": []}"#, nil),
      (#"{"count": 1e99}"#, nil), (#"{"count": true}"#, nil),
    ] {
      #expect(
        try JSONDecoder().decode(Loose.self, from: Data(json.utf8)).count == expected, "\(json)")
    }
    let odd = try JSONDecoder().decode(Loose.self, from: Data(#"{"share": "1e999"}"#.utf8))
    #expect(odd.share == nil, "JSON cannot express it")
    for value in [#""\ud83d""#, "1e999"] {
      let text = #"[{"id": 1, "name": \#(value)}, {"id": 2, "name": "b"}, null]"#
      let list = try JSONDecoder().decode(LenientList<Thing>.self, from: Data(text.utf8))
      #expect(list.elements == [Thing(name: "b")] && list.skipped.count == 2, "\(list)")
    }
  }

  @Test func `text of a service cannot command the terminal`() throws {
    #expect(
      "a\u{1B}]0;x\u{7}\u{9B}31m\u{202E}\r\u{7F}b\n\tc".printable
        == "a\u{FFFD}]0;x\u{FFFD}\u{FFFD}31m\u{FFFD}\u{FFFD}\u{FFFD}b\n\tc")
    let json = try JSONOutput.text(["a\u{9B}\u{1B}": "\u{7F}\u{202E}\u{E9}"])
    #expect(json == #"{"a\u009b\u001b":"\u007f\u202e\#u{E9}"}"#)
    #expect("a\r\nb\u{2028}c\td\u{1B}\u{85}".inOneLine == "a  b c d\u{FFFD} ")
    #expect("a b/\u{E9}?&=~_".percentEscaped == "a%20b%2F%C3%A9%3F%26%3D~_")
    for (duration, words) in [
      (Duration.seconds(359), "6 minutes"), (.hours(50), "2 days"), (.milliseconds(40), "40 ms"),
      (.seconds(90), "90 seconds"), (.seconds(3600), "1 hour"),
      (.milliseconds(59_700), "60 seconds"),
    ] { #expect(duration.words == words) }
  }

  @Test func `answers can come from files`() async throws {
    let folder = try TemporaryFolder()
    _ = try folder.write("a.json", Array(#"{"name":"file"}"#.utf8))
    let answers = #"""
      [{"path": "/a?x=*", "file": "a.json", "fields": {"ETag": "\"1\"", "Cache-Control": "max-age=9"}},
       {"path": "/b", "status": 500}]
      """#
    _ = try folder.write("answers.json", Array(answers.utf8))
    let clock = ManualClock()
    let service = Service.tested(
      at: "https://example.com", in: try Store.tested(clock: clock),
      over: try Recording(folder: folder.url.path))
    for _ in 1...2 {
      // The second time by a 304.
      #expect(try await service.get(Thing.self, from: "/a?x=1") == Thing(name: "file"))
      clock.advance(by: .minutes(1))
    }
    #expect(try await service.send("/b").status == 500)
    #expect(try await service.send("/c").status == 404)
  }
}
