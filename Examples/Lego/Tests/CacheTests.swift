import ExampleTesting
import Foundation
import Larder
import Testing

@testable import LegoCache

/// The promises of the source system's cache, and regressions of its faults.
@Suite(.checkedStores) struct CacheTests {
  private let clock = ManualClock()
  private let lego: LegoCache

  private let red = Color(id: 4, name: "Red", rgb: "C91A09", isTransparent: false)
  private let brick = Part(partNum: "3001", name: "Brick 2 x 4", categoryID: 11)

  init() throws { lego = try LegoCache.temporary(.default, clock: clock) }

  private func color(_ id: Int) -> Color { Color(id: id, name: "Colour \(id)", rgb: "000000") }

  @Test func `an entity is returned as it was stored, and a later one replaces it`() throws {
    let pair = PartColor(partNum: "3001", colorID: 4, colorName: "Red", elements: ["300121"])
    try lego.store(red)
    try lego.store(brick)
    try lego.store(pair)
    #expect(try lego.cached(Color.self, key: "4") == red)
    #expect(try lego.cached(Part.self, key: "3001") == brick)
    #expect(try lego.cached(PartColor.self, key: "3001/4") == pair)
    #expect(try lego.cached(PartColor.self, key: "3001") == nil)
    try lego.store(Color(id: 4, name: "Bright Red", rgb: "C91A09"))
    #expect(try lego.cached(Color.self, key: "4")?.name == "Bright Red" && lego.count() == 3)
  }

  @Test func `an entity expires to the millisecond: never, after, at`() throws {
    try lego.store(color(1), expires: .never)
    try lego.store(color(2), expires: .after(.milliseconds(950)))
    try lego.store(color(3), expires: .at(clock.now.advanced(by: .hours(2))))
    func found() throws -> [Bool] {
      try ["1", "2", "3"].map { try lego.cached(Color.self, key: $0) != nil }
    }
    clock.advance(by: .milliseconds(949))
    #expect(try found() == [true, true, true])
    clock.advance(by: .milliseconds(1))
    #expect(try found() == [true, false, true])
    clock.advance(by: .hours(2))
    #expect(try found() == [true, false, false])
    clock.advance(by: .days(10_000))
    #expect(try found() == [true, false, false])
  }

  @Test func `only clearExpired removes expired entities, and counts them`() throws {
    try lego.store(color(1))
    try lego.store(color(2), expires: .after(.milliseconds(100)))
    try lego.store(color(3), expires: .after(.milliseconds(100)))
    let other = lego.larder.namespace("other")
    try other.set("x", for: "1", expires: .after(.milliseconds(100)))
    clock.advance(by: .milliseconds(200))
    for _ in 0..<3 {
      #expect(try lego.larder.statistics().reads.hits == 0)
      _ = try lego.larder.verify()
      _ = try lego.entities(Color.self)?.entry(for: "2")
      #expect(try lego.count(of: .colors) == 3)
    }
    #expect(try lego.clearExpired() == 2)
    #expect(try lego.clearExpired() == 0)
    #expect(try lego.count() == 1 && other.count() == 1)
  }

  @Test func `reading an expired entity returns nil and reduces the count`() throws {
    try lego.store(red, expires: .after(.seconds(1)))
    clock.advance(by: .seconds(1))
    #expect(try lego.count() == 1)
    #expect(try lego.cached(Color.self, key: "4") == nil)
    #expect(try lego.count() == 0)
  }

  @Test func `equal keys of different kinds are different entries`() throws {
    let theme = Theme(id: 4, name: "Expert Builder", parentID: 1)
    try lego.store(red)
    try lego.store(theme)
    #expect(try lego.remove(Color.self, key: "4"))
    #expect(try lego.remove(Color.self, key: "4") == false)
    #expect(try lego.cached(Color.self, key: "4") == nil)
    #expect(try lego.cached(Theme.self, key: "4") == theme)
  }

  @Test func `keys are compared byte for byte, a zero byte and an accent included`() throws {
    let keys = ["a", "a\u{0}b", "a\u{0}c", "\u{E9}", "e\u{301}", "A", "003001", "3001", "3001 "]
    for key in keys {
      try lego.store(Part(partNum: key, name: "\(key.utf8.map { $0 })", categoryID: 1))
    }
    #expect(try lego.count(of: .parts) == keys.count)
    for key in keys {
      #expect(try lego.cached(Part.self, key: key)?.name == "\(key.utf8.map { $0 })")
    }
  }

  @Test func `the count goes from 0 to 2, and clearing brings it back to 0`() throws {
    #expect(try lego.count() == 0)
    try lego.store(red)
    try lego.store(brick)
    #expect(try lego.count() == 2 && lego.count(of: .colors) == 1)
    #expect(try lego.clear(.colors) == 1)
    #expect(try lego.cached(Color.self, key: "4") == nil)
    #expect(try lego.cached(Part.self, key: "3001") == brick)
    #expect(try lego.clear() == 1)
    #expect(try lego.count() == 0 && lego.cached(Part.self, key: "3001") == nil)
  }

  @Test func `a kind that is switched off is neither stored nor found`() throws {
    var lifetimes = Lifetimes.default
    lifetimes[.parts] = .off
    let without = LegoCache(lego.larder, plan: CachePlan(disk: lifetimes))
    try without.store(brick)
    try without.store([brick])
    try without.store(red)
    #expect(try without.count() == 1)
    try lego.store(brick)
    #expect(try without.cached(Part.self, key: "3001") == nil)
    #expect(try without.strictlyCached(Part.self, key: "3001") == nil)
    #expect(try without.cached(Color.self, key: "4") == red)
  }

  @Test func `three concurrent writers and readers lose nothing`() async throws {
    let lego = lego
    try await withThrowingTaskGroup(of: Void.self) { group in
      for task in 0..<3 {
        group.addTask {
          for number in 0..<50 {
            let color = Color(id: task * 1000 + number, name: "\(task) \(number)", rgb: "000000")
            try lego.store(color)
            #expect(try lego.cached(Color.self, key: color.key) == color)
          }
        }
      }
      try await group.waitForAll()
    }
    #expect(try lego.count() == 150)
  }

  @Test func `reading an expired entity never removes a newer one`() async throws {
    let lego = lego
    for round in 0..<200 {
      try lego.store(color(round), expires: .after(.milliseconds(1)))
      clock.advance(by: .milliseconds(1))
      let fresh = Color(id: round, name: "fresh", rgb: "FFFFFF")
      try await withThrowingTaskGroup(of: Void.self) { group in
        for _ in 0..<2 { group.addTask { _ = try lego.cached(Color.self, key: String(round)) } }
        group.addTask { try lego.store(fresh) }
        try await group.waitForAll()
      }
      // Counting executes the removals that the reads requested.
      #expect(try lego.count() == round + 1)
      #expect(try lego.cached(Color.self, key: String(round)) == fresh)
    }
  }

  // MARK: Errors

  /// Cannot be encoded.
  private struct Unwritable: LegoEntity {
    static let kind = EntityKind.colors
    var key: String { "4" }

    init() {}
    init(from decoder: any Decoder) throws {}

    func encode(to encoder: any Encoder) throws {
      throw EncodingError.invalidValue(self, .init(codingPath: [], debugDescription: "no form"))
    }
  }

  @Test func `cannot open, cannot encode, cannot decode: each has its code`() throws {
    let folder = try TemporaryFolder()
    let file = try folder.write("file", Array("not a store".utf8))
    let cannotOpen = #expect(throws: LarderError.self) { try LegoCache(at: file) }
    #expect(cannotOpen?.code == .cannotOpen || cannotOpen?.code == .foreign)
    var options = Store.Options()
    options.create = false
    let absent = #expect(throws: LarderError.self) {
      try LegoCache(at: folder.url.path + "/store", options: options)
    }
    #expect(absent?.code == .notFound)
    let cannotEncode = #expect(throws: LarderError.self) { try lego.store(Unwritable()) }
    #expect(cannotEncode?.code == .unencodable)
    try lego.larder.namespace("lego.colors").set("{", for: "4")
    for _ in 0..<3 { #expect(try lego.cached(Color.self, key: "4") == nil) }
    let cannotDecode = #expect(throws: LarderError.self) {
      try lego.strictlyCached(Color.self, key: "4")
    }
    #expect(cannotDecode?.code == .undecodable)
    try lego.store([red])
    #expect(try lego.strictlyCached(Color.self, key: "4") == red)
    try lego.larder.close()
    let closed = #expect(throws: LarderError.self) { try lego.count() }
    #expect(closed?.code == .closed, "not a count of 0")
  }

  @Test func `a page of entities is stored whole or not at all`() throws {
    try lego.larder.declare(Rules(largestValue: 200), for: EntityKind.parts.namespace)
    // The kind's own rules would remove the limit, so this cache has none.
    let cache = lego.larder.cache(of: Part.self, in: EntityKind.parts.namespace)
    let large = Part(partNum: "2", name: String(repeating: "x", count: 300), categoryID: 1)
    #expect(throws: LarderError.self) {
      try lego.larder.write { batch in
        for part in [brick, large] { try batch.set(part, for: part.key, in: cache) }
      }
    }
    #expect(try lego.count() == 0)
    try lego.store([brick, large])
    #expect(try lego.count() == 2)
  }

  /// The source system took 18 us at 100 entries and 675 us at 4,000.
  @Test func `the cost of a lookup does not depend on the number of entities`() throws {
    func cost(among count: Int) throws -> Duration {
      let lego = try LegoCache.temporary(.default, memory: .disabled, clock: clock)
      try lego.store((0..<count).map { Part(partNum: "\($0)", name: "Part \($0)", categoryID: 1) })
      var best = Duration.seconds(1)
      for _ in 0..<20 {
        let time = try ContinuousClock().measure {
          for key in 0..<50 { _ = try lego.cached(Part.self, key: "\(key * count / 50)") }
        }
        best = min(best, time)
      }
      return best
    }
    let (few, many) = (try cost(among: 100), try cost(among: 4000))
    #expect(many < few * 5, "\(few) among 100, \(many) among 4,000")
  }
}
