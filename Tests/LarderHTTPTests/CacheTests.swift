import HTTPTypes
import Larder
import Synchronization
import Testing

@testable import LarderHTTP

struct CacheTests {
  @Test func `a response is stored as an ordinary entry under its URI`() async throws {
    let desk = try Desk(.page([("Cache-Control", "max-age=100"), ("ETag", "\"1\""), ("A", "b")]))
    let first = try await desk.get()
    #expect(first.body == "body" && !first.result.isHit && first.result.isStored)
    #expect(first.result.forwarded == .uriMiss && first.result.originStatus == 200)
    let second = try await desk.get()
    #expect(second.body == "body" && second.result.isHit && desk.origin.count == 1)
    #expect(second.result.age == 0 && second.result.remaining == 100)
    let namespace = desk.store.namespace("http")
    let entry = try #require(try namespace.entry(for: "https://example.com/a"))
    #expect(entry.entityTag == Array("\"1\"".utf8) && entry.size == 4)
    #expect(String(decoding: entry.metadata ?? [], as: UTF8.self).contains("\nA: b\n"))
    #expect(try namespace.value(for: "https://example.com/a") == "body")
    #expect(try desk.store.verify().faults == [])
  }

  @Test func `stale for serving is not expired for storage, for purge, reads or a restart`()
    async throws
  {
    let desk = try Desk(
      .page([("Cache-Control", "public, max-age=300, must-revalidate"), ("ETag", "\"1\"")]))
    _ = try await desk.get()
    desk.clock.advance(by: .seconds(301))
    #expect(try desk.store.purge().entries == 0)
    let again = HTTPCache(
      in: desk.store.namespace("http"), over: desk.origin)
    let result = try await again.send(request())
    #expect(desk.origin.received.last?.headerFields[.ifNoneMatch] == "\"1\"")
    #expect(result.reason == .validated && result.body.whole == Array("body".utf8))
    desk.clock.advance(by: .seconds(299))
    #expect(try await desk.get().result.isHit)
    desk.clock.advance(by: .days(30))
    #expect(try desk.store.purge().entries == 1)
  }

  @Test func `a 304 for a body that is gone is followed by one unconditional request`() async throws
  {
    let desk = try Desk(Origin())
    let store = desk.store
    desk.origin.become { _, _ in
      (response(200, [("Cache-Control", "max-age=0"), ("ETag", "\"1\"")]), HTTPBody([1]))
    }
    _ = try await desk.get()
    desk.origin.become { request, _ in
      guard request.headerFields.contains(.ifNoneMatch) else {
        return (response(200, [("ETag", "\"1\"")]), HTTPBody(Array("anew".utf8)))
      }
      // Evicted while the origin is asked.
      _ = try await store.namespace("http").remove("https://example.com/a")
      return (response(304, [("ETag", "\"1\"")]), HTTPBody())
    }
    let result = try await desk.get()
    #expect(result.body == "anew" && desk.origin.count == 3)
    #expect(desk.origin.received[2].headerFields[.ifNoneMatch] == nil)
  }

  @Test func `a body that another process replaced meanwhile keeps its own validators`()
    async throws
  {
    let desk = try Desk(.page([("Cache-Control", "max-age=0"), ("ETag", "\"1\"")]))
    _ = try await desk.get()
    let other = HTTPCache(
      in: desk.store.namespace("http"),
      over: Origin.page([("Cache-Control", "max-age=9"), ("ETag", "\"2\"")], body: "new"),
      clock: desk.clock)
    desk.origin.become { _, _ in
      _ = try await other.send(request()).body.bytes()
      return (response(304, [("ETag", "\"1\"")]), HTTPBody())
    }
    _ = try await desk.get()
    let entry = try #require(try desk.store.namespace("http").entry(for: "https://example.com/a"))
    let body: String? = try desk.store.namespace("http").value(for: "https://example.com/a")
    #expect(entry.entityTag == Array((body == "new" ? "\"2\"" : "\"1\"").utf8))
  }

  @Test func `many that ask the same at once make one request`() async throws {
    let gate = Gate()
    let desk = try Desk(
      Origin { _, _ in
        await gate.wait()
        return (response(200, [("Cache-Control", "max-age=100")]), HTTPBody(Array("body".utf8)))
      })
    try await withThrowingTaskGroup(of: String.self) { group in
      for index in 0..<200 {
        group.addTask { try await desk.get("/\(index % 10)").body }
      }
      group.addTask {
        await desk.origin.wait(for: 10)
        await gate.open()
        return "body"
      }
      for try await body in group { #expect(body == "body") }
    }
    #expect(desk.origin.count == 10)
  }

  @Test func `an error reaches all who wait, and is not kept`() async throws {
    let gate = Gate()
    let desk = try Desk(
      Origin { _, _ in
        await gate.wait()
        throw Origin.Down()
      })
    let failures = try await withThrowingTaskGroup(of: Bool.self) { group in
      for _ in 0..<20 {
        group.addTask {
          do {
            _ = try await desk.get()
            return false
          } catch is Origin.Down {
            return true
          }
        }
      }
      await desk.origin.wait(for: 1)
      await gate.open()
      return try await group.reduce(0) { $0 + ($1 ? 1 : 0) }
    }
    // Whoever came after it had failed asked anew.
    #expect(failures == 20)
    let before = desk.origin.count
    await #expect(throws: Origin.Down.self) { try await desk.get() }
    #expect(desk.origin.count == before + 1)
  }

  @Test func `cancelling one who asks leaves the others`() async throws {
    let gate = Gate()
    let desk = try Desk(
      Origin { _, number in
        if number == 1 { try await Task.sleep(for: .seconds(1000)) }
        await gate.wait()
        return (response(200, [("Cache-Control", "max-age=100")]), HTTPBody(Array("body".utf8)))
      })
    let first = Task { try await desk.get().body }
    await desk.origin.wait(for: 1)
    let second = Task { try await desk.get().body }
    first.cancel()
    await #expect(throws: CancellationError.self) { try await first.value }
    await gate.open()
    #expect(try await second.value == "body")
  }

  @Test func `an origin that takes too long is one that cannot be reached`() async throws {
    let desk = try Desk(.page([("Cache-Control", "max-age=10, stale-if-error=60")]))
    _ = try await desk.get()
    desk.clock.advance(by: .seconds(11))
    desk.origin.become { _, _ in
      try await Task.sleep(for: .seconds(1000))
      throw Origin.Down()
    }
    let (clock, origin) = (desk.clock, desk.origin)
    // Once a request is under way, its time is running.
    let passing = Task {
      for number in 2...3 {
        await origin.wait(for: number)
        clock.advance(by: .seconds(15))
      }
    }
    let stale = try await desk.get()
    #expect(stale.body == "body" && stale.result.reason == .staleDisconnected)
    #expect(stale.result.age == 26)
    await #expect(throws: HTTPCacheError.timedOut(.seconds(15))) { try await desk.get("/b") }
    await passing.value
  }

  @Test func `one refresh runs in the background while stale is served`() async throws {
    let desk = try Desk(.page([("Cache-Control", "max-age=1, stale-while-revalidate=60")]))
    _ = try await desk.get()
    desk.clock.advance(by: .seconds(3))
    let gate = Gate()
    desk.origin.become { _, _ in
      await gate.wait()
      return (response(200, [("Cache-Control", "max-age=100")]), HTTPBody(Array("new".utf8)))
    }
    for _ in 0..<10 {
      let stale = try await desk.get()
      #expect(stale.body == "body" && stale.result.reason == .staleWhileRevalidating)
    }
    await desk.origin.wait(for: 2)
    await gate.open()
    while try await desk.get().body != "new" { await Task.yield() }
    #expect(desk.origin.count == 2)
  }

  @Test func `a refresh that fails costs nobody an answer`() async throws {
    let desk = try Desk(.page([("Cache-Control", "max-age=1, stale-while-revalidate=60")]))
    _ = try await desk.get()
    desk.clock.advance(by: .seconds(3))
    desk.origin.become { _, _ in throw Origin.Down() }
    #expect(try await desk.get().result.reason == .staleWhileRevalidating)
    await desk.origin.wait(for: 2)
    #expect(try await desk.get().body == "body")
    #expect(try desk.store.namespace("http").count() == 1)
  }

  @Test func `what is unsafe ends what is stored of its URI, all variants of it`() async throws {
    let desk = try Desk(.page([("Cache-Control", "max-age=100"), ("Vary", "Foo")]))
    for value in ["1", "2"] { _ = try await desk.get("/a", [("Foo", value)]) }
    _ = try await desk.get("/ab")
    #expect(try desk.store.namespace("http").count() == 3)
    _ = try await desk.cache.send(request("M-SEARCH"))
    #expect(try desk.store.namespace("http").count() == 1)
    #expect(try await desk.get("/ab").result.isHit)
  }

  @Test func `a long URI is a key like any other`() async throws {
    let desk = try Desk(.page([("Cache-Control", "max-age=100"), ("Vary", "Foo")]))
    let long = "/" + String(repeating: "x", count: 3000)
    for path in [long + "1", long + "2"] {
      for value in ["1", "2"] { _ = try await desk.get(path, [("Foo", value)]) }
      for value in ["1", "2"] { #expect(try await desk.get(path, [("Foo", value)]).result.isHit) }
    }
    #expect(desk.origin.count == 4)
  }

  @Test func `a body comes piece by piece, and is stored when all of it has come`() async throws {
    let desk = try Desk(Origin())
    desk.origin.become { _, _ in
      let pieces = Mutex((0..<5).map { [UInt8](repeating: UInt8($0), count: 1000) })
      return (
        response(200, [("Cache-Control", "max-age=100")]),
        HTTPBody(next: { pieces.withLock { $0.isEmpty ? nil : $0.removeFirst() } })
      )
    }
    let result = try await desk.cache.send(request())
    var count = 0
    for try await piece in result.body { count += piece.count }
    #expect(count == 5000 && desk.origin.count == 1)
    let again = try await desk.cache.send(request())
    #expect(again.isHit && again.body.whole?.count == 5000)
  }

  @Test func `a body that breaks off is passed on as far as it came, and not stored`() async throws
  {
    let desk = try Desk(Origin())
    desk.origin.become { _, number in
      let sent = Mutex(false)
      return (
        response(200, [("Cache-Control", "max-age=100"), ("Content-Length", "10")]),
        HTTPBody(next: {
          guard
            sent.withLock({ sent in
              defer { sent = true }
              return !sent
            })
          else { throw Origin.Down() }
          return [1, 2, 3]
        })
      )
    }
    let result = try await desk.cache.send(request())
    var pieces: [[UInt8]] = []
    await #expect(throws: Origin.Down.self) {
      for try await piece in result.body { pieces.append(piece) }
    }
    #expect(pieces == [[1, 2, 3]])
    #expect(try desk.store.namespace("http").count() == 0)
  }

  @Test func `a body longer than the policy stores passes through`() async throws {
    var policy = HTTPCachePolicy()
    policy.largestBody = 2500
    let desk = try Desk(Origin(), policy: policy)
    desk.origin.become { _, _ in
      let pieces = Mutex((0..<5).map { [UInt8](repeating: UInt8($0), count: 1000) })
      return (
        response(200, [("Cache-Control", "max-age=100")]),
        HTTPBody(next: { pieces.withLock { $0.isEmpty ? nil : $0.removeFirst() } })
      )
    }
    #expect(try await desk.cache.send(request()).body.bytes().count == 5000)
    #expect(try desk.store.namespace("http").count() == 0)
  }

  @Test func `ranges come from the stored body`() async throws {
    let desk = try Desk(.page([("Cache-Control", "max-age=100")], body: "0123456789"))
    _ = try await desk.get()
    let part = try await desk.get("/a", [("Range", "bytes=2-4")])
    #expect(part.body == "234" && part.result.response.status.code == 206)
    #expect(desk.origin.count == 1)
  }

  @Test func `secrets are neither in keys nor in metadata nor in values`() async throws {
    let desk = try Desk(
      .page([("Cache-Control", "max-age=100"), ("Set-Cookie", "s=geheim"), ("Vary", "Cookie")]))
    let first = try await desk.get(
      "/a?key=geheim", [("Authorization", "geheim"), ("Cookie", "geheim")])
    #expect(first.result.response.headerFields[.setCookie] == "s=geheim")
    var seen = 0
    try desk.store.namespace("http").scan { entry, value in
      seen += 1
      #expect(entry.key.string?.contains("geheim") == false)
      #expect(!String(decoding: entry.metadata ?? [], as: UTF8.self).contains("geheim"))
      return true
    }
    #expect(seen == 1)
  }

  @Test func `metadata of something else is not believed, and makes way`() async throws {
    let desk = try Desk(.page([("Cache-Control", "max-age=100")]))
    try await desk.store.namespace("http").set("foreign", for: "https://example.com/a")
    #expect(try await desk.get().body == "body")
    #expect(try await desk.get().result.isHit)
  }
}

/// Keeps tasks until it is opened.
actor Gate {
  private var isOpen = false
  private var waiting: [CheckedContinuation<Void, Never>] = []

  func wait() async {
    if !isOpen { await withCheckedContinuation { waiting.append($0) } }
  }

  func open() {
    isOpen = true
    for continuation in waiting { continuation.resume() }
    waiting = []
  }
}

extension Origin {
  /// Waits until so many requests have come.
  func wait(for number: Int) async {
    while count < number { await Task.yield() }
  }
}
