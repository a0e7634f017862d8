import ExampleTesting

@testable import Departures

extension LocalServer {
  /// All services of this server's, over HTTP.
  func services(
    in store: Store, sleep: @escaping @Sendable (Duration) async throws -> Void = { _ in }
  ) -> Services {
    Services(
      at: Addresses(all: base), over: URLSessionTransport(), in: store, weatherKey: "my secret",
      sleep: sleep)
  }
}

/// Calls `body` with a cache over a local server.
func withServer(
  _ clock: any LarderClock = ManualClock(),
  _ body: (LocalServer, DeparturesCache) async throws -> Void
) async throws {
  let store = try Store.tested(clock: clock)
  try await LocalServer.run { server in
    try await body(server, DeparturesCache(store, services: server.services(in: store)))
  }
}

/// What the services say when something is wrong, over HTTP.
@Suite(.checkedStores) struct ServicesTests {
  @Test(arguments: [
    (
      500, #"{"errors": [{"message": "from timetable.search.ch: 500\n"}]}"#,
      "500: from timetable.search.ch: 500"
    ),
    (401, #"{"cod": 401, "message": "Invalid API key."}"#, "401: Invalid API key."),
    (400, "Invalid `limit`.\n", "400: Invalid `limit`."), (502, "<html>", "502: no reason given"),
    (200, "<html>", "a login page of this network may have sent it"),
    (200, #"{"station": null, "stationboard": []}"#, "the station 1 is not in the timetable"),
    (200, #"{"station": {"id": "7"}, "stationboard": []}"#, "it is of the station 7"),
  ]) func `errors in words, whatever their form`(status: Int, text: String, words: String)
    async throws
  {
    try await withServer { server, cache in
      server.become { _ in
        .init(status, status == 200 ? [:] : ["Content-Type": "text/html"], text: text)
      }
      await #expect { try await cache.board(at: "1") } throws: { "\($0)".hasSuffix(words) }
    }
  }

  @Test func `a body that cannot be read leaves the last good board where it is`() async throws {
    let clock = ManualClock(now: try moment("2025-07-12T08:00:00+0200"))
    let fake = FakeServices()
    try await withServer(clock) { server, cache in
      server.become { fake.answer($0.path) }
      let today = try cache.today
      _ = try await cache.board(at: "1")
      let timeless = #"{"station": {"id": 1}, "stationboard": [{"stop": {"departure": "soon"}}]}"#
      for body in [#"{"station": 7}"#, timeless] {
        server.become { _ in .init(200, text: body) }
        let kept = try await cache.board(at: "1", on: today, policy: .revalidate)
        #expect(kept.source == .stale && kept.value.departures.count == 12 && kept.error != nil)
        #expect(try await cache.board(at: "1", on: today).error == nil)
      }
    }
  }

  @Test func `values of no use are not stored`() async throws {
    try await withServer { server, cache in
      let lake = try #require(cache.lake("zuerichsee"))
      for (type, body) in [
        ("image/png", ""), ("application/json", "{}"), ("text/html", "x"), ("image/png", "<html>"),
        ("application/octet-stream", "sorry"), ("", "sorry"),
      ] {
        server.become { _ in .init(200, ["Content-Type": type], text: body) }
        await #expect(throws: ServiceError.self) { try await cache.tile(zoom: 1, x: 0, y: 0) }
      }
      server.become { _ in .init(200, text: #"{"list": [], "city": null}"#) }
      await #expect(throws: ServiceError.self) { try await cache.forecast(of: lake) }
      let numbers = #""temperature": "nan", "waterLevel": "\#(String(repeating: "9", count: 400))""#
      server.become { request in
        request.bare.hasSuffix("/lakes")
          ? .init(200, text: "{\"lakes\": [{\"name\": \"\(lake.name)\", \(numbers)}]}") : .init(404)
      }
      await #expect(throws: ServiceError.self) { try await cache.temperature(of: lake) }
      #expect(try await cache.level(of: lake) == nil)
      let kept = try cache.store.namespaces().filter { $0.name != BoatNamespace.http.name }
      #expect(kept.allSatisfy { $0.bytes == 0 }, "\(kept)")
    }
  }

  @Test(arguments: [(429, ["Retry-After": "3600"]), (503, [:]), (403, [:]), (200, [:])])
  func `a service that refuses all is asked for one landing of a lake`(
    status: Int, fields: [String: String]
  ) async throws {
    try await withServer { server, cache in
      server.become { _ in .init(status, fields, text: "<html>") }
      var failed = 0
      try await cache.boards(at: ["1", "2", "3"]) { _, result in
        if case .failure(let error) = result, error is ServiceError { failed += 1 }
      }
      #expect(failed == 3 && server.count <= 2, "a page is requested once more")
    }
  }

  @Test func `the first level spares a body that has not changed`() async throws {
    let clock = ManualClock(now: try moment("2025-07-12T08:00:00+0200"))
    let fake = FakeServices()
    let bodies = Lines<Int>()
    try await withServer(clock) { server, cache in
      server.become { request in
        if request.fields["if-none-match"] == "\"1\"" { return .init(304, ["ETag": "\"1\""]) }
        var answer = fake.answer(request.path)
        answer.fields = ["ETag": "\"1\"", "Cache-Control": "max-age=60"]
        bodies.add(answer.body.count)
        return answer
      }
      let lake = cache.lakes[0]
      _ = try await cache.forecast(of: lake)
      // The second level forgets; the first still has it.
      try cache.store.namespace("boat.weather").clear()
      _ = try await cache.forecast(of: lake)
      clock.advance(by: .hours(1))
      #expect(try await cache.forecast(of: lake, policy: .reload).source == .loaded)
      #expect(server.count == 3 && bodies.all.count == 1, "by 304")
    }
  }

  @Test(arguments: [
    "max-age=600", "max-age=60, stale-if-error=86400", "max-age=60, stale-while-revalidate=86400",
  ]) func `an old answer of the first level is never passed off as new`(rule: String) async throws {
    let clock = ManualClock(now: try moment("2025-07-12T08:00:00+0200"))
    let fake = FakeServices()
    fake.change {
      $0.delay = 3
      $0.fields = ["Cache-Control": rule]
    }
    try await withServer(clock) { server, cache in
      var cache = cache
      cache.waitsForNewer = true
      server.become { fake.answer($0.path) }
      _ = try await cache.board(at: "1")
      clock.advance(by: .minutes(2))
      fake.change { $0.delay = 25 }
      let next = try await cache.board(at: "1")
      #expect(next.source == .loaded && next.value.departures[0].delay == 25)
      fake.change { $0.isDown = true }
      clock.advance(by: .minutes(4))
      let kept = try await cache.board(at: "1")
      #expect(kept.source == .stale && kept.age == .minutes(4) && kept.error != nil)
    }
  }

  @Test func `the key for the weather is in no key of the store`() async throws {
    let fake = FakeServices()
    fake.change { $0.fields = ["Cache-Control": "max-age=60"] }
    try await withServer { server, cache in
      server.become { fake.answer($0.path) }
      _ = try await cache.forecast(of: cache.lakes[0])
      #expect(server.received[0].parameter("appid") == "my secret")
      let keys = try cache.store.namespace("boat.http").page().items.compactMap(\.key.string)
      #expect(keys.count == 1 && !keys[0].contains("secret") && keys[0].contains("appid="))
    }
  }

  @Test func `a request that is not answered within fifteen seconds has failed`() async throws {
    let fixture = try Fixture()
    let today = try fixture.cache.today
    _ = try await fixture.cache.board(at: "1")
    fixture.services.change { $0.isHanging = true }
    let cache = fixture.cache
    /// What comes of a question if nobody answers it and so much time passes.
    func ask<Answer: Sendable>(
      _ time: Duration, _ question: @escaping @Sendable () async throws -> Answer
    ) async throws -> Answer {
      let before = fixture.services.count
      let asking = Task { try await question() }
      try await fixture.settle(requests: before + 1)
      fixture.clock.advance(by: time)
      return try await asking.value
    }
    let start = fixture.clock.now
    let board = try await ask(.seconds(15)) {
      try await cache.board(at: "1", on: today, policy: .revalidate)
    }
    #expect(board.source == .stale && board.value.departures.count == 12)
    #expect((try #require(board.error) as? ServiceError)?.isOffline == true)
    #expect("\(try #require(board.error))".contains("15"))
    await #expect(throws: ServiceError.self) {
      try await ask(.seconds(15)) { try await cache.board(at: "2") }
    }
    await #expect {
      try await ask(.seconds(15)) { try await cache.tile(zoom: 1, x: 1, y: 1) }
    } throws: { ($0 as? LarderError)?.code == .timedOut }
    #expect(start.duration(to: fixture.clock.now) == .seconds(45))

    // One millisecond less, and the answer counts.
    let before = fixture.services.count
    let asking = Task { try await cache.board(at: "3") }
    try await fixture.settle(requests: before + 1)
    fixture.clock.advance(by: .seconds(15) - .milliseconds(1))
    fixture.services.change { $0.isHanging = false }
    #expect(try await asking.value.source == .loaded)
  }
}
