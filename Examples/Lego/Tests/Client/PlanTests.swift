import ExampleTesting
import Foundation
import HTTPTypes
import Larder
import LarderURLSession
import Testing

@testable import LegoCache

/// The plans at work: what each keeps where.
@Suite struct PlanTests {
  private let folder: TemporaryFolder
  private var path: String { folder.url.path + "/store" }

  init() throws { folder = try TemporaryFolder() }

  private func client(
    _ plan: CachePlan, of fake: FakeRebrickable, clock: ManualClock = ManualClock()
  ) throws -> LegoClient {
    var options = Store.Options()
    options.clock = clock
    return try LegoClient(
      at: path, plan: plan, base: fake.base, credential: FakeRebrickable.credential,
      over: URLSessionTransport(), options: options)
  }

  /// Where the three looks at a colour were answered from, and what is kept after them.
  private func look(_ lego: LegoClient) async throws -> ([CacheResult<Color>.Source?], LegoCounts) {
    var sources: [CacheResult<Color>.Source?] = []
    for _ in 1...3 { sources.append(try await lego.color(4)?.source) }
    return (sources, try lego.manager.counts())
  }

  @Test(arguments: [CachePlan.default, .performance, .storage])
  func `memory is asked first, and the disk has it when the memory is gone`(plan: CachePlan)
    async throws
  {
    try await FakeRebrickable.run { fake in
      fake.put(Body.color(4), at: "/lego/colors/4/")
      let lego = try client(plan, of: fake)
      let (sources, counts) = try await look(lego)
      #expect(sources == [.loaded, .memory, .memory])
      #expect(counts == LegoCounts(memory: 1, database: 1) && counts.total == 1)
      lego.manager.cache?.clearMemory()
      #expect(try await look(lego).0 == [.disk, .memory, .memory])
      try lego.manager.cache?.larder.close()
      let again = try client(plan, of: fake)
      #expect(try await look(again).0 == [.disk, .memory, .memory], "after a restart")
      #expect(fake.server.count == 1)
      let memory = again.manager.cache?.entities(Color.self)?.memory?.limits
      #expect(memory == MemoryLimits(entries: plan.memory.entries, lifetime: plan.memory.lifetime))
      try again.manager.cache?.larder.finish()
    }
  }

  @Test func `on disk only`() async throws {
    try await FakeRebrickable.run { fake in
      fake.put(Body.color(4), at: "/lego/colors/4/")
      let lego = try client(.databaseOnly, of: fake)
      let (sources, counts) = try await look(lego)
      #expect(sources == [.loaded, .disk, .disk])
      #expect(counts == LegoCounts(memory: 0, database: 1))
      try lego.manager.cache?.larder.finish()
    }
  }

  @Test func `in memory only, which writes no file`() async throws {
    try await FakeRebrickable.run { fake in
      fake.put(Body.color(4), at: "/lego/colors/4/")
      fake.change { $0.lists["/lego/themes/"] = [Body.theme] }
      let clock = ManualClock()
      let lego = try client(.memoryOnly, of: fake, clock: clock)
      let (sources, counts) = try await look(lego)
      #expect(sources == [.loaded, .memory, .memory])
      #expect(counts == LegoCounts(memory: 1, database: 0) && counts.total == 1)
      for _ in 1...2 { #expect(try await lego.page(.themes).value.count == 1) }
      #expect(try await lego.theme(4)?.source == .memory)
      #expect(fake.server.count == 2)
      #expect(try FileManager.default.contentsOfDirectory(atPath: folder.url.path) == [])
      #expect(lego.manager.cache == nil)

      clock.advance(by: .seconds(300) - .milliseconds(1))
      #expect(try await lego.color(4)?.source == .memory)
      clock.advance(by: .milliseconds(1))
      #expect(try lego.manager.clearExpired() == 2)
      #expect(try await lego.color(4)?.source == .loaded)
      #expect(try lego.manager.clear() == 1)
      #expect(try lego.manager.counts().total == 0 && lego.manager.maintenance() == nil)
    }
  }

  @Test func `in memory the one that was used longest ago gives way`() async throws {
    try await FakeRebrickable.run { fake in
      for id in 0..<4 { fake.put(Body.color(id), at: "/lego/colors/\(id)/") }
      let tier = MemoryTier(lifetime: .seconds(60), entries: 3)
      let lego = try client(CachePlan(memory: tier, disk: .disabled), of: fake)
      for id in [0, 1, 2, 0, 3] { _ = try await lego.color(id) }
      #expect(try lego.manager.counts().memory == 3)
      #expect(try await lego.color(0, policy: .cacheOnly) != nil)
      #expect(try await lego.color(1, policy: .cacheOnly) == nil)
    }
  }

  @Test func `disabled asks each time and keeps nothing`() async throws {
    try await FakeRebrickable.run { fake in
      fake.put(Body.color(4), at: "/lego/colors/4/")
      fake.change { $0.lists["/lego/colors/"] = [Body.color(4)] }
      let lego = try client(.disabled, of: fake)
      let (sources, counts) = try await look(lego)
      #expect(sources == [.loaded, .loaded, .loaded])
      #expect(counts.total == 0)
      for _ in 1...2 { #expect(try await lego.page(.colors).value.count == 1) }
      #expect(fake.server.count == 5)
      #expect(try await lego.color(4, policy: .cacheOnly) == nil)
      #expect(try lego.manager.clear() == 0 && lego.manager.clearExpired() == 0)
      #expect(try FileManager.default.contentsOfDirectory(atPath: folder.url.path) == [])
    }
  }

  @Test func `a kind that is switched off is asked for each time, beside others that are not`()
    async throws
  {
    try await FakeRebrickable.run { fake in
      fake.put(Body.color(4), at: "/lego/colors/4/")
      fake.put(Body.theme, at: "/lego/themes/4/")
      var plan = CachePlan.default
      plan.disk[.themes] = .off
      plan.disk[.colors] = EntityRule(.after(.seconds(90)))
      let clock = ManualClock()
      let lego = try client(plan, of: fake, clock: clock)
      for _ in 1...3 {
        _ = try await lego.color(4)
        _ = try await lego.theme(4)
      }
      #expect(fake.asked.count { $0.hasPrefix("/lego/themes/") } == 3)
      clock.advance(by: .seconds(90))
      #expect(try await lego.color(4)?.source == .loaded, "its own rule beats that of the others")
      #expect(fake.asked.count { $0.hasPrefix("/lego/colors/") } == 2)
      try lego.manager.cache?.larder.finish()
    }
  }

  @Test func `ten megabytes are a limit that holds after every page`() async throws {
    try await FakeRebrickable.run { fake in
      let name = String(repeating: "x", count: 1500)
      fake.change {
        $0.lists["/lego/parts/"] = (0..<12_000).map { Body.part("p\($0)", "\(name) \($0)") }
      }
      let lego = try client(.default, of: fake)
      #expect(CachePlan.default.diskLimit == 10_000_000)
      var largest = 0
      _ = try await lego.refresh(.parts) { _, _ in largest = max(largest, try fileSize()) }
      let bytes = 12_000 * 1700
      #expect(largest > 5_000_000 && largest <= 10_000_000 && bytes > 2 * largest)
      let counts = try lego.manager.counts()
      #expect((1000..<12_000).contains(counts.database))
      #expect(try await lego.part("p11999", policy: .cacheElseLoad)?.source != .loaded)
      let statistics = try lego.manager.cache?.larder.statistics()
      #expect(statistics?.entries == counts.database)
      try lego.manager.cache?.larder.finish()
      #expect(try fileSize() <= 10_000_000)
    }
  }

  private func fileSize() throws -> Int {
    try FileManager.default.contentsOfDirectory(atPath: path).reduce(0) { sum, name in
      let facts = try FileManager.default.attributesOfItem(atPath: path + "/" + name)
      return name.hasPrefix("data") ? sum + (facts[.size] as? Int ?? 0) : sum
    }
  }
}
