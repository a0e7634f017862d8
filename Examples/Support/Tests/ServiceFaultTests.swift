import ExampleProgram
import ExampleTesting

/// Faults of a service: redirections, endless bodies, waits, refusals, network errors.
@Suite(.checkedStores) struct ServiceFaultTests {
  @Test func `redirections are followed, without credentials, and not for ever`() async throws {
    let store = try Store.tested(clock: ManualClock())
    try await LocalServer.run { server in
      server.become { request in
        switch request.path {
        case "/api/a": .init(302, ["Location": "b?x=1"])
        case "/api/b?x=1":
          .init(308, ["Location": server.base.replacing("http", with: "HTTP") + "/elsewhere"])
        case "/elsewhere": .init(200, text: #"{"name":"c"}"#)
        case "/api/file": .init(302, ["Location": "file:///etc/passwd"])
        default: .init(301, ["Location": request.path])
        }
      }
      let service = Service.tested(at: server.base + "/api", in: store)
      let thing = try await service.get(Thing.self, from: "/a")
      #expect(thing == Thing(name: "c"))
      #expect(server.received.map { $0.fields["authorization"] } == ["key abc", "key abc", nil])
      let file = try await service.send("/file")
      #expect(file.status == 302)
      server.forget()
      let error = await #expect(throws: ServiceError.self) { try await service.send("/loop") }
      #expect(error?.description.contains("redirections") == true && server.count == 6)
    }
  }

  @Test func `a wait at the end of a redirection is followed by the same way`() async throws {
    let store = try Store.tested(clock: ManualClock())
    try await LocalServer.run { server in
      server.become { request in
        if request.path == "/a" { return .init(302, ["Location": "/b"]) }
        return server.count == 2
          ? .init(429, ["Retry-After": "1"]) : .init(200, text: #"{"name":"b"}"#)
      }
      let thing = try await Service.tested(at: server.base, in: store).get(Thing.self, from: "/a")
      #expect(thing == Thing(name: "b"))
      #expect(server.received.map(\.path) == ["/a", "/b", "/a", "/b"])
    }
  }

  @Test(arguments: [#""\ud83d""#, "\"\u{FFFD}\"", "1e999"])
  func `text that is not Unicode does not hide the rest of a list`(value: String) throws {
    var bytes = Array(#"[{"id": 1, "name": \#(value)}, {"id": 2, "name": "b"}]"#.utf8)
    // A byte that begins no character.
    if let place = bytes.firstIndex(of: 0xEF) {
      bytes.replaceSubrange(place..<place + 3, with: [0xFF])
    }
    let list = try JSONDecoder().decode(LenientList<Thing>.self, from: Data(bytes))
    #expect(list.elements == [Thing(name: "b")] && list.skipped.count == 1, "\(list)")
  }

  private struct Loose: Decodable {
    @Lenient var count: Int?
    @Lenient var share: Double?
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

  @Test func `text of a service cannot command the terminal`() throws {
    #expect(
      "a\u{1B}]0;x\u{7}\u{9B}31m\u{202E}\r\u{7F}b\n\tc".printable
        == "a\u{FFFD}]0;x\u{FFFD}\u{FFFD}31m\u{FFFD}\u{FFFD}\u{FFFD}b\n\tc")
    let json = try JSONOutput.text(["a\u{9B}\u{1B}": "\u{7F}\u{202E}\u{E9}"])
    #expect(json == #"{"a\u009b\u001b":"\u007f\u202e\#u{E9}"}"#)
    #expect("a\r\nb\u{2028}c\td\u{1B}\u{85}".inOneLine == "a  b c d\u{FFFD} ")
  }

  @Test(arguments: [
    ("image/png", "\u{1}\u{2}", false), ("image/png", "sorry", false),
    ("image/png", "GIF89a", true),
    ("", "GIF89a", true), ("application/octet-stream", "BM1", true), ("text/plain", "BM1", false),
    ("image/svg+xml", "<!-- a --><svg/>", true), ("image/svg+xml", "<p>no</p>", false),
    ("image/png", "<svg/>", false), ("", "xxxxftypavif", true),
    ("image/webp", "RIFF1234WAVE", false),
  ]) func `an image is told by its first bytes`(type: String, body: String, isImage: Bool)
    async throws
  {
    try await LocalServer.run { server in
      server.become { _ in .init(200, ["Content-Type": type], text: body) }
      let reply = try await Service(at: server.base, over: URLSessionTransport()).send("/x")
      do {
        #expect(try reply.image().body == Array(body.utf8) && isImage)
      } catch { #expect(!isImage, "\(error)") }
    }
  }

  @Test func `a result says where it is from, and what went wrong`() {
    var result = CacheResult(value: 1, source: .loaded)
    #expect(result.words == "from the service")
    result.error = LarderError(.full, "full")
    #expect(result.words == "from the service, not stored: full")
    (result.source, result.age, result.error) = (.stale, .minutes(5), nil)
    #expect(result.words == "from the store, 5 minutes old, stale")
  }

  @Test func `an error of a file is in words, with its path`() {
    do {
      try Data().write(to: URL(filePath: "/none/x"))
    } catch {
      let message = Failure(error, credential: "--key").message
      #expect(message.hasPrefix("/none/x: ") && !message.contains("Domain"), "\(message)")
    }
    for path in ["/dev/null/x", "/tmp"] {
      do {
        _ = try Data(contentsOf: URL(filePath: path))
      } catch {
        #expect(error.fileWords.contains("irectory"), "\(error.fileWords)")
      }
    }
  }

  @Test func `no number of a service ends the program`() async throws {
    let numbers = [
      "9223372036854775807", "-9223372036854775808", "1e400",
      "Wed, 21 Oct 9223372036854775807 07:28:09 GMT",
    ]
    try await LocalServer.run { server in
      for number in numbers {
        for field in ["Retry-After", "X-Rate-Limit-Reset"] {
          server.become { _ in .init(429, [field: number]) }
          var service = Service(at: server.base, over: URLSessionTransport())
          service.sleep = { _ in }
          await #expect(throws: ServiceError.self, "\(field): \(number)") {
            try await service.send("/x")
          }
        }
      }
    }
    #expect(ServiceError.throttled(wait: .seconds(Int64.max)).description.hasSuffix("days"))
    for (json, expected) in [
      (#"{"count": 3}"#, 3), (#"{"count": "+3"}"#, 3), (#"{}"#, nil), (#"{"count": null}"#, nil),
      (#"{"count": []}"#, nil),
      (#"{"count": 1e99}"#, nil), (#"{"count": "x"}"#, nil), (#"{"count": true}"#, nil),
    ] {
      #expect(
        try JSONDecoder().decode(Loose.self, from: Data(json.utf8)).count == expected, "\(json)")
    }
    for text in ["nan", "-inf", "1e999"] {
      let json = Data(#"{"share": "\#(text)"}"#.utf8)
      #expect(try JSONDecoder().decode(Loose.self, from: json).share == nil, "\(text)")
    }
  }

  @Test func `a wait in seconds, or as a date, compared with the answer's own`() async throws {
    let clock = ManualClock()
    let store = try Store.tested(clock: clock)
    let waits = Lines<Duration>()
    try await LocalServer.run { server in
      let service = Service.tested(at: server.base, in: store, slept: waits)
      for (fields, wait) in [
        (
          [
            "Date": "Wed, 21 Oct 2015 07:28:00 GMT", "Retry-After": "Wed, 21 Oct 2015 07:28:09 GMT",
          ], 9
        ), (["Retry-After": "Thu, 01 Jan 2026 00:00:11 GMT"], 11),
        (["Retry-After": "Sun, 06 Nov 1994 08:49:37 GMT"], 1), (["Retry-After": "soon"], 1),
        (["Retry-After": "-5"], 1), (["Retry-After": "0"], 1), (["X-Rate-Limit-Reset": "9"], 1),
        (["Retry-After": "7"], 7),
        (["X-Rate-Limit-Reset": "\(clock.now.milliseconds / 1000 + 5)"], 5),
      ] {
        let answers = Mutex([429, 200])
        server.become { _ in
          let status = answers.withLock { $0.removeFirst() }
          return .init(status, status == 429 ? fields : [:], text: #"{"name":"b"}"#)
        }
        _ = try await service.get(Thing.self, from: "/x?\(wait)")
        #expect(waits.all.last == .seconds(wait), "\(fields)")
      }
    }
  }

  @Test func `errors say what the service said, or that there is none`() async throws {
    let store = try Store.tested(clock: ManualClock())
    let long = "the service answered 500: " + String(repeating: "x", count: 200)
    let form = "is not what it should be: "
    let cases: [(path: String, answer: LocalServer.Answer, words: String)] = [
      ("/gone", .init(404, text: "no such thing"), "the service answered 404: no such thing"),
      ("/busy", .init(429, ["Retry-After": "600"]), "asked to wait 10 minutes"),
      (
        "/past", .init(429, ["Retry-After": "Sun, 06 Nov 1994 08:49:37 GMT"]),
        "asked to wait 1 second"
      ),
      ("/never", .init(429, ["Retry-After": "99999999999999999999"]), "asked to wait 24855 days"),
      ("/long", .init(500, text: String(repeating: "x", count: 100_000)), long),
      ("/null", .init(200, text: #"{"name": null}"#), form + "name is null"),
      ("/number", .init(200, text: #"{"name": 5}"#), form + "name is not text"),
      ("/array", .init(200, text: "[]"), form + "the body is not an object"),
      ("/list", .init(200, text: "{}"), "/list \(form)name is missing"),
      ("/page", .init(200, text: "<html>"), "this network may have sent it"),
    ]
    let base = try await LocalServer.run { server in
      let service = Service.tested(at: server.base, in: store)
      for (path, answer, words) in cases {
        server.become { _ in answer }
        await #expect { try await service.get(Thing.self, from: path) } throws: {
          "\($0)".hasSuffix(words)
        }
      }
      let nowhere = Service(at: "nowhere/api", over: URLSessionTransport())
      await #expect { try await nowhere.send("/x") } throws: {
        "\($0)".hasSuffix("its address does not begin with http:// or https://")
      }
      return server.base
    }
    await #expect { _ = try await Service.tested(at: base, in: store).send("/x") } throws: {
      ($0 as? ServiceError)?.isOffline == true
    }
  }

  @Test(arguments: [true, false]) func `kinds of network errors`(isCached: Bool) async throws {
    struct Odd: Error {}
    let store = try Store.tested(clock: ManualClock())
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
    #expect(await outcome(of: HTTPCacheError.timedOut(.seconds(15))) == "offline")
    #expect(await outcome(of: CocoaError(.fileReadNoSuchFile)) == "CocoaError")
    #expect(await outcome(of: Odd()) == "Odd")
    #expect(await outcome(of: CancellationError()) == "CancellationError")
  }
}
