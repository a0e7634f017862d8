import HTTPTypes
import InMemoryTracing
import Larder
import LarderHTTP
import LarderHTTPTesting
import LarderTesting
import LarderTracing
import Testing
import Tracing

@Suite(.timeLimit(.minutes(1))) struct TracingTraitTests {
  struct Fault: Error {}

  private let tracer = InMemoryTracer()
  private let options = LoadOptions(
    expires: .after(.seconds(10)), stale: Staleness(whileRevalidating: .minutes(1)),
    waitsForCommit: true)

  private var names: [String] { tracer.finishedSpans.map(\.operationName) }

  private func span(_ name: String) throws -> FinishedInMemorySpan {
    try #require(tracer.finishedSpans.last { $0.operationName == name })
  }

  /// Runs `body` with a cache whose loads are traced.
  private func withTracedCache(
    _ body: (Cache<Int>, ManualClock) async throws -> Void
  ) async throws {
    try await withTemporaryStore { store, clock in
      store.traceLoads(with: tracer)
      try await body(store.cache(of: Int.self, in: "numbers"), clock)
    }
    #expect(tracer.activeSpans.isEmpty)
  }

  @Test
  func `callers who share a load share its span, below the first of them, and a hit has none`()
    async throws
  {
    try await withTracedCache { [tracer] numbers, _ in
      // Spans of the closure have the span of the load as their parent.
      @Sendable func inside() -> Int { tracer.withSpan("inside") { _ in 7 } }
      @Sendable func ask() async throws -> Int {
        try await tracer.withSpan("request") { _ in
          try await numbers.value(for: "secret key") {
            while tracer.activeSpans.count(where: { $0.operationName == "request" }) < 2 {
              await Task.yield()
            }
            return inside()
          }
        }
      }
      async let one = ask()
      async let two = ask()
      let found = try await [one, two, numbers.value(for: "secret key") { 8 }]
      #expect(found == [7, 7, 7])
      #expect(names == ["inside", "load numbers", "request", "request"])
      let load = try span("load numbers")
      let first = try #require(tracer.finishedSpans.first { $0.spanID == load.parentSpanID })
      #expect(first.operationName == "request" && load.traceID == first.traceID)
      #expect(try span("inside").parentSpanID == load.spanID)
      #expect(load.kind == .internal && load.status == nil && load.errors.isEmpty)
      #expect(load.attributes == ["larder.namespace": "numbers"])
    }
  }

  @Test func `a refresh in the background and a failure say so`() async throws {
    try await withTracedCache { numbers, clock in
      #expect(try await numbers.value(for: "n", options: options) { 1 } == 1)
      clock.advance(by: .seconds(20))
      #expect(try await numbers.value(for: "n", options: options) { 2 } == 1)
      while names != ["load numbers", "refresh numbers"] { await Task.yield() }
      #expect(try span("refresh numbers").status == nil)

      let failures: [(any Error, String)] = [
        (Fault(), String(reflecting: Fault.self)), (LarderError(.timedOut, "a secret"), "timedOut"),
      ]
      for (error, type) in failures {
        await #expect(throws: (any Error).self) {
          _ = try await numbers.value(for: type, options: options) { throw error }
        }
        let failed = try span("load numbers")
        #expect(failed.status?.code == .error && failed.errors.isEmpty)
        #expect(failed.attributes == ["larder.namespace": "numbers", "error.type": .string(type)])
      }
      await #expect(throws: Fault.self) {
        _ = try await numbers.value(for: "o", options: options) { _ in .failed(Fault()) }
      }
      #expect(try span("load numbers").status?.code == .error)
    }
  }

  @Test func `one call for many keys has one span with their number`() async throws {
    try await withTracedCache { numbers, clock in
      try await tracer.withSpan("request") { _ in
        let found = try await numbers.values(for: ["a", "b", "c"], options: options) { keys in
          keys.map { ($0.key, .value(1)) }
        }
        #expect(found.count == 3)
      }
      #expect(names == ["load numbers", "request"])
      let load = try span("load numbers")
      #expect(load.attributes == ["larder.namespace": "numbers", "larder.load.keys": 3])
      #expect(load.parentSpanID == (try span("request").spanID))
      clock.advance(by: .seconds(20))
      _ = try await numbers.values(for: ["a"], options: options) { [($0[0].key, .value(2))] }
      while names.last != "refresh numbers" { await Task.yield() }
      #expect(try span("refresh numbers").attributes == ["larder.namespace": "numbers"])
    }
  }

  private func request(_ path: String, authority: String = "api.example.com:8080") -> HTTPRequest {
    HTTPRequest(method: .get, scheme: "https", authority: authority, path: path)
  }

  @Test func `a request to an origin has a span until the end of its body, and a hit has none`()
    async throws
  {
    try await withTemporaryStore { store, _ in
      let network = FaultyTransport(over: Origin())
      let cache = HTTPCache(
        in: store.namespace("http"), over: TracedTransport(network, tracer: tracer))
      for _ in 0..<3 {
        try await tracer.withSpan("client") { _ in
          let answer = try await cache.send(request("/a?day=1&token=secret&t%6Fken=secret&x"))
          #expect(try await answer.body.bytes() == Array("page".utf8))
        }
      }
      #expect(names.filter { $0 == "GET" }.count == 1)
      let span = try span("GET")
      #expect(span.kind == .client && span.status == nil)
      #expect(
        span.attributes == [
          "http.request.method": "GET",
          "url.full": "https://api.example.com:8080/a?day=1&token=REDACTED&t%6Fken=REDACTED&x",
          "server.address": "api.example.com", "server.port": 8080,
          "http.response.status_code": 200,
        ])
      let client = try #require(tracer.finishedSpans.first { $0.operationName == "client" })
      #expect(span.parentSpanID == client.spanID)
      // The request to the origin carries the id of the span.
      let name = try #require(HTTPField.Name(InMemoryTracer.spanIDKey))
      #expect(network.requests.first?.headerFields[name] == span.spanID)
      #expect(tracer.activeSpans.isEmpty)
    }
  }

  @Test func `failures, abandoned bodies and odd requests end their spans`() async throws {
    let network = FaultyTransport(over: Origin())
    network.plan = [.fail(Fault()), .cutBody(after: 2), .status(404), .pass]
    let transport = TracedTransport(network, tracer: tracer)
    func send(_ request: HTTPRequest) async throws -> HTTPBody {
      try await transport.send(request, body: HTTPBody(), interim: { _ in }).1
    }
    await #expect(throws: Fault.self) { _ = try await send(request("/a")) }
    #expect(try span("GET").status?.code == .error)
    #expect(try span("GET").attributes["error.type"] != nil)

    let cut = try await send(request("/a"))
    await #expect(throws: FaultyTransport.BodyCut.self) { _ = try await cut.bytes() }
    #expect(try span("GET").errors.isEmpty)

    _ = try await send(request("/a")).bytes()
    let absent = try span("GET").attributes["error.type"]?.toSpanAttribute()
    #expect(absent == .string("404"))

    var odd = request("*?key", authority: "user:password@[::1]:x")
    odd.method = try #require(HTTPRequest.Method("BREW"))
    _ = try await send(odd)
    #expect(
      try span("HTTP").attributes == [
        "http.request.method": "_OTHER", "http.request.method_original": "BREW",
        "url.full": "https://[::1]:x*?key", "server.address": "::1", "server.port": 443,
        "http.response.status_code": 200,
      ])
    #expect(tracer.activeSpans.isEmpty)
  }
}
