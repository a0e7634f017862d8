import ExampleTesting
import Foundation
import Larder
import LegoCache
import Testing

/// What a cache of a Lego client promises.
@Suite struct CacheTests {
  private let clock = ManualClock()
  private let lego: LegoCache

  private let red = Color(id: 4, name: "Red", rgb: "C91A09", isTransparent: false)
  private let brick = Part(partNum: "3001", name: "Brick 2 x 4", categoryID: 11)

  init() throws { lego = try LegoCache.temporary(.default, clock: clock) }

  private func color(_ id: Int) -> Color { Color(id: id, name: "Colour \(id)", rgb: "000000") }

  @Test func `an entity comes back as it was stored`() throws {
    let seventh = PartColor(partNum: "3001", colorID: 4, colorName: "Red", elements: ["300121"])
    try lego.store(red)
    try lego.store(brick)
    try lego.store(seventh)
    #expect(try lego.cached(Color.self, key: "4") == red)
    #expect(try lego.cached(Part.self, key: "3001") == brick)
    #expect(try lego.cached(PartColor.self, key: "3001/4") == seventh)
    #expect(try lego.cached(PartColor.self, key: "3001") == nil)
    #expect(try lego.cached(Part.self, key: "3002") == nil)
  }

  @Test func `a later entity takes the place of an earlier one`() throws {
    try lego.store(red)
    var other = red
    other.name = "Bright Red"
    try lego.store(other)
    #expect(try lego.cached(Color.self, key: "4") == other)
    #expect(try lego.count() == 1)
  }

  @Test func `an entity is gone at its time and not a millisecond before`() throws {
    try lego.store(red, expires: .after(.seconds(1)))
    try lego.store(brick, expires: .after(.milliseconds(950)))
    clock.advance(by: .milliseconds(949))
    #expect(try lego.cached(Part.self, key: "3001") == brick)
    clock.advance(by: .milliseconds(1))
    #expect(try lego.cached(Part.self, key: "3001") == nil)
    clock.advance(by: .milliseconds(49))
    #expect(try lego.cached(Color.self, key: "4") == red)
    clock.advance(by: .milliseconds(1))
    #expect(try lego.cached(Color.self, key: "4") == nil)
  }

  @Test func `never, after and at live side by side`() throws {
    try lego.store(color(1), expires: .never)
    try lego.store(color(2), expires: .after(.hours(1)))
    try lego.store(color(3), expires: .at(clock.now.advanced(by: .hours(2))))
    func found() throws -> [Bool] {
      try ["1", "2", "3"].map { try lego.cached(Color.self, key: $0) != nil }
    }
    #expect(try found() == [true, true, true])
    clock.advance(by: .hours(1))
    #expect(try found() == [true, false, true])
    clock.advance(by: .hours(1))
    #expect(try found() == [true, false, false])
    clock.advance(by: .days(10_000))
    #expect(try found() == [true, false, false])
  }

  @Test func `nothing reaps the expired before it is asked to, which says how many they were`()
    throws
  {
    try lego.store(color(1))
    try lego.store(color(2), expires: .after(.milliseconds(100)))
    try lego.store(color(3), expires: .after(.milliseconds(100)))
    #expect(try lego.count() == 3)
    clock.advance(by: .milliseconds(200))
    _ = try lego.larder.statistics()
    _ = try lego.larder.namespaces()
    _ = try lego.larder.verify()
    _ = try lego.entities(Color.self)?.entry(for: "2")
    _ = try lego.entities(Color.self)?.contains("2")
    try lego.store(brick)
    #expect(try lego.count(of: .colors) == 3)
    #expect(try lego.clearExpired() == 2)
    #expect(try lego.clearExpired() == 0)
    #expect(try lego.count(of: .colors) == 1)
    #expect(try lego.count() == 2)
  }

  @Test func `reading an expired entity gives nothing and takes it off the count`() throws {
    try lego.store(red, expires: .after(.seconds(1)))
    clock.advance(by: .seconds(1))
    #expect(try lego.count() == 1)
    #expect(try lego.cached(Color.self, key: "4") == nil)
    #expect(try lego.count() == 0)
  }

  @Test func `the expired of other namespaces are left alone`() throws {
    let other = lego.larder.namespace("other")
    try other.set("x", for: "1", expires: .after(.seconds(1)))
    try lego.store(red, expires: .after(.seconds(1)))
    clock.advance(by: .seconds(2))
    #expect(try lego.clearExpired() == 1)
    #expect(try lego.clear() == 0)
    #expect(try other.count() == 1)
  }

  @Test func `equal keys of different kinds do not meet`() throws {
    let theme = Theme(id: 4, name: "Expert Builder", parentID: 1)
    let category = PartCategory(id: 4, name: "Duplo, Quatro and Primo")
    try lego.store(red)
    try lego.store(theme)
    try lego.store(category)
    #expect(try lego.remove(Color.self, key: "4"))
    #expect(try lego.remove(Color.self, key: "4") == false)
    #expect(try lego.cached(Color.self, key: "4") == nil)
    #expect(try lego.cached(Theme.self, key: "4") == theme)
    #expect(try lego.cached(PartCategory.self, key: "4") == category)
  }

  @Test func `keys are told apart byte for byte, a zero byte and an accent included`() throws {
    let keys = ["a", "a\u{0}b", "a\u{0}c", "\u{E9}", "e\u{301}", "A", "003001", "3001", "3001 "]
    for key in keys {
      try lego.store(Part(partNum: key, name: "\(key.utf8.map { $0 })", categoryID: 1))
    }
    #expect(try lego.count(of: .parts) == keys.count)
    for key in keys {
      #expect(try lego.cached(Part.self, key: key)?.name == "\(key.utf8.map { $0 })")
    }
  }

  @Test func `none, then two, then cleared`() throws {
    #expect(try lego.count() == 0)
    try lego.store(red)
    try lego.store(brick)
    #expect(try lego.count() == 2)
    #expect(try lego.count(of: .colors) == 1)
    #expect(try lego.clear(.colors) == 1)
    #expect(try lego.cached(Color.self, key: "4") == nil)
    #expect(try lego.cached(Part.self, key: "3001") == brick)
    #expect(try lego.clear() == 1)
    #expect(try lego.count() == 0)
    #expect(try lego.cached(Part.self, key: "3001") == nil)
  }

  @Test func `figures change nothing they count`() throws {
    try lego.store((0..<10).map(color))
    clock.advance(by: .days(2))
    for _ in 0..<3 {
      let figures = try lego.larder.statistics()
      #expect(figures.entries == 10 && figures.reads.hits == 0)
      #expect(try lego.count() == 10)
    }
  }

  @Test func `a page of entities is stored whole or not at all`() throws {
    try lego.larder.declare(Rules(largestValue: 200), for: EntityKind.parts.namespace)
    // The kind's own rules would lift the bound, so the page goes through a cache without any.
    let cache = lego.larder.cache(of: Part.self, in: EntityKind.parts.namespace)
    let large = Part(
      partNum: "2", name: String(repeating: "x", count: 300), categoryID: 1)
    let error = #expect(throws: LarderError.self) {
      try lego.larder.write { batch in
        for part in [brick, large] { try batch.set(part, for: part.key, in: cache) }
      }
    }
    #expect(error?.code == .overLimit)
    #expect(try lego.count() == 0)
    try lego.store([brick, large])
    #expect(try lego.count() == 2)
  }

  @Test func `what no longer decodes is a miss until it is stored again`() throws {
    try lego.store(brick)
    try lego.larder.namespace(EntityKind.parts.namespace).set("{\"part_num\":", for: "3001")
    for _ in 0..<3 { #expect(try lego.cached(Part.self, key: "3001") == nil) }
    let error = #expect(throws: LarderError.self) {
      try lego.strictlyCached(Part.self, key: "3001")
    }
    #expect(error?.code == .undecodable)
    try lego.store(brick)
    #expect(try lego.cached(Part.self, key: "3001") == brick)
    #expect(try lego.strictlyCached(Part.self, key: "3001") == brick)
  }

  @Test func `a store that cannot be opened is an error that says so`() throws {
    let folder = try TemporaryFolder()
    let file = try folder.write("file", Array("not a store".utf8))
    #expect(throws: LarderError.self) { try LegoCache(at: file) }
    #expect(throws: LarderError.self) { try LegoCache(at: folder.url.path + "/absent/store") }
    var options = Store.Options()
    options.create = false
    let error = #expect(throws: LarderError.self) {
      try LegoCache(at: folder.url.path + "/store", options: options)
    }
    #expect(error?.code == .notFound)
  }

  @Test func `a store goes where it is told and is there again`() throws {
    let folder = try TemporaryFolder()
    let path = folder.url.path + "/my lego"
    let first = try LegoCache(at: path)
    try first.store(red)
    try first.larder.close()
    let second = try LegoCache(at: path)
    #expect(try second.cached(Color.self, key: "4") == red)
    try second.larder.close()
  }

  @Test func `a kind that is switched off is neither stored nor found`() throws {
    var lifetimes = Lifetimes.default
    lifetimes[.parts] = .off
    let without = LegoCache(lego.larder, lifetimes: lifetimes)
    try without.store(brick)
    try without.store([brick])
    try without.store(red)
    #expect(try without.count() == 1)
    try lego.store(brick)
    #expect(try lego.cached(Part.self, key: "3001") == brick)
    #expect(try without.cached(Part.self, key: "3001") == nil)
    #expect(try without.strictlyCached(Part.self, key: "3001") == nil)
    #expect(try without.cached(Color.self, key: "4") == red)
  }

  @Test func `three writers and readers at once lose nothing`() async throws {
    let lego = lego
    try await withThrowingTaskGroup(of: Void.self) { group in
      for task in 0..<3 {
        group.addTask {
          for number in 0..<50 {
            let id = task * 1000 + number
            let color = Color(id: id, name: "\(task) \(number)", rgb: "000000")
            try lego.store(color)
            #expect(try lego.cached(Color.self, key: String(id)) == color)
          }
        }
      }
      try await group.waitForAll()
    }
    #expect(try lego.count() == 150)
    for task in 0..<3 {
      for number in 0..<50 {
        #expect(
          try lego.cached(Color.self, key: String(task * 1000 + number))?.name
            == "\(task) \(number)")
      }
    }
  }

  @Test func `reading an expired entity never removes the fresh one written meanwhile`()
    async throws
  {
    let lego = lego
    for round in 0..<200 {
      try lego.store(color(round), expires: .after(.milliseconds(1)))
      clock.advance(by: .milliseconds(1))
      let fresh = Color(id: round, name: "fresh", rgb: "FFFFFF")
      try await withThrowingTaskGroup(of: Void.self) { group in
        for _ in 0..<2 {
          group.addTask { _ = try lego.cached(Color.self, key: String(round)) }
        }
        group.addTask { try lego.store(fresh) }
        try await group.waitForAll()
      }
      // Counting carries out what the reads asked for.
      #expect(try lego.count() == round + 1)
      #expect(try lego.cached(Color.self, key: String(round)) == fresh)
    }
  }
}
