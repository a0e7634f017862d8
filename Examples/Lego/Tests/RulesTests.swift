import ExampleTesting

@testable import LegoCache

/// The presets of lifetimes, memory and plans, and their effect.
@Suite(.fixture(Fixture.self), .checkedStores) struct RulesTests {
  private let fixture: Fixture
  private var fake: FakeRebrickable { fixture.fake }
  init() throws {
    fixture = .current
    fake.put(Body.color(4), at: "/lego/colors/4/")
    fake.put(try Body.recorded("theme-4"), at: "/lego/themes/4/")
    fake.change { $0.lists["/lego/sets/"] = [Body.set("1-1")] }
  }

  /// The lifetimes in hours, in the order of `EntityKind.allCases`; nil for entities that never expire.
  static let presets: [([EntityKind: Rules], [Int?])] = [
    (.default, [24, 24, 24, 24, 24, 24, 24]),
    (.longTerm, [nil, 30 * 24, 30 * 24, 7 * 24, 24, 7 * 24, 7 * 24]),
    (.shortTerm, [24, 12, 12, 2, 1, 2, 1]),
  ]

  @Test(arguments: presets) func `presets expire each type to the millisecond, or never`(
    preset: [EntityKind: Rules], hours: [Int?]
  ) throws {
    let lego = LegoCache(try Store.tested(clock: fixture.clock), plan: CachePlan(disk: preset))
    let (part, color) = (
      Part(partNum: "1", name: "", categoryID: 1), Color(id: 1, name: "", rgb: "")
    )
    try lego.keep([color])
    try lego.keep([Theme(id: 1, name: "")])
    try lego.keep([PartCategory(id: 1, name: "")])
    try lego.keep([part])
    try lego.keep([ModelSet(setNum: "1", name: "")])
    try lego.keep([Element(elementID: "1", part: part, color: color)])
    try lego.keep([PartColor(partNum: "1", colorID: 1)])
    func found() throws -> [Bool] {
      try EntityKind.allCases.map { kind in
        try lego.namespace(of: kind).contains(kind == .partColors ? "1/1" : "1")
      }
    }
    var passed = Duration.zero
    for end in Set(hours.compactMap { $0 }).sorted() {
      fixture.clock.advance(by: .hours(end) - passed - .milliseconds(1))
      #expect(try found() == hours.map { $0 ?? end >= end })
      fixture.clock.advance(by: .milliseconds(1))
      #expect(try found() == hours.map { $0.map { $0 > end } ?? true })
      passed = .hours(end)
    }
  }

  @Test func `a type's rule overrides the default, a date and switched off included`() async throws
  {
    let end = fixture.clock.now.advanced(by: .hours(1))
    var plan = CachePlan(disk: .lifetimes(.at(end)))
    plan.disk[.themes] = nil
    plan.disk[.colors] = Rules(expires: .after(.seconds(90)))
    let lego = try fixture.client(plan)
    for _ in 1...3 {
      _ = try await lego.color(4)
      _ = try await lego.entity(Theme.self, "4")
    }
    #expect(fake.asked.count { $0.hasPrefix("/lego/themes/") } == 3)
    #expect(try lego.cache.namespace(of: .themes).count() == 0)
    fixture.clock.advance(by: .seconds(90))
    #expect(try await lego.color(4)?.source == .loaded)
    try lego.cache.keep([ModelSet(setNum: "1", name: "")])
    #expect(try lego.cache.entities(ModelSet.self)?.entry(for: "1")?.expires == end)
  }

  @Test(arguments: [
    (MemoryLimits.standard, 300, 100), (.aggressive, 1800, 500), (.conservative, 60, 50),
    (.development, 30, 50), (.production, 86_400, 1000),
  ]) func `memory presets keep their number of entries`(
    limits: MemoryLimits, seconds: Int, entries: Int
  ) throws {
    #expect(limits == MemoryLimits(entries: entries, lifetime: .seconds(seconds)))
    let lego = LegoCache(try Store.tested(clock: fixture.clock), plan: CachePlan(memory: limits))
    try lego.keep((0..<1200).map { Color(id: $0, name: "", rgb: "") })
    for id in 0..<1200 { #expect(try lego.entities(Color.self)?.value(for: "\(id)") != nil) }
    #expect(try lego.counts().memory == entries)
  }

  /// The sources of a colour in two lookups.
  private func look(_ lego: LegoClient) async throws -> [CacheResult<Color>.Source?] {
    [try await lego.color(4)?.source, try await lego.color(4)?.source]
  }

  @Test(arguments: [CachePlan.default, .performance, .storage, .databaseOnly])
  func `memory first, then the disk, at the place that is given`(plan: CachePlan) async throws {
    let second = plan.memory == .off ? CacheResult<Color>.Source.disk : .memory
    let lego = try fixture.client(plan)
    #expect(try await look(lego) == [.loaded, second])
    try lego.cache.store.close()
    let again = try fixture.client(plan)
    #expect(try await look(again) == [.disk, second], "nothing is lost at the end of a process")
    #expect(fake.server.count == 1)
    #expect(again.cache.store.path == fixture.folder.path + "/store")
  }

  @Test func `memory only writes no file, and keeps stale entities for thirty days`() async throws {
    let lego = try fixture.client(.memoryOnly)
    #expect(try await look(lego) == [.loaded, .memory])
    #expect(try lego.cache.counts() == LegoCache.Counts(memory: 1, database: 0))
    #expect(try FileManager.default.contentsOfDirectory(atPath: fixture.folder.path) == [])
    fixture.clock.advance(by: .seconds(300) + .days(30) - .milliseconds(1))
    fake.refuse(503, "")
    #expect(try await lego.color(4)?.source == .stale)
    fixture.clock.advance(by: .milliseconds(1))
    fake.refuse(503, "")
    await #expect(throws: ServiceError.self) { try await lego.color(4) }
  }

  @Test func `disabled requests each time and stores nothing`() async throws {
    let lego = try fixture.client(.disabled)
    #expect(try await look(lego) == [.loaded, .loaded])
    for _ in 1...2 { #expect(try await lego.page(.sets).value.count == 1) }
    #expect(fake.server.count == 4)
    #expect(try await lego.color(4, .cacheOnly) == nil)
    #expect(try FileManager.default.contentsOfDirectory(atPath: fixture.folder.path) == [])
  }

  @Test func `the default limit of 10 MB is a hard limit`() throws {
    let name = String(repeating: "x", count: 15_000)
    let lego = try fixture.client().cache
    try lego.keep((0..<50).map { Color(id: $0, name: "", rgb: "") })
    for number in 0..<1200 {
      let part = Part(partNum: "\(number)", name: name, categoryID: 1)
      try lego.entities(Part.self)?.set(part, for: part.key)
    }
    let facts = try FileManager.default.attributesOfItem(atPath: lego.store.path + "/data.mdb")
    let largest = try #require(facts[.size] as? Int64)
    #expect((5_000_001...10_000_000).contains(largest))
    let count = try lego.namespace(of: .parts).count()
    #expect((100..<1200).contains(count))
    #expect(try lego.namespace(of: .colors).count() == 50, "small kinds are evicted last")
  }

  @Test func `a store in use keeps its limit, and a plan may set another`() throws {
    func limit(_ name: String, _ limit: Int? = nil) throws -> Int? {
      let store = try fixture.client(CachePlan(diskLimit: limit), at: name).cache.store
      defer { try! store.close() }
      return try store.limits().declared.disk
    }
    #expect(try limit("new") == 10_000_000 && limit("new", 20_000_000) == 20_000_000)
    #expect(try limit("new") == 20_000_000)
    let store = try Store(at: fixture.folder.path + "/used")
    try LegoCache(store).keep([Theme(id: 1, name: "Technic")])
    try store.close()
    #expect(try limit("used") == nil)
  }
}
