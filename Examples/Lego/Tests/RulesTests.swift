import ExampleTesting

@testable import LegoCache

/// The presets of lifetimes, memory and plans, and their effect. Tests of Larder cover entities that expire to the
/// millisecond, limits of memory, and a file that never grows beyond its limit.
@Suite(.fixture(Fixture.self)) struct RulesTests {
  private let fixture = Fixture.current

  /// The lifetimes in hours, in the order of `EntityKind.allCases`; nil for entities that never expire.
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
    #expect(fixture.asked.count { $0.hasPrefix("/lego/themes/") } == 3)
    #expect(try lego.cache.namespace(of: .themes).count() == 0)
    fixture.clock.advance(by: .seconds(90))
    #expect(try await lego.color(4)?.source == .loaded)
    try lego.cache.keep([ModelSet(setNum: "1", name: "")])
    #expect(try lego.cache.entities(ModelSet.self)?.entry(for: "1")?.expires == end)
  }

  /// The presets of memory, with their number of entities and their lifetime in seconds.
  @Test(arguments: [
    (MemoryLimits.standard, 100, 300), (.aggressive, 500, 1800), (.conservative, 50, 60),
    (.development, 50, 30), (.production, 1000, 86_400),
  ]) func `memory presets have a number of entries and a lifetime`(
    limits: MemoryLimits, entries: Int, seconds: Int
  ) throws {
    #expect(limits == MemoryLimits(entries: entries, lifetime: .seconds(seconds)))
    let lego = try fixture.client(CachePlan(memory: limits)).cache
    #expect(lego.entities(Color.self)?.memory?.limits == limits)
  }

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
    #expect(fixture.server.count == 1)
    #expect(again.cache.store.path == fixture.folder.path + "/store")
  }

  @Test func `memory only writes no file, and keeps stale entities for thirty days`() async throws {
    let lego = try fixture.client(.memoryOnly)
    #expect(try await look(lego) == [.loaded, .memory])
    #expect(try lego.cache.counts() == LegoCache.Counts(memory: 1, database: 0))
    #expect(try FileManager.default.contentsOfDirectory(atPath: fixture.folder.path) == [])
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
      let store = try fixture.client(CachePlan(diskLimit: limit), at: name).cache.store
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
}
