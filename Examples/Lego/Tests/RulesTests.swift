import ExampleTesting

@testable import LegoCache

/// Presets of lifetimes, memory and plans, and counts of entities. Tests of Larder cover expiry, limits, damage and maintenance.
@Suite(.fixture(Fixture.self)) struct RulesTests {
  private let fixture = Fixture.current
  private static let red = Color(id: 4, name: "Red", rgb: "C91A09", isTransparent: false)

  /// The lifetimes in hours, in the order of `EntityKind.allCases`. Nil means that entities never expire.
  static let presets: [([EntityKind: Rules], [Int?])] = [
    (.default, [24, 24, 24, 24, 24, 24, 24]),
    (.longTerm, [nil, 30 * 24, 30 * 24, 7 * 24, 24, 7 * 24, 7 * 24]),
    (.shortTerm, [24, 12, 12, 2, 1, 2, 1]),
  ]

  @Test(arguments: presets) func `presets give each type a lifetime, and evict small types last`(
    preset: [EntityKind: Rules], hours: [Int?]
  ) {
    let lifetimes = hours.map { $0.map { Expiration.after(.hours($0)) } ?? .never }
    #expect(EntityKind.allCases.map { preset[$0]?.expires } == lifetimes)
    let last = EntityKind.allCases.filter { preset[$0]?.priority == .high }
    #expect(last == [.colors, .themes, .categories])
  }

  @Test func `a type's rule overrides the default; a type can be switched off`() async throws {
    let end = fixture.clock.now.advanced(by: .hours(1))
    var plan = CachePlan(disk: .lifetimes(.at(end)))
    plan.disk[.themes] = nil
    plan.disk[.colors] = Rules(expires: .after(.seconds(90)))
    let lego = try fixture.client(plan)
    for _ in 1...3 {
      _ = try await lego.color(4)
      _ = try await lego.entity(Theme.self, "4")
    }
    #expect(fixture.asked.count { $0.hasPrefix("/lego/themes/") } == 3)
    #expect(try lego.namespace(of: .themes).count() == 0)
    fixture.clock.advance(by: .seconds(90))
    #expect(try await lego.color(4)?.source == .loaded)
    try lego.keep(ModelSet(setNum: "1", name: ""))
    #expect(try lego.entities(ModelSet.self)?.entry(for: "1")?.expires == end)
  }

  /// The presets of memory. Each has a number of entities and a lifetime in seconds.
  @Test(arguments: [
    (MemoryLimits.standard, 100, 300), (.aggressive, 500, 1800), (.conservative, 50, 60),
    (.development, 50, 30), (.production, 1000, 86_400),
  ]) func `memory presets have a number of entries and a lifetime`(
    limits: MemoryLimits, entries: Int, seconds: Int
  ) { #expect(limits == MemoryLimits(entries: entries, lifetime: .seconds(seconds))) }

  private func look(_ lego: LegoClient) async throws -> [CacheResult<Color>.Source?] {
    [try await lego.color(4)?.source, try await lego.color(4)?.source]
  }

  @Test(arguments: [CachePlan.default, .performance, .storage, .databaseOnly])
  func `memory first, then the disk, at the place that is given`(plan: CachePlan) async throws {
    let second = plan.memory == .off ? CacheResult<Color>.Source.disk : .memory
    let lego = try fixture.client(plan)
    #expect(lego.entities(Color.self)?.memory?.limits == (plan.memory == .off ? nil : plan.memory))
    #expect(try await look(lego) == [.loaded, second])
    // A decoded page may differ from the loaded page, so a load does not fill the memory. The first read from the disk fills it.
    for _ in 1...2 { _ = try await lego.page(.recorded) }
    #expect(try await lego.page(.recorded).source == (plan.memory == .off ? .disk : .memory))
    try lego.store.close()
    let again = try fixture.client(plan)
    #expect(try await look(again) == [.disk, second], "nothing is lost at the end of a process")
    #expect(fixture.server.count == 2)
    #expect(again.store.path == fixture.folder.path + "/store")
  }

  @Test func `memory only: no file, 100 pages, and stale entities for thirty days`() async throws {
    let lego = try fixture.client(.memoryOnly)
    #expect(try await look(lego) == [.loaded, .memory])
    #expect(try lego.counts() == LegoClient.Counts(memory: 1, database: 0))
    #expect(try FileManager.default.contentsOfDirectory(atPath: fixture.folder.path) == [])
    fixture.server.become { _ in .init(json: #"{"count": 0, "results": []}"#) }
    for size in 0...100 { _ = try await lego.page(.sets.sized(size)) }
    #expect(try lego.namespace("pages").count() == 100)
    fixture.clock.advance(by: .seconds(300) + .days(30) - .milliseconds(1))
    fixture.server.become { _ in .init(503) }
    #expect(try await lego.color(4)?.source == .stale)
    fixture.clock.advance(by: .milliseconds(1))
    await #expect(throws: ServiceError.self) { try await lego.color(4) }
  }

  @Test func `disabled requests each time and stores nothing`() async throws {
    let lego = try fixture.client(.disabled)
    #expect(try await look(lego) == [.loaded, .loaded])
    for _ in 1...2 { #expect(try await lego.page(.recorded).value.count == 3) }
    #expect(fixture.server.count == 4)
    #expect(try await lego.color(4, .cacheOnly) == nil)
    #expect(try FileManager.default.contentsOfDirectory(atPath: fixture.folder.path) == [])
  }

  @Test func `a store in use keeps its limit, and a plan may set another`() throws {
    func limit(_ name: String, _ limit: Int? = nil) throws -> Int? {
      let store = try fixture.client(CachePlan(diskLimit: limit), at: name).store
      defer { try! store.close() }
      return try store.limits().declared.disk
    }
    #expect(try limit("new") == 10_000_000 && limit("new", 20_000_000) == 20_000_000)
    #expect(try limit("new") == 20_000_000)
    let store = try Store(at: fixture.folder.path + "/used")
    try store.namespace("others").set([1], for: "one")
    try store.close()
    #expect(try limit("used") == nil)
  }

  @Test func `a typed value survives a round trip, and equal ids of types do not collide`() throws {
    let lego = try fixture.client()
    let pair = PartColor(partNum: "3001", colorID: 4, colorName: "Red", elements: ["300121"])
    let theme = Theme(id: 4, name: "Expert Builder", parentID: 1)
    try lego.keep(Self.red)
    try lego.keep(pair)
    try lego.keep(theme)
    #expect(try lego.entities(Color.self)?.value(for: "4") == Self.red)
    #expect(try lego.entities(Theme.self)?.value(for: "4") == theme)
    #expect(try lego.entities(PartColor.self)?.value(for: "3001/4") == pair)
    #expect(try lego.entities(PartColor.self)?.value(for: "3001") == nil)
    let names = try lego.store.namespaces().map(\.name)
    let kinds = [EntityKind.colors, .partColors, .themes]
    #expect(Set(names) == Set(kinds.map { lego.namespace(of: $0).name }))
    #expect(EntityKind.allCases.allSatisfy { $0.type.kind == $0 })
    let text = #"{"part_num": "1", "color_id": 4, "elements": [4211398, "4211399", null]}"#
    let elements = try JSONDecoder().decode(PartColor.self, from: Data(text.utf8)).elements
    #expect(elements == ["4211398", "4211399"])
  }

  @Test func `three entries, two expired: clearExpired returns 2, then count is 1`() throws {
    var plan = CachePlan.default
    plan.disk[.sets] = Rules(expires: .after(.milliseconds(100)))
    let lego = try fixture.client(plan)
    for number in ["1-1", "2-1"] { try lego.keep(ModelSet(setNum: number, name: "A")) }
    try lego.keep(Self.red)
    _ = try lego.entities(Color.self)?.value(for: "4")
    fixture.clock.advance(by: .milliseconds(200))
    // Memory and disk have separate counts; the total counts an entity once. The loop checks that counting changes no count.
    for _ in 1...3 { #expect(try lego.counts() == LegoClient.Counts(memory: 1, database: 3)) }
    #expect(try lego.counts().total == 3)
    #expect(try lego.clearExpired() == 2 && lego.counts().database == 1)
    #expect(try lego.clear() == 1 && lego.clear() == 0 && lego.counts().total == 0)
  }
}
