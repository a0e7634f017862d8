import ExampleTesting
import Foundation
import Larder
import Service
import Testing

@testable import LegoCache

/// Figures, clearing, maintenance, and realms.
@Suite(.checkedStores) struct MaintenanceTests {
  private let clock = ManualClock()

  /// A plan whose sets expire after a second.
  private static let brief: CachePlan = {
    var plan = CachePlan.default
    plan.disk[.sets] = EntityRule(.after(.seconds(1)), servesStaleOnError: false)
    return plan
  }()

  @Test func `counting changes nothing, and clearing returns numbers`() throws {
    let lego = LegoCache(try Store.tested(clock: clock), plan: Self.brief)
    #expect(try lego.counts() == LegoCounts(memory: 0, database: 0))
    try lego.keep((0..<30).map { Color(id: $0, name: "Colour \($0)", rgb: "000000") })
    try lego.keep([ModelSet(setNum: "1-1", name: "A"), ModelSet(setNum: "2-1", name: "B")])
    for id in 0..<20 { _ = try lego.cached(Color.self, key: "\(id)") }
    clock.advance(by: .days(60))
    for _ in 1...3 {
      let counts = try lego.counts()
      #expect(counts == LegoCounts(memory: 20, database: 32) && counts.total == 32)
    }
    #expect(try lego.clearExpired() == 2 && lego.counts().database == 30)
    #expect(try lego.clear(.sets) == 0 && lego.clear(.colors) == 30 && lego.clear() == 0)
    #expect(try lego.counts() == LegoCounts(memory: 0, database: 0))
  }

  @Test(arguments: [3600, 1800]) func `upkeep removes what has expired`(seconds: Int) throws {
    let lego = LegoCache(try Store.tested(clock: clock), plan: Self.brief)
    let upkeep = try lego.maintenance(every: .seconds(seconds))
    #expect(try upkeep.interval == .seconds(seconds) && lego.maintenance().interval == .hours(1))
    try lego.keep([ModelSet(setNum: "1-1", name: "A")])
    clock.advance(by: .seconds(1))
    #expect(try upkeep.runOnce().removed.entries == 1 && lego.count() == 0)
  }

  @Test(.fixture(FakeRebrickable.self))
  func `hosts and credentials have namespaces of their own`() async throws {
    let fake = FakeRebrickable.current
    fake.put(Body.color(4), at: "/lego/colors/4/")
    fake.change { $0.lists["/lego/colors/"] = [Body.color(4)] }
    let store = try Store.tested(clock: clock)
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
    #expect(try mine.cache?.clear() == 1)
    #expect(try yours.cache?.count() == 1, "the data of others stays")
    let names = try store.namespaces().map(\.name)
    #expect(names.count { $0.hasPrefix("lego.colors.") } == 3)
    #expect(!names.contains { $0.contains("another") || $0.contains(FakeRebrickable.credential) })
    #expect(LegoClient.realm(base: LegoClient.publicBase, credential: nil) == .open)
  }
}
