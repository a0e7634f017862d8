import ExampleTesting

@testable import LegoCache

/// What comes when the service does not answer, or does not want to.
@Suite(.fixture(FakeRebrickable.self), .checkedStores) struct StaleTests {
  private let fake = FakeRebrickable.current
  private let clock = ManualClock()

  private func withExpiredSet(
    _ rule: EntityRule, _ body: (LegoClient) async throws -> Void
  ) async throws {
    fake.put(Body.set("1-1"), at: "/lego/sets/1-1/")
    fake.change { $0.lists["/lego/sets/"] = [Body.set("1-1")] }
    var plan = CachePlan.default
    plan.disk[.sets] = rule
    let lego = try LegoClient.tested(of: fake, plan: plan, clock: clock)
    _ = try await lego.set("1-1")
    _ = try await lego.page(.sets)
    clock.advance(by: .hours(1))
    fake.server.forget()
    try await body(lego)
  }

  @Test(arguments: [500, 502, 503, 504])
  func `an expired entity is stale if the service fails`(status: Int) async throws {
    try await withExpiredSet(EntityRule(.after(.hours(1)))) { lego in
      fake.refuse(status, "<html>", times: 2)
      let set = try await lego.set("1-1")
      #expect(set?.value.name == "Titanic" && set?.source == .stale && set?.age == .hours(1))
      #expect((set?.error as? ServiceError)?.description.contains("answered \(status)") == true)
      let page = try await lego.page(.sets)
      #expect(page.value.count == 1 && page.source == .stale && page.error is ServiceError)
      let later = try await lego.set("1-1")
      #expect(later?.source == .loaded && later?.error == nil && fake.server.count == 3)
    }
  }

  @Test(arguments: [#"{"set_num": "1-1""#, "<html>", "null", Body.set("2-1")])
  func `an answer of no use is requested once more, then the stored entity is stale`(bad: String)
    async throws
  {
    try await withExpiredSet(EntityRule(.after(.hours(1)))) { lego in
      fake.refuse(200, bad, times: 2)
      let set = try await lego.set("1-1")
      #expect(set?.value.name == "Titanic" && set?.source == .stale && set?.error is ServiceError)
      #expect(fake.server.count == 2)
      fake.refuse(200, bad)
      #expect(try await lego.set("1-1")?.source == .loaded)
      fake.refuse(200, "{")
      #expect(try await lego.page(.sets).source == .loaded)
      fake.change { $0.lists["/lego/minifigs/"] = [] }
      fake.refuse(200, "{")
      #expect(try await lego.refresh(.sets, pageSize: 10).listed == 1)
    }
  }

  @Test(arguments: ["<html>404", "", #"{"message": "no Route matched"}"#])
  func `a 404 without a reason of the API is no absence`(body: String) async throws {
    try await withExpiredSet(EntityRule(.after(.hours(1)))) { lego in
      fake.refuse(404, body, times: 2)
      let set = try await lego.set("1-1")
      #expect(set?.value.name == "Titanic" && set?.source == .stale && set?.error is ServiceError)
      fake.refuse(404, body, times: 2)
      await #expect(throws: ServiceError.self) { try await lego.set("2-1") }
      fake.put(Body.set("2-1"), at: "/lego/sets/2-1/")
      #expect(try await lego.set("2-1")?.source == .loaded, "absence was not stored")
    }
  }

  @Test func `without a network it is stale until its window ends`() async throws {
    let store = try Store.tested(clock: clock)
    let service = LegoClient.service(
      base: "http://127.0.0.1:1/api/v3", credential: nil, over: FailingTransport.offline)
    var plan = CachePlan.default
    plan.disk[.sets] = EntityRule(.after(.hours(1)))
    let gone = LegoClient(LegoCache(store, plan: plan), service: service)
    try gone.cache?.keep([ModelSet(setNum: "2-1", name: "Kept")])
    #expect(try await gone.set("2-1")?.source == .disk)
    clock.advance(by: .hours(1))
    let stale = try await gone.set("2-1")
    #expect(stale?.source == .stale && (stale?.error as? ServiceError)?.isOffline == true)
    #expect(try gone.cache?.clearExpired() == 0, "it may be needed")
    clock.advance(by: .days(30))
    await #expect(throws: ServiceError.self) { try await gone.set("2-1") }
  }

  @Test func `a rule can say that nothing stale is given`() async throws {
    let rule = EntityRule(.after(.hours(1)), servesStaleOnError: false)
    try await withExpiredSet(rule) { lego in
      fake.refuse(503, "", times: 2)
      await #expect(throws: ServiceError.self) { try await lego.set("1-1") }
      await #expect(throws: ServiceError.self) { try await lego.page(.sets) }
    }
  }

  @Test(arguments: [401, 403]) func `a refusal returns nothing stored`(status: Int) async throws {
    try await withExpiredSet(EntityRule(.after(.hours(1)))) { lego in
      fake.refuse(status, #"{"detail": "Invalid credentials"}"#)
      fake.refuse(status, "null")
      let error = await #expect(throws: ServiceError.self) { try await lego.set("1-1") }
      #expect(error?.description == "the service answered \(status): Invalid credentials")
      let other = await #expect(throws: ServiceError.self) { try await lego.page(.sets) }
      #expect(other?.description == "the service answered \(status): no reason given")
    }
  }

  @Test func `a throttled request waits as long as it is told`() async throws {
    fake.put(Body.color(4), at: "/lego/colors/4/")
    let text = #"{"detail": "Request was throttled. Expected available in 2 seconds."}"#
    let waits = Lines<Duration>()
    let lego = try LegoClient.tested(of: fake, clock: clock, slept: waits)
    fake.refuse(429, text)
    #expect(try await lego.color(4)?.value.name == "Red")
    fake.refuse(429, text, ["Retry-After": "5"])
    #expect(try await lego.color(4, .reload)?.value.name == "Red")
    #expect(waits.all == [.seconds(2), .seconds(5)])
    fake.refuse(429, text, times: 2)
    await #expect(throws: ServiceError.self) { try await lego.color(4, .reload) }
  }
}
