import ExampleTesting
import Foundation
import Larder
import Service
import Synchronization
import Testing

@testable import LegoCache

/// Figures, clearing, upkeep, and who sees what.
@Suite struct ManagerTests {
  private let clock = ManualClock()

  private func manager(_ plan: CachePlan = .default) throws -> LegoManager {
    LegoManager(try Store.temporary(clock: clock), plan: plan)
  }

  private func colors(_ count: Int) -> [Color] {
    (0..<count).map { Color(id: $0, name: "Colour \($0)", rgb: "000000") }
  }

  @Test func `counts are of memory and disk, and asking for them changes nothing`() throws {
    let manager = try manager()
    #expect(try manager.counts() == LegoCounts(memory: 0, database: 0))
    try manager.keep(colors(30))
    try manager.keep([Theme(id: 1, name: "Technic")])
    for id in 0..<20 { _ = try manager.cache?.cached(Color.self, key: "\(id)") }
    clock.advance(by: .days(60))
    for _ in 1...3 {
      let counts = try manager.counts()
      #expect(counts == LegoCounts(memory: 20, database: 31) && counts.total == 31)
    }
    #expect(try manager.clear() == 31)
    #expect(try manager.counts() == LegoCounts(memory: 0, database: 0))
    try manager.cache?.larder.finish()
  }

  @Test func `the expired are cleared when asked to, and it is said how many they were`() throws {
    var plan = CachePlan.default
    plan.disk[.sets] = EntityRule(.after(.seconds(1)), servesStaleOnError: false)
    let manager = try manager(plan)
    try manager.keep([ModelSet(setNum: "1-1", name: "A"), ModelSet(setNum: "2-1", name: "B")])
    try manager.keep(colors(1))
    clock.advance(by: .seconds(1))
    #expect(try manager.counts().database == 3)
    #expect(try manager.clearExpired() == 2)
    #expect(try manager.counts().database == 1)
    try manager.cache?.larder.finish()
  }

  @Test(arguments: [3600, 1800])
  func `upkeep runs at its interval, stops, starts again and runs once`(seconds: Int) async throws {
    var plan = CachePlan.default
    plan.disk[.sets] = EntityRule(.after(.seconds(1)), servesStaleOnError: false)
    let manager = try manager(plan)
    let (runs, run) = AsyncStream<Int>.makeStream()
    let upkeep = try #require(
      try manager.maintenance(every: .seconds(seconds), jitter: 0) { run.yield($0.removed.entries) }
    )
    #expect(upkeep.interval == .seconds(seconds) && !upkeep.isRunning)
    var next = runs.makeAsyncIterator()
    func keepOne() throws { try manager.keep([ModelSet(setNum: "1-1", name: "A")]) }

    upkeep.start()
    #expect(await next.next() == 0, "a store that nobody ever looked after is overdue")
    try keepOne()
    clock.advance(by: .seconds(seconds - 1))
    #expect(try manager.counts().database == 1)
    clock.advance(by: .seconds(1))
    #expect(await next.next() == 1)
    #expect(try manager.counts().database == 0)

    upkeep.stop()
    try keepOne()
    clock.advance(by: .seconds(2 * seconds))
    #expect(try !upkeep.isRunning && manager.counts().database == 1)
    upkeep.start()
    #expect(await next.next() == 1)

    try keepOne()
    clock.advance(by: .seconds(1))
    #expect(try upkeep.runOnce().removed.entries == 1)
    #expect(try upkeep.isRunning && manager.maintenance()?.interval == .hours(1))
    upkeep.stop()
    try manager.cache?.larder.finish()
  }

  @Test func `hosts and credentials are kept apart, and neither can be read from a name`()
    async throws
  {
    try await FakeRebrickable.run { fake in
      fake.put(Body.color(4), at: "/lego/colors/4/")
      fake.change { $0.lists["/lego/colors/"] = [Body.color(4)] }
      let store = try Store.temporary(clock: clock)
      let mine = LegoClient.over(store, of: fake)
      let yours = LegoClient.over(store, of: fake, credential: "another")
      for lego in [mine, yours] {
        for _ in 1...2 {
          _ = try await lego.color(4)
          _ = try await lego.page(.colors)
        }
      }
      #expect(fake.server.count == 4)
      try await FakeRebrickable.run { other in
        other.put(Body.color(4, "Rouge"), at: "/lego/colors/4/")
        let foreign = try await LegoClient.over(store, of: other).color(4)
        let own = try await mine.color(4)
        #expect(foreign?.value.name == "Rouge" && own?.value.name == "Red")
      }
      #expect(try mine.manager.clear() == 1)
      #expect(try yours.manager.counts().database == 1, "what is another's is left alone")
      let names = try store.namespaces().map(\.name)
      #expect(names.count { $0.hasPrefix("lego.colors.") } == 3)
      #expect(!names.contains { $0.contains("another") || $0.contains(FakeRebrickable.credential) })
      #expect(LegoClient.realm(base: LegoClient.publicBase, credential: nil) == .open)
      #expect(Realm.open.name("lego.colors") == "lego.colors")
      try store.finish()
    }
  }
}
