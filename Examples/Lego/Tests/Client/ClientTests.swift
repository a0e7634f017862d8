import ExampleTesting

@testable import LegoCache

/// Single entities: requested once.
@Suite(.fixture(FakeRebrickable.self), .checkedStores) struct ClientTests {
  private let fake = FakeRebrickable.current
  /// A colour that counts how often it is decoded.
  private struct CountedColor: LegoEntity {
    static let kind = EntityKind.colors
    static let decoded = Atomic(0)
    var id: Int
    var key: String { String(id) }

    private enum CodingKeys: String, CodingKey { case id }

    init(from decoder: any Decoder) throws {
      Self.decoded.add(1, ordering: .relaxed)
      id = try decoder.container(keyedBy: CodingKeys.self).decode(Int.self, forKey: .id)
    }
  }

  @Test func `the program of the page asks once for a part and a list`() async throws {
    #expect(try PageProgram(of: "Lego/README.md").isIn(#filePath))
    fake.put(Body.part("3001", detail: true), at: "/lego/parts/3001/")
    fake.change {
      $0.lists["/lego/parts/"] = ["3001", "3002"].map { Body.part($0) }
      $0.lists["/lego/colors/"] = Body.colors(0..<5)
    }
    let folder = try TemporaryFolder()
    let (path, key) = (folder.url.path + "/store", FakeRebrickable.credential)
    let transport = LocalTransport(to: fake.server, over: URLSessionTransport())

    let lego = try LegoClient(at: path, plan: .default, credential: key, over: transport)
    let brick = try await lego.entity(Part.self, "3001")
    let bricks = try await lego.page(.parts.searching("brick 2 x").sized(20))
    let changes = try await lego.refresh(.colors)

    #expect(brick?.value.partNum == "3001" && bricks.value.results.count == 2)
    #expect(changes.listed == 5)
    let asked = fake.asked.count
    #expect(try await lego.entity(Part.self, "3001")?.value == brick?.value)
    #expect(fake.asked.count == asked)
    try lego.cache?.larder.close()
  }

  @Test func `a second look at a colour makes no request and decodes nothing`() async throws {
    fake.put(Body.color(4), at: "/lego/colors/4/")
    let lego = try LegoClient.tested(of: fake)
    let first = try await lego.entity(CountedColor.self, "4")
    #expect(first?.source == .loaded && first?.value.id == 4)
    #expect(CountedColor.decoded.load(ordering: .relaxed) == 1, "the answer")
    for _ in 1...10 {
      let again = try await lego.entity(CountedColor.self, "4")
      #expect(again?.source == .memory && again?.value.id == 4)
    }
    #expect(CountedColor.decoded.load(ordering: .relaxed) == 1)
    #expect(fake.asked == ["/lego/colors/4/"])
    #expect(fake.server.received[0].fields["authorization"] == "key " + FakeRebrickable.credential)
  }

  @Test func `all seven are requested where they are, and then no more`() async throws {
    fake.put(Body.color(-1, "[Unknown]"), at: "/lego/colors/-1/")
    fake.put(try Body.recorded("theme-4"), at: "/lego/themes/4/")
    fake.put(try Body.recorded("category-11"), at: "/lego/part_categories/11/")
    fake.put(Body.part("5102c01.875", detail: true), at: "/lego/parts/5102c01.875/")
    fake.put(Body.set("0003977811-1"), at: "/lego/sets/0003977811-1/")
    fake.put(Body.set("fig-000018"), at: "/lego/minifigs/fig-000018/")
    fake.put(try Body.recorded("element-300121"), at: "/lego/elements/300121/")
    fake.put(try Body.recorded("partcolor-3001-4"), at: "/lego/parts/3001/colors/4/")
    let lego = try LegoClient.tested(of: fake)
    for _ in 1...3 {
      #expect(try await lego.color(-1)?.value.name == "[Unknown]")
      #expect(try await lego.entity(Theme.self, "4")?.value.parentID == 1)
      #expect(try await lego.entity(PartCategory.self, "11")?.value.partCount == 298)
      #expect(try await lego.part("5102c01.875")?.value.prints == ["3001pr0001"])
      #expect(try await lego.set("0003977811-1")?.value.partCount == 9092)
      #expect(try await lego.set("fig-000018")?.value.setNum == "fig-000018")
      #expect(try await lego.entity(Element.self, "300121")?.value.part.partNum == "3001")
      let pair = try await lego.entity(PartColor.self, "3001/4")?.value
      #expect(pair?.key == "3001/4" && pair?.yearFrom == 1958 && pair?.elements == ["300121"])
    }
    #expect(fake.server.count == 8)
    #expect(try lego.cache?.counts() == LegoCounts(memory: 8, database: 8))
  }

  @Test func `keys of odd shape stay themselves in an address`() async throws {
    let lego = try LegoClient.tested(of: fake)
    for key in ["a/b", "a b", "a?b", "a#b", "a%2Fb", "\u{E9}", "a\u{0}b", "a\u{0}c"] {
      #expect(try await lego.part(key) == nil)
    }
    #expect(
      fake.asked == [
        "/lego/parts/a%2Fb/", "/lego/parts/a%20b/", "/lego/parts/a%3Fb/", "/lego/parts/a%23b/",
        "/lego/parts/a%252Fb/", "/lego/parts/%C3%A9/", "/lego/parts/a%00b/", "/lego/parts/a%00c/",
      ])
    for key in ["", ".", ".."] {
      let error = await #expect(throws: LarderError.self) { try await lego.part(key) }
      #expect(error?.code == .invalidArgument)
    }
    await #expect(throws: LarderError.self) { try await lego.entity(PartColor.self, "3001") }
  }

  @Test(arguments: [CachePlan.default, .databaseOnly, .memoryOnly])
  func `a hundred tasks that miss at once make one request`(plan: CachePlan) async throws {
    fake.put(Body.part("3001", detail: true), at: "/lego/parts/3001/")
    let lego = try LegoClient.tested(of: fake, plan: plan)
    let names = try await withThrowingTaskGroup(of: String?.self) { group in
      for _ in 1...100 { group.addTask { try await lego.part("3001")?.value.name } }
      return try await group.reduce(into: Set()) { $0.insert($1) }
    }
    #expect(names == ["Brick 2 x 4"] && fake.server.count == 1)
  }

  @Test func `an entity that the service removed is removed`() async throws {
    fake.put(Body.set("1-1"), at: "/lego/sets/1-1/")
    let lego = try LegoClient.tested(of: fake)
    #expect(try await lego.set("1-1") != nil)
    fake.change { $0.things = [:] }
    #expect(try await lego.set("1-1") != nil, "for a day")
    #expect(try await lego.set("1-1", .revalidate) == nil)
    #expect(try await lego.set("1-1", .cacheElseLoad) == nil)
    #expect(fake.server.count == 2)
  }

  @Test func `an expired entity is validated by its tag`() async throws {
    fake.put(Body.set("1-1"), at: "/lego/sets/1-1/")
    fake.change { $0.fields = ["ETag": "\"v1\""] }
    let clock = ManualClock()
    let lego = try LegoClient.tested(of: fake, clock: clock)
    #expect(try await lego.set("1-1")?.source == .loaded)
    clock.advance(by: .hours(24))
    #expect(try await lego.set("1-1")?.source == .loaded)
    #expect(fake.server.received.last?.fields["if-none-match"] == "\"v1\"")
    clock.advance(by: .hours(24) - .milliseconds(1))
    #expect(try await lego.set("1-1")?.source != .loaded, "its lifetime has begun again")
    #expect(fake.server.count == 2)
  }

  @Test func `hosts and credentials have namespaces of their own`() async throws {
    fake.put(Body.color(4), at: "/lego/colors/4/")
    fake.change { $0.lists["/lego/colors/"] = [Body.color(4)] }
    let store = try Store.tested()
    let mine = try LegoClient.tested(of: fake, in: store)
    let yours = try LegoClient.tested(of: fake, in: store, credential: "another")
    for lego in [mine, yours] {
      for _ in 1...2 {
        _ = try await lego.color(4)
        _ = try await lego.page(.colors)
      }
    }
    #expect(fake.server.count == 4)
    try await FakeRebrickable.run { other in
      other.put(Body.color(4, "Rouge"), at: "/lego/colors/4/")
      let foreign = try await LegoClient.tested(of: other, in: store).color(4)
      let own = try await mine.color(4)
      #expect(foreign?.value.name == "Rouge" && own?.value.name == "Red")
    }
    #expect(try mine.cache?.clear() == 1)
    #expect(try yours.cache?.count() == 1, "the data of others stays")
    let names = try store.namespaces().map(\.name)
    #expect(names.count { $0.hasPrefix("lego.colors.") } == 3)
    #expect(!names.contains { $0.contains("another") || $0.contains(FakeRebrickable.credential) })
    #expect(LegoClient.realm(base: LegoClient.publicBase, credential: nil) == .open)
  }
}
