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

  @Suite(.serialized) struct URLProtocolTests {
    private static let fresh = ["Cache-Control": "max-age=100", "ETag": "\"1\""]

    @Test func `the second answer is from the cache, and a long body whole`() async throws {
      try await Bench.run { bench in
        let long = Data((0..<400_000).map { UInt8(truncatingIfNeeded: $0 &* 31 >> 3) })
        bench.server.become { _ in .init(200, Self.fresh, body: long) }
        for _ in 0..<2 {
          let (body, response) = try await bench.session.data(from: bench.url("/a?b=c%20d"))
          #expect(body == long && (response as? HTTPURLResponse)?.statusCode == 200)
          #expect(response.url?.absoluteString == bench.server.base + "/a?b=c%20d")
        }
        #expect(bench.server.received.map(\.path) == ["/a?b=c%20d"])
      }
    }

    @Test func `a request sends its body and its fields, and invalidates`() async throws {
      try await Bench.run { bench in
        bench.server.become { .init(200, Self.fresh, body: $0.body) }
        _ = try await bench.get("/a")
        for isStream in [false, true] {
          var request = URLRequest(url: bench.url("/a"))
          request.httpMethod = "PUT"
          request.setValue("1", forHTTPHeaderField: "X-One")
          request.setValue("br", forHTTPHeaderField: "Accept-Encoding")
          let data = Data("new".utf8)
          request.httpBody = isStream ? nil : data
          if isStream { request.httpBodyStream = InputStream(data: data) }
          #expect(try await bench.send(request) == "new")
          let received = try #require(bench.server.received.last).fields
          #expect(received["x-one"] == "1" && received["accept-encoding"] != "br")
        }
        _ = try await bench.get("/a")
        #expect(bench.server.received.map(\.method) == ["GET", "PUT", "PUT", "GET"])
      }
    }

    @Test func `redirections, cached too, are followed; others get no credentials`() async throws {
      try await Bench.run { bench in
        try await LocalServer.run { other in
          other.become { _ in .init(200, Self.fresh, text: "there") }
          let (next, there) = ("/b//[1]%20?c[]=d%20", other.base + "/there")
          bench.server.become { request in
            switch request.path {
            case "/a": .init(302, ["Location": next, "Cache-Control": "max-age=100"])
            default: .init(301, ["Location": there, "Cache-Control": "max-age=100"])
            }
          }
          for _ in 0..<2 {
            var request = URLRequest(url: bench.url("/a"))
            request.setValue("Bearer 1", forHTTPHeaderField: "Authorization")
            let (body, response) = try await bench.session.data(for: request)
            #expect(String(decoding: body, as: UTF8.self) == "there")
            #expect(response.url?.absoluteString == there)
          }
          #expect(bench.server.received.map(\.path) == ["/a", "/b//%5B1%5D%20?c%5B%5D=d%20"])
          #expect(bench.server.received.allSatisfy { $0.fields["authorization"] == "Bearer 1" })
          #expect(other.received.map { $0.fields["authorization"] } == [nil])
        }
      }
    }

    @Test(arguments: [true, false])
    func `every field that identifies a user stays with its origin`(isNamed: Bool) async throws {
      try await Bench.run { bench in
        try await LocalServer.run { other in
          other.become { _ in .init(200, Self.fresh, text: "there") }
          let there = other.base + "/there"
          bench.server.become { request in
            request.path == "/a" ? .init(307, ["Location": "/b"]) : .init(302, ["Location": there])
          }
          let fields = ["X-API-Key", "X-Session", "Authorization", "Cookie", "Proxy-Authorization"]
          bench.use(
            bench.cache.with { policy in
              if isNamed {
                policy.principal = { request in
                  request.headerFields[.init("X-API-Key")!]
                    ?? request.headerFields[.init("X-Session")!]
                }
              } else {
                policy.partitionFields = [.init("x-api-key")!, .init("X-SESSION")!]
              }
            })
          var request = URLRequest(url: bench.url("/a"))
          for name in fields { request.setValue("secret", forHTTPHeaderField: name) }
          request.setValue("de", forHTTPHeaderField: "Accept-Language")
          #expect(try await bench.send(request) == "there")
          // A redirect to another path of the same origin keeps the credentials, but a redirect to another origin drops them.
          #expect(bench.server.received.last?.fields["x-api-key"] == "secret")
          let received = try #require(other.received.first).fields
          #expect(!received.values.contains("secret"), "\(received)")
          #expect(received["accept-language"] == "de")
        }
      }
    }

    @Test func `a POST becomes a GET by 303, not by 307, and a circle ends`() async throws {
      try await Bench.run { bench in
        bench.server.become { request in
          switch request.path {
          case "/303": .init(303, ["Location": "/end"])
          case "/307": .init(307, ["Location": "/end"])
          case "/circle": .init(302, ["Location": "/circle"])
          default:
            .init(200, text: "\(request.method) \(String(decoding: request.body, as: UTF8.self))")
          }
        }
        for (path, expected) in [("/303", "GET "), ("/307", "POST x")] {
          var request = URLRequest(url: bench.url(path))
          request.httpMethod = "POST"
          request.httpBody = Data("x".utf8)
          let body = try await bench.send(request)
          #expect(body == expected)
        }
        let error = await #expect(throws: URLError.self) { try await bench.get("/circle") }
        #expect(error?.code == .httpTooManyRedirects)
      }
    }

    @Test func `the cache policy of a request applies`() async throws {
      try await Bench.run { bench in
        bench.server.become { _ in .init(200, ["Cache-Control": "max-age=10"], text: "page") }
        let error = await #expect(throws: URLError.self) {
          try await bench.get("/a", .returnCacheDataDontLoad)
        }
        #expect(error?.code == .resourceUnavailable && bench.server.count == 0)
        _ = try await bench.get("/a")
        bench.clock.advance(by: .seconds(20))
        #expect(try await bench.get("/a", .returnCacheDataDontLoad) == "page")
        #expect(try await bench.get("/a", .returnCacheDataElseLoad) == "page")
        #expect(bench.server.count == 1)
        _ = try await bench.get("/a", .reloadIgnoringLocalCacheData)
        _ = try await bench.get("/a", .reloadRevalidatingCacheData)
        #expect(bench.server.count == 3)
        var own = URLRequest(url: bench.url("/a"), cachePolicy: .reloadIgnoringLocalCacheData)
        own.setValue("max-stale=1", forHTTPHeaderField: "Cache-Control")
        _ = try await bench.send(own)
        #expect(bench.server.count == 4)
        bench.clock.advance(by: .seconds(20))
        own.cachePolicy = .returnCacheDataDontLoad
        #expect(try await bench.send(own) == "page")
      }
    }

    @Test(arguments: [Double.infinity, 1e300, .greatestFiniteMagnitude, 0, -1])
    func `a request may have any time limit`(seconds: Double) async throws {
      try await Bench.run { bench in
        bench.server.become { _ in .init(200, text: "page") }
        let request = with(URLRequest(url: bench.url("/a"))) { $0.timeoutInterval = seconds }
        let body = try await bench.send(request)
        #expect(body == "page")
      }
    }

    @Test func `the time limit of a request applies, and a cancelled one ends`() async throws {
      try await Bench.run { bench in
        bench.server.become { _ in
          try await Task.sleep(for: .seconds(1000))
          return .init()
        }
        let sent = with(URLRequest(url: bench.url("/slow"))) { $0.timeoutInterval = 3 }
        let session = bench.session
        let slow = Task { try await session.data(for: sent) }
        try await waitUntil { bench.server.count == 1 }
        bench.clock.advance(by: .seconds(4))
        let error = await #expect(throws: URLError.self) { try await slow.value }
        #expect(error?.code == .timedOut)

        let cancelled = Task { try await session.data(for: sent) }
        try await waitUntil { bench.server.count == 2 }
        cancelled.cancel()
        await #expect(throws: (any Error).self) { try await cancelled.value }
      }
    }

    @Test func `unreachable origins and uploads fail; other schemes are left alone`() async throws {
      try await Bench.run { bench in
        await #expect(throws: URLError.self) {
          try await bench.session.data(from: URL(string: "http://127.0.0.1:1/")!)
        }
        #expect(!BenchProtocol.canInit(with: URLRequest(url: URL(string: "file:///etc/hosts")!)))
        #expect(!HTTPCacheURLProtocol.canInit(with: URLRequest(url: bench.url("/a"))))
        #if canImport(FoundationNetworking)
          // An upload task fails, because it would send no body.
          let request = with(URLRequest(url: bench.url("/a"))) { $0.httpMethod = "POST" }
          await #expect(throws: URLError.self) {
            try await bench.session.upload(for: request, from: Data("x".utf8))
          }
          #expect(bench.server.count == 0)
        #endif
      }
    }

    @Test func `a transport never sends its requests to a cache`() async throws {
      try await Bench.run { bench in
        bench.server.become { _ in .init(200, Self.fresh, text: "page") }
        let transport = URLSessionTransport(configuration: bench.session.configuration)
        bench.use(HTTPCache(in: bench.cache.namespace, over: transport))
        let page = try await bench.get("/a")
        #expect(page == "page")
        #expect(bench.session.configuration.protocolClasses?.isEmpty == false)
      }
    }

    @Test func `a delegate hears of the response, the body and the end`() async throws {
      try await Bench.run { bench in
        bench.server.become { _ in .init(200, Self.fresh, text: "page") }
        for _ in 0..<2 {
          let delegate = RecordingDelegate()
          let session = URLSession(
            configuration: bench.session.configuration, delegate: delegate, delegateQueue: nil)
          session.dataTask(with: bench.url("/a")).resume()
          try await waitUntil { delegate.events.withLock { $0.last == "end" } }
          #expect(delegate.events.withLock { $0 } == ["200", "page", "end"])
          session.finishTasksAndInvalidate()
        }
        #expect(bench.server.count == 1)
      }
    }
  }
#endif
