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

/// The service that all adapters use: cache, credentials, answers that cannot be decoded, recordings.
@Suite(.checkedStores) struct ServiceTests {
  @Test func `a fresh answer is asked for once, with the fields of the service`() async throws {
    let clock = ManualClock()
    let store = try Store.tested(clock: clock)
    try await LocalServer.run { server in
      server.become { _ in .init(200, ["Cache-Control": "max-age=60"], text: #"{"name":"a"}"#) }
      let service = Service.tested(at: server.base + "/api", in: store)
      for _ in 1...3 {
        #expect(
          try await service.get(Thing.self, from: "/things?x=1%2F2&u=http://x") == Thing(name: "a"))
      }
      #expect(server.received.map(\.path) == ["/api/things?x=1%2F2&u=http://x"])
      #expect(server.received[0].fields["authorization"] == "key abc")
      clock.advance(by: .minutes(2))
      _ = try await service.get(Thing.self, from: "/things?x=1%2F2&u=http://x")
      #expect(server.count == 2)
    }
  }

  @Test func `credentials do not go to another host`() async throws {
    let store = try Store.tested(clock: ManualClock())
    try await LocalServer.run { server in
      server.become { _ in .init(200, text: "{}") }
      _ = try await Service.tested(at: "http://127.0.0.1:1/api", in: store).send(
        server.base + "/next")
      // 127.0.0.1:4 is not the host whose address 127.0.0.1:40123 begins alike.
      let alike = String(server.base.dropLast())
      _ = try await Service.tested(at: alike, in: store).send(server.base + "/next")
      #expect(server.received.map { $0.fields["authorization"] } == [nil, nil])
    }
  }

  @Test func `scheme and host are the same in capitals, but a user is not`() async throws {
    let base = Service.base(" HTTP://User@LEGO.example:80/Api/ ")
    #expect(base == "http://User@lego.example:80/Api")
    #expect(Service.base("https://LEGO.example?X") == "https://lego.example?X")
    #expect(
      Service.base("http://me@Z\u{DC}RICH.example:8/\u{FC}%20")
        == "http://me@xn--zrich-kva.example:8/\u{FC}%20")
    let service = Service(at: "https://Lego.example/Api", over: URLSessionTransport())
    #expect(service.path(of: "HTTPS://LEGO.EXAMPLE/Api/A/?Page=2") == "/A/?Page=2")
    #expect(service.path(of: "https://lego.example/api/a") == nil)
    #expect(service.path(of: "https://lego.example/Apis") == nil)
    let store = try Store.tested(clock: ManualClock())
    try await LocalServer.run { server in
      server.become { _ in .init(200, text: "{}") }
      let address = server.base.replacing("http", with: "HTTP") + "/next"
      _ = try await Service.tested(at: server.base, in: store).send(address)
      #expect(server.received.map { $0.fields["authorization"] } == ["key abc"])
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
  ]) func `no error has a credential in it`(status: Int, body: String, words: String) async throws {
    try await LocalServer.run { server in
      server.become { _ in .init(status, text: body) }
      var service = Service(at: server.base, over: URLSessionTransport())
      service.fields = [.authorization: "Bearer S3CR/ET", .accept: "application/json"]
      service.message = { $0["detail"]?.text }
      let error = await #expect(throws: ServiceError.self) {
        try await service.get(Thing.self, from: "/x?appid=my%20secret&b=1")
      }
      #expect(error?.description == words)
    }
  }

  @Test func `a large whole number stays exact, also as an id`() throws {
    let ids = [
      "7", "-9007199254740993", "9007199254740993", "18446744073709551615",
      "12345678901234567890123456789012345678",
    ]
    let text = "[\(ids.joined(separator: ",")),0.1,1e+200]"
    let json = try JSONDecoder().decode(JSON.self, from: Data(text.utf8))
    #expect(try String(decoding: JSONEncoder().encode(json), as: UTF8.self) == text)
    guard case .array(let values) = json else { return }
    #expect(values.map(\.word) == ids + [nil, nil])
    #expect(values[3].number == 0x1p64)
    // Of more digits not all are kept: such an id would be that of others, too.
    for number in ["1234567890123456789012345678901234567890123", "9007199254740993.5"] {
      #expect(try JSONDecoder().decode(JSON.self, from: Data(number.utf8)).word == nil)
    }
    let thing = #"{"id": 18446744073709551615}"#
    #expect(try JSONDecoder().decode(Numbered.self, from: Data(thing.utf8)).id == ids[3])
  }

  private struct Numbered: Decodable { @Lenient var id: String? }

  @Test(arguments: [1, 2])
  func `an answer that cannot be decoded is requested again`(bad: Int) async throws {
    let store = try Store.tested(clock: ManualClock())
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

  /// A network that can lose the connection in the middle of a body.
  private final class Cutting: HTTPTransport {
    private let session = URLSessionTransport()
    let isCut = Mutex(false)

    func send(
      _ request: HTTPRequest, body: HTTPBody,
      interim: @escaping @Sendable (HTTPResponse) async -> Void
    ) async throws -> (HTTPResponse, HTTPBody) {
      let (response, body) = try await session.send(request, body: body, interim: interim)
      guard isCut.withLock({ $0 }) else { return (response, body) }
      return (response, HTTPBody(next: { throw URLError(.networkConnectionLost) }))
    }
  }

  @Test func `a login page and a lost connection leave the stored answer`() async throws {
    let store = try Store.tested(clock: ManualClock())
    try await LocalServer.run { server in
      let fields = ["Cache-Control": "max-age=600, must-revalidate", "ETag": "\"1\""]
      server.become { _ in .init(200, fields, text: #"{"name":"a"}"#) }
      let network = Cutting()
      let service = Service.tested(at: server.base, in: store, over: CheckedTransport(network))
      _ = try await service.get(Thing.self, from: "/x")
      func refreshed() async throws -> Thing {
        try await service.get(Thing.self, from: "/x", fields: [.cacheControl: "no-cache"])
      }
      server.become { _ in .init(200, fields, text: " <html>Please log in</html>") }
      let page = await #expect(throws: ServiceError.self) { try await refreshed() }
      #expect(page?.description.contains("login page") == true && server.count == 3)
      network.isCut.withLock { $0 = true }
      let lost = await #expect(throws: ServiceError.self) { try await refreshed() }
      #expect(lost?.isOffline == true && server.count == 4)
      #expect(try await service.get(Thing.self, from: "/x") == Thing(name: "a"))
      #expect(server.count == 4)
      // Images and texts are not checked.
      let text = try await Service(at: server.base, over: CheckedTransport(URLSessionTransport()))
        .send("/x", fields: [.accept: "text/html"])
      #expect(text.isPage)
    }
  }

  @Test func `without a cache each request is sent, and a wait can be in the body`() async throws {
    let answers = Mutex([429, 200, 200])
    let waits = Lines<Duration>()
    try await LocalServer.run { server in
      server.become { _ in
        let status = answers.withLock { $0.removeFirst() }
        return .init(
          status, ["Cache-Control": "max-age=60"], text: status == 429 ? "9" : #"{"name":"b"}"#)
      }
      var service = Service(at: server.base, over: URLSessionTransport())
      service.wait = { $0.number.map { .seconds($0) } }
      service.sleep = { waits.add($0) }
      for _ in 1...2 {
        let thing = try await service.get(Thing.self, from: "/x")
        #expect(thing == Thing(name: "b"))
      }
      #expect(server.count == 3 && service.cache == nil)
    }
    #expect(waits.all == [.seconds(9)])
  }

  @Test func `an answer can be forgotten, and all that carry a tag at once`() async throws {
    let store = try Store.tested(clock: ManualClock())
    try await LocalServer.run { server in
      server.become { _ in .init(200, ["Cache-Control": "max-age=60"], text: "{}") }
      let service = Service.tested(at: server.base, in: store)
      func count() async throws -> Int {
        server.forget()
        for path in ["/a", "/b", "/c"] {
          _ = try await service.send(path, tags: path == "/c" ? [] : ["ab"])
        }
        return server.count
      }
      #expect(try await count() == 3)
      #expect(try await count() == 0)
      #expect(try await service.forget("/a") == RemovalResult(entries: 1, bytes: 2))
      #expect(try await count() == 1)
      try await service.cache?.removeAll(tag: "ab")
      #expect(try await count() == 2)
    }
    #expect("a b/\u{E9}?&=~_".percentEscaped == "a%20b%2F%C3%A9%3F%26%3D~_")
    for (duration, words) in [
      (Duration.seconds(300), "5 minutes"), (.seconds(359), "6 minutes"), (.hours(50), "2 days"),
      (.milliseconds(40), "40 ms"), (.seconds(1), "1 second"), (.milliseconds(1600), "1600 ms"),
      (.seconds(90), "90 seconds"), (.seconds(3600), "1 hour"), (.seconds(3599), "60 minutes"),
      (.milliseconds(59_700), "60 seconds"), (.minutes(150), "3 hours"), (.days(1), "1 day"),
    ] { #expect(duration.words == words) }
  }

  @Test func `answers can come from files`() async throws {
    let folder = try TemporaryFolder()
    _ = try folder.write("a.json", Array(#"{"name":"file"}"#.utf8))
    _ = try folder.write(
      "answers.json",
      Array(
        #"""
        [{"path": "/a?x=*", "file": "a.json", "fields": {"ETag": "\"1\"", "Cache-Control": "max-age=9"}},
         {"path": "/b", "status": 500}]
        """#.utf8))
    let clock = ManualClock()
    let store = try Store.tested(clock: clock)
    let service = Service.tested(
      at: "https://example.com", in: store, over: try Recording(folder: folder.url.path))
    #expect(try await service.get(Thing.self, from: "/a?x=1") == Thing(name: "file"))
    clock.advance(by: .minutes(1))
    let again = try await service.send("/a?x=1")
    #expect(try again.decoded(Thing.self) == Thing(name: "file"), "by a 304")
    #expect(try await service.send("/b").status == 500)
    #expect(try await service.send("/c").status == 404)
  }
}
