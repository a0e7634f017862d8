import ExampleTesting

@testable import LegoCache

/// Requests, and failures of the service. Tests of Larder cover concurrent misses, and the data of different users.
@Suite(.fixture(Fixture.self)) struct ClientTests {
  private let fixture = Fixture.current
  private let lego: LegoClient

  init() throws { lego = try fixture.client() }

  private func set(_ policy: RequestPolicy = .standard) async throws -> CacheResult<ModelSet>? {
    try await lego.entity(ModelSet.self, "10294-1", policy: policy)
  }

  @Test func `the program of the page asks once for a part and a list`() async throws {
    let found = try await Programs.all[0].run(fixture)
    let lego = try #require(found["lego"] as? LegoClient)
    let brick = found["brick"] as? CacheResult<Part>
    let bricks = found["bricks"] as? CacheResult<LegoPage<Part>>
    #expect(brick?.value.partNum == "3001" && bricks?.value.results.count == 4)
    #expect((found["counts"] as? LegoClient.Counts)?.database == 1)
    #expect((found["maintenance"] as? Maintenance)?.interval == .hours(1))
    #expect(try await lego.entity(Part.self, "3001")?.value == brick?.value)
    #expect(fixture.server.count == 2)
    try lego.store.finish()
  }

  @Test func `every call is cached: all seven types and the pages of lists`() async throws {
    let inventory = LegoList.inventory(of: "10294-1").sized(20)
    let colors = LegoList.colors(of: "3001").sized(20)
    for _ in 1...3 {
      #expect(try await lego.color(-1)?.value.name == "[Unknown]")
      #expect(try await lego.entity(Theme.self, "4")?.value.parentID == 1)
      #expect(try await lego.entity(PartCategory.self, "11")?.value.partCount == 298)
      #expect(try await lego.entity(Part.self, "5102c01.875")?.value.yearFrom == 1990)
      #expect(try await lego.entity(ModelSet.self, "fig-000018")?.value.name == "Alien")
      #expect(try await lego.entity(Element.self, "300121")?.value.part.partNum == "3001")
      #expect(try await lego.entity(PartColor.self, "3001/4")?.value.elements == ["300121"])
      #expect(try await lego.page(inventory).value.results.map(\.quantity) == [12, 1])
      #expect(try await lego.page(colors).value.results[0].key == "3001/4")
    }
    #expect(fixture.server.count == 9)
  }

  @Test func `keys and parameters stay themselves in an address`() async throws {
    for (key, escaped) in [
      ("a/b", "a%2Fb"), ("a%2Fb", "a%252Fb"), ("a\u{0}b", "a%00b"), ("a\u{0}c", "a%00c"),
    ] {
      #expect(try await lego.entity(Part.self, key) == nil)
      #expect(fixture.asked.last == "/lego/parts/\(escaped)/")
    }
    fixture.server.forget()
    fixture.server.become { _ in .init(json: #"{"results": []}"#) }
    let lists = [
      LegoList.parts, .parts.with("a", "1&b=2"), .parts.with("a", "1").with("b", "2"),
      .parts.with("a", "1\u{0}"), .parts.with("a", "1\u{0}2"),
      .parts.with("part_nums", (0..<200).map { "300\($0)pr00" }.joined(separator: ",")),
    ]
    for list in lists + lists + [.parts.with("b", "2").with("a", "1")] {
      _ = try await lego.page(list)
    }
    #expect(fixture.server.count == lists.count && Set(fixture.asked).count == lists.count)
  }

  @Test func `an expired entity is validated by its tag, a lost one is removed`() async throws {
    fixture.server.become { request in
      request.fields["if-none-match"] == "\"v1\""
        ? .init(304) : .init(200, ["ETag": "\"v1\""], json: #"{"set_num": "10294-1", "name": ""}"#)
    }
    _ = try await set()
    fixture.clock.advance(by: .hours(24))
    #expect(try await set()?.source == .loaded)
    #expect(fixture.server.received.last?.fields["if-none-match"] == "\"v1\"")
    fixture.clock.advance(by: .hours(24) - .milliseconds(1))
    #expect(try await set()?.source != .loaded, "its lifetime has begun again")
    fixture.server.become { _ in .init(404, json: #"{"detail": "Not found."}"#) }
    #expect(try await set(.revalidate) == nil)
    #expect(try await set() == nil && fixture.server.count == 3)
    fixture.clock.advance(by: .minutes(10))
    #expect(
      try await set() == nil && fixture.server.count == 4, "absence is stored for ten minutes")
  }

  @Test(arguments: [(503, "<html>"), (200, "{"), (200, "null"), (404, ""), (404, "<html>")])
  func `stale entries are served when the service fails, and say so`(
    status: Int, text: String
  ) async throws {
    let failure: LocalServer.Handler = { _ in .init(status, text: text) }
    _ = try await set()
    _ = try await lego.page(.recorded)
    fixture.clock.advance(by: .hours(24) + .days(30) - .milliseconds(1))
    fixture.server.become(failure)
    let found = try await set()
    #expect(found?.source == .stale && found?.error is ServiceError && found?.value.year == 2021)
    #expect(try await lego.page(.recorded).source == .stale)
    #expect(try lego.clearExpired() == 0, "it may be needed")
    try fixture.recover()
    #expect(try await set()?.source == .loaded)
    let plan = with(CachePlan.default) { $0.disk[.sets] = Rules(expires: .after(.hours(1))) }
    let strict = try fixture.client(plan, at: "strict")
    _ = try await strict.entity(ModelSet.self, "10294-1")
    fixture.clock.advance(by: .hours(1))
    fixture.server.become(failure)
    await #expect(throws: ServiceError.self) { try await strict.entity(ModelSet.self, "10294-1") }
  }

  @Test(arguments: [401, 403]) func `a refusal returns nothing stored`(status: Int) async throws {
    _ = try await set()
    fixture.clock.advance(by: .hours(24))
    fixture.server.become { _ in .init(status, json: #"{"detail": "Invalid credentials"}"#) }
    let error = await #expect(throws: ServiceError.self) { try await set() }
    #expect(error?.description == "the service answered \(status): Invalid credentials")
  }
}
