import AsyncHTTPClient
import HTTPTypes
import Hummingbird
import Larder
import LarderHTTP
import LarderHummingbird
import NIOCore
import Synchronization
import Testing

/// An application behind a cache. Tests of `LarderHTTP` cover `Vary`, ranges, cookies, invalidation and credentials.
@Suite struct ResponderTests {
  private struct Fault: Error {}

  private let calls = Calls()

  @Test func `many clients at once make one call, later ones none, also for HEAD or a condition`()
    async throws
  {
    let (gate, opening) = AsyncStream<Void>.makeStream()
    try await withServer(calls) { request, _ in
      if request.method == .put { return Response(status: .noContent) }
      for await _ in gate {}
      return text("body", "max-age=60", [.eTag: "\"1\""])
    } test: { client, _, clock in
      let answers = try await withThrowingTaskGroup(of: Answer.self) { group in
        for _ in 0..<100 { group.addTask { try await client.send("/a") } }
        try await waitUntil { calls.count == 1 }
        opening.finish()
        return try await group.reduce(into: []) { $0.append($1) }
      }
      #expect(answers.allSatisfy { $0.status == 200 && $0.text == "body" })
      #expect(try await client.send("/a").fields["age"] == "0")
      let known = try await client.send("/a", "GET", ["If-None-Match": "\"1\""])
      #expect(known.status == 304 && known.text == "")
      let head = try await client.send("/a", "HEAD")
      #expect(head.status == 200 && head.text == "" && head.fields["content-length"] == "4")
      #expect(calls.count == 1)
      clock.advance(by: .seconds(60))
      #expect(try await client.send("/a").text == "body")
      #expect(calls.count == 2 && calls.reports.isEmpty)
      #expect(try await client.send("/a", "PUT").status == 204)
      #expect(try await client.send("/a").text == "body")
      #expect(calls.count == 4, "a write invalidates")
    }
  }

  @Test func `a client that accepts no coding gets no compressed response`() async throws {
    try await withServer(calls) { request, _ in
      var fields: HTTPFields = [:]
      fields[.contentEncoding] = request.headers[.acceptEncoding]
      return text(fields[.contentEncoding] ?? "plain", "max-age=60", fields)
    } test: { client, _, _ in
      let coded = try await client.send("/a", "GET", ["Accept-Encoding": "gzip"])
      #expect(coded.text == "gzip" && coded.fields["content-encoding"] == "gzip")
      let other = try await client.send("/a", "GET", ["Accept-Encoding": "gzip, br"])
      #expect(other.text == "gzip")
      for _ in 0..<2 { #expect(try await client.send("/a").text == "plain") }
      #expect(calls.count == 2)
    }
  }

  @Test func `an error of the handler reaches all who waited, and is not stored`() async throws {
    let (gate, opening) = AsyncStream<Void>.makeStream()
    try await withServer(calls) { request, _ in
      switch request.uri.path {
      case "/missing": return Response(status: .notFound)
      case "/store": throw LarderError(.failed, "an error of the handler's own store")
      default:
        for await _ in gate {}
        throw Fault()
      }
    } test: { client, store, _ in
      try await withThrowingTaskGroup(of: Answer.self) { group in
        for _ in 0..<20 { group.addTask { try await client.send("/fault") } }
        try await waitUntil { calls.count == 1 }
        opening.finish()
        for try await answer in group { #expect(answer.status == 500) }
      }
      // An error of the handler does not count as an error of the cache, so the handler is called only once.
      let before = calls.count
      for path in ["/fault", "/missing", "/missing", "/store"] {
        #expect(try await client.send(path).status == (path == "/missing" ? 404 : 500))
      }
      #expect(calls.count == before + 4)
      #expect(try calls.reports.isEmpty && store.namespace("responses").count() == 0)
    }
  }

  @Test func `a body passes while it is written, and is stored once it is complete`() async throws {
    let (gate, opening) = AsyncStream<Void>.makeStream()
    try await withServer(calls) { _, _ in
      written { writer in
        try await writer.write(ByteBuffer(string: "one "))
        for await _ in gate {}
        try await writer.write(ByteBuffer(string: ""))
        try await writer.write(ByteBuffer(string: "two"))
        try await writer.finish(nil)
      }
    } test: { client, _, _ in
      let response = try await client.begin("/stream")
      var body = response.body.makeAsyncIterator()
      #expect(try await body.next().map { String(buffer: $0) } == "one ")
      opening.finish()
      #expect(try await body.next().map { String(buffer: $0) } == "two")
      #expect(try await body.next() == nil)
      let hit = try await client.send("/stream")
      #expect(hit.text == "one two" && hit.fields["age"] != nil)
      #expect(calls.count == 1)
    }
  }

  @Test func `a body that ends early or has another length than announced is not stored`()
    async throws
  {
    try await withServer(calls) { request, _ in
      // A path that is no number has a body that ends early.
      let count = Int(request.uri.path.dropFirst())
      var fields: HTTPFields = [.cacheControl: "max-age=60"]
      if count != nil { fields[.contentLength] = "5" }
      return written(fields, length: 5) { writer in
        try await writer.write(ByteBuffer(repeating: 0x61, count: count ?? 3))
        if count == nil { throw Fault() }
        try await writer.finish(nil)
      }
    } test: { client, store, _ in
      for (index, path) in ["/cut", "/cut", "/3", "/8", "/0"].enumerated() {
        await #expect(throws: (any Error).self) { _ = try await client.send(path) }
        #expect(calls.count == index + 1)
      }
      for _ in 0..<2 { #expect(try await client.send("/5").text == "aaaaa") }
      #expect(calls.count == 6)
      let keys = try store.namespace("responses").keys()
      #expect(keys.allSatisfy { $0.string?.contains("/5") == true })
    }
  }

  @Test func `an endless body ends with its client`() async throws {
    let (ended, ending) = AsyncStream<Void>.makeStream()
    var policy = HTTPCachePolicy.application
    policy.largestBody = 100_000
    try await withServer(calls, policy: policy) { _, _ in
      written { writer in
        defer { ending.finish() }
        while true { try await writer.write(ByteBuffer(repeating: 0x61, count: 10_000)) }
      }
    } test: { client, store, _ in
      do {
        let response = try await client.begin("/endless")
        var body = response.body.makeAsyncIterator()
        for _ in 0..<20 { _ = try await body.next() }
      }
      for await _ in ended {}
      #expect(try store.namespace("responses").count() == 0)
    }
  }

  @Test func `what is not stored passes as it was`() async throws {
    try await withServer(calls) { request, _ in
      switch request.uri.path {
      case "/echo": Response(status: .created, body: ResponseBody(asyncSequence: request.body))
      case "/private": text(request.headers[.cookie] ?? "nobody", "private, max-age=60")
      default: text(String(buffer: try await request.body.collect(upTo: 100)), "max-age=60")
      }
    } test: { client, store, _ in
      let long = String(repeating: "0123456789", count: 100_000)
      let echo = try await client.send("/echo", "POST", body: long)
      #expect(echo.status == 201 && echo.text == long)
      #expect(try await client.send("/echo", "POST").text == "")
      for text in ["one", "two"] {
        #expect(try await client.send("/body", body: text).text == text)
        #expect(try await client.send("/private", "GET", ["Cookie": text]).text == text)
      }
      #expect(try calls.count == 6 && store.namespace("responses").count() == 0)
    }
  }

  @Test func `a stale response is refreshed behind its client, with the context of the request`()
    async throws
  {
    let router = Router()
    router.get("/a/:name") { [calls] _, context in
      text(
        "\(try context.parameters.require("name")) \(calls.count)",
        "max-age=10, stale-while-revalidate=60", [.eTag: "\"\(calls.count)\""])
    }
    let application = router.buildResponder()
    try await withServer(calls) {
      try await application.respond(to: $0, context: $1)
    } test: { client, _, clock in
      #expect(try await client.send("/a/x").text == "x 1")
      clock.advance(by: .seconds(20))
      #expect(try await client.send("/a/x").text == "x 1")
      try await waitUntil { calls.count == 2 }
      while try await client.send("/a/x").text != "x 2" {}
      #expect(calls.count == 2 && calls.reports.isEmpty)
    }
  }

  @Test
  func `a validation is answered by the application, whose error a stale response may replace`()
    async throws
  {
    let fails = Atomic(false)
    try await withServer(calls) { request, _ in
      if fails.load(ordering: .relaxed) { throw Fault() }
      if request.headers[.ifNoneMatch] == "\"v\"" {
        return Response(status: .notModified, headers: [.eTag: "\"v\""])
      }
      return text("body", "max-age=10, stale-if-error=60", [.eTag: "\"v\""])
    } test: { client, _, clock in
      for (seconds, isFailing, status, count) in [
        (0, false, 200, 1), (20, false, 200, 2), (20, true, 200, 3), (100, true, 500, 4),
      ] {
        clock.advance(by: .seconds(seconds))
        fails.store(isFailing, ordering: .relaxed)
        let answer = try await client.send("/a")
        #expect(answer.status == status && (answer.text == "body") == (status == 200))
        #expect(calls.count == count)
      }
      #expect(calls.reports.count == 1, "the error that the stale response replaced")
    }
  }

  @Test func `the application answers while the store does not`() async throws {
    try await withServer(calls) { request, _ in
      if request.method == .get { return text("body", "max-age=60") }
      return text(String(buffer: try await request.body.collect(upTo: 1_000)))
    } test: { client, store, _ in
      try store.close()
      for _ in 0..<2 { #expect(try await client.send("/a").text == "body") }
      #expect(try await client.send("/a", "POST", body: "posted").text == "posted")
    }
    #expect(calls.count == 3 && calls.reports.count == 3)
  }

  @Test func `a client gets the whole response if the store fails during a validation`()
    async throws
  {
    let closing = Mutex<Store?>(nil)
    try await withServer(calls) { request, _ in
      if request.headers[.ifNoneMatch] == nil {
        return text("body", "max-age=10", [.eTag: "\"v\""])
      }
      try closing.withLock { try $0?.close() }
      return Response(status: .notModified, headers: [.eTag: "\"v\""])
    } test: { client, store, clock in
      closing.withLock { $0 = store }
      _ = try await client.send("/a")
      clock.advance(by: .seconds(20))
      let answer = try await client.send("/a")
      #expect(answer.status == 200 && answer.text == "body" && calls.count == 3)
    }
  }

  @Test func `each host has its own responses, and an impossible host does no harm`() async throws {
    try await withServer(calls) { request, _ in
      text(request.uri.path, "max-age=60")
    } test: { client, _, _ in
      for host in ["one.example", "two.example", "one.example"] {
        #expect(try await client.send("/a%2F..%2Fb", "GET", ["Host": host]).status == 200)
      }
      #expect(calls.count == 2)
      for host in ["a/b", "user@a", "", "a b"] {
        let answer = try await client.send("/a", "GET", ["Host": host])
        #expect(answer.status == 200 || answer.status == 400)
      }
    }
  }

  @Test func `the cache sends nothing outside a request of a client`() async throws {
    let store = try Store.temporary()
    let responder = CachedResponder(Router().buildResponder(), in: store.namespace("responses"))
    let request = HTTPRequest(method: .get, scheme: "http", authority: "a", path: "/")
    await #expect(throws: LarderError.self) { _ = try await responder.cache.send(request) }
  }
}
