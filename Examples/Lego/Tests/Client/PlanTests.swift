import ExampleTesting

@testable import LegoCache

/// The plans at work: what each stores, where, and for how long.
@Suite(.fixture(FakeRebrickable.self)) struct PlanTests {
  private let fake = FakeRebrickable.current
  private let clock = ManualClock()
  private let folder: TemporaryFolder
  private var path: String { folder.url.path + "/store" }

  init() throws {
    folder = try TemporaryFolder()
    fake.put(Body.color(4), at: "/lego/colors/4/")
    let theme = try Body.recorded("theme-4")
    fake.put(theme, at: "/lego/themes/4/")
    fake.change { $0.lists["/lego/themes/"] = [theme] }
  }

  private func client(_ plan: CachePlan) throws -> LegoClient {
    var options = Store.Options()
    options.clock = clock
    return try LegoClient(
      at: path, plan: plan, base: fake.base, credential: FakeRebrickable.credential,
      over: URLSessionTransport(), options: options)
  }

  /// The sources of three looks at a colour.
  private func look(_ lego: LegoClient) async throws -> [CacheResult<Color>.Source?] {
    var sources: [CacheResult<Color>.Source?] = []
    for _ in 1...3 { sources.append(try await lego.color(4)?.source) }
    return sources
  }

  @Test(arguments: [CachePlan.default, .performance, .storage, .databaseOnly])
  func `memory is read first, then the disk`(plan: CachePlan) async throws {
    let memory = plan.memory.isOff ? CacheResult<Color>.Source.disk : .memory
    let lego = try client(plan)
    #expect(try await look(lego) == [.loaded, memory, memory])
    let decoded = plan.memory.isOff ? 0 : 1
    #expect(try lego.cache?.counts() == LegoCounts(memory: decoded, database: 1))
    lego.cache?.namespace(of: .colors).store.trimMemory(toFraction: 0)
    #expect(try await look(lego) == [.disk, memory, memory])
    try lego.cache?.larder.close()
    let again = try client(plan)
    #expect(try await look(again) == [.disk, memory, memory], "after a restart")
    #expect(fake.server.count == 1)
    #expect(
      again.cache?.entities(Color.self)?.memory?.limits == (decoded == 0 ? nil : plan.memory.limits)
    )
    try again.cache?.larder.finish()
  }

  @Test func `in memory only, which writes no file`() async throws {
    let lego = try client(.memoryOnly)
    #expect(try await look(lego) == [.loaded, .memory, .memory])
    #expect(try lego.cache?.counts() == LegoCounts(memory: 1, database: 0))
    for _ in 1...2 { #expect(try await lego.page(.themes).value.count == 1) }
    #expect(
      try await lego.entity(Theme.self, "4")?.value.name == "Expert Builder"
        && fake.server.count == 2)
    #expect(try FileManager.default.contentsOfDirectory(atPath: folder.url.path) == [])
    clock.advance(by: .seconds(300) - .milliseconds(1))
    #expect(try await lego.color(4)?.source == .memory)
    clock.advance(by: .milliseconds(1))
    #expect(try await lego.color(4)?.source == .loaded)
    #expect(try lego.cache?.clear() == 2 && lego.cache?.counts().total == 0)
    let tier = MemoryTier(lifetime: .seconds(60), entries: 3)
    let small = try client(CachePlan(memory: tier, disk: .disabled))
    for id in 0..<6 {
      fake.put(Body.color(id), at: "/lego/colors/\(id)/")
      _ = try await small.color(id)
    }
    #expect(try small.cache?.counts() == LegoCounts(memory: 3, database: 0))
    let path = try #require(lego.cache?.larder.path)
    try lego.cache?.larder.finish()
    #expect(!FileManager.default.fileExists(atPath: path) || path.hasPrefix("/dev/shm"))
  }

  @Test(arguments: [(MemoryTier.default, 300), (.conservative, 60), (.production, 600)])
  func `absence is stored for ten minutes at most`(tier: MemoryTier, seconds: Int) async throws {
    let lego = try client(CachePlan(memory: tier, disk: .disabled))
    for _ in 1...3 { #expect(try await lego.color(777) == nil) }
    #expect(fake.server.count == 1)
    fake.put(Body.color(777, "New"), at: "/lego/colors/777/")
    clock.advance(by: .seconds(seconds) - .milliseconds(1))
    #expect(try await lego.color(777) == nil && fake.server.count == 1)
    clock.advance(by: .milliseconds(1))
    #expect(try await lego.color(777)?.value.name == "New")
    fake.change { $0.things = [:] }
    #expect(try await lego.color(777, .reload) == nil)
    #expect(try await lego.color(777) == nil && fake.server.count == 3)
  }

  @Test func `in memory an expired entity is stale for thirty days`() async throws {
    let lego = try client(.memoryOnly)
    _ = try await lego.color(4)
    _ = try await lego.page(.themes)
    clock.advance(by: .seconds(300) + .days(30) - .milliseconds(1))
    fake.refuse(503, "", times: 2)
    #expect(try await lego.color(4)?.source == .stale)
    #expect(try await lego.page(.themes).source == .stale)
    for policy in [RequestPolicy.cacheOnly, .cacheElseLoad] {
      #expect(try await lego.color(4, policy)?.source == .stale)
      #expect(try await lego.page(.themes, policy: policy).source == .stale)
    }
    clock.advance(by: .milliseconds(1))
    for policy in [RequestPolicy.standard, .cacheOnly] {
      fake.refuse(503, "")
      await #expect(throws: (any Error).self) { try await lego.color(4, policy) }
    }
  }

  @Test func `disabled requests each time and stores nothing`() async throws {
    let lego = try client(.disabled)
    #expect(try await look(lego) == [.loaded, .loaded, .loaded])
    for _ in 1...2 { #expect(try await lego.page(.themes).value.count == 1) }
    #expect(fake.server.count == 5 && lego.cache == nil)
    #expect(try await lego.color(4, .cacheOnly) == nil)
    #expect(try FileManager.default.contentsOfDirectory(atPath: folder.url.path) == [])
  }

  @Test func `a kind that is switched off is requested each time`() async throws {
    var plan = CachePlan.default
    plan.disk[.themes] = .off
    plan.disk[.colors] = EntityRule(.after(.seconds(90)))
    let lego = try client(plan)
    for _ in 1...3 {
      _ = try await lego.color(4)
      _ = try await lego.entity(Theme.self, "4")
    }
    _ = try await lego.page(.themes)
    #expect(fake.asked.count { $0.hasPrefix("/lego/themes/") } == 4)
    #expect(try lego.cache?.count(of: .themes) == 0)
    clock.advance(by: .seconds(90))
    #expect(try await lego.color(4)?.source == .loaded, "its own rule overrides the default")
    #expect(fake.asked.count { $0.hasPrefix("/lego/colors/") } == 2)
    try lego.cache?.larder.finish()
  }

  @Test func `ten megabytes are a limit that holds after every page`() async throws {
    let name = String(repeating: "x", count: 1500)
    fake.change {
      $0.lists["/lego/parts/"] = (0..<12_000).map { Body.part("p\($0)", "\(name) \($0)") }
    }
    fake.change { $0.lists["/lego/colors/"] = Body.colors(0..<50) }
    let lego = try client(.default)
    _ = try await lego.refresh(.colors)
    let sizes = Lines<Int>()
    _ = try await lego.refresh(.parts) { [path] _, _ in sizes.add(try fileSize(path)) }
    let (largest, bytes) = (sizes.all.max() ?? 0, 12_000 * 1700)
    #expect(largest > 5_000_000 && largest <= 10_000_000 && bytes > 2 * largest)
    let count = try #require(try lego.cache?.counts().database)
    #expect((1000..<12_000).contains(count))
    #expect(try await lego.part("p11999", .cacheElseLoad)?.source != .loaded)
    let entries = try #require(try lego.cache?.larder.statistics().entries)
    #expect([count + 1, count + 2].contains(entries), "and the reports, of which one may be gone")
    #expect(try lego.cache?.count(of: .colors) == 50, "small kinds are evicted last")
    try lego.cache?.larder.finish()
    #expect(try fileSize(path) <= 10_000_000)
  }

  @Test func `a new store has a limit of ten megabytes, an existing one keeps its own`() throws {
    func limit(_ name: String, _ diskLimit: Int? = nil, _ memory: Int? = nil) throws -> Int? {
      var options = Store.Options()
      options.limits = memory.map { StoreLimits(memory: $0) }
      let lego = try LegoCache(
        at: folder.url.path + "/" + name, plan: CachePlan(diskLimit: diskLimit), options: options)
      let limit = try lego?.larder.limits().declared.disk
      try lego?.larder.close()
      return limit
    }
    #expect(try limit("new") == 10_000_000)
    #expect(try limit("new", 20_000_000) == 20_000_000)
    #expect(try limit("new") == 20_000_000)
    #expect(try limit("free", nil, 5_000_000) == nil, "its limits were declared")
    let store = try Store(at: folder.url.path + "/used")
    try LegoCache(store).store(Theme(id: 1, name: "Technic"))
    try store.close()
    #expect(try limit("used") == nil)
  }
}
