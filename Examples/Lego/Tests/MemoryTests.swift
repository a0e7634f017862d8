import Larder
import LegoCache
import Synchronization
import Testing

/// The tier that is asked first.
@Suite struct MemoryTests {
  private let clock = ManualClock()

  private func lego(_ memory: MemoryTier = .default) throws -> LegoCache {
    var options = Store.Options()
    options.clock = clock
    return LegoCache(try Store.temporary(options: options), lifetimes: .default, memory: memory)
  }

  /// A colour that counts how often it is decoded.
  private struct CountedColor: LegoEntity {
    static let kind = EntityKind.colors
    static let decoded = Atomic(0)
    var id: Int
    var key: String { String(id) }

    init(id: Int) { self.id = id }

    private enum CodingKeys: String, CodingKey { case id }

    init(from decoder: any Decoder) throws {
      Self.decoded.add(1, ordering: .relaxed)
      id = try decoder.container(keyedBy: CodingKeys.self).decode(Int.self, forKey: .id)
    }
  }

  @Test func `a memory hit decodes nothing`() throws {
    let lego = try lego()
    for id in 0..<50 { try lego.store(CountedColor(id: id)) }
    func read() throws {
      for id in 0..<50 { #expect(try lego.cached(CountedColor.self, key: "\(id)")?.id == id) }
    }
    try read()
    #expect(CountedColor.decoded.load(ordering: .relaxed) == 0, "what was stored is still at hand")
    lego.clearMemory()
    for _ in 0..<4 { try read() }
    #expect(CountedColor.decoded.load(ordering: .relaxed) == 50)
    #expect(lego.entities(CountedColor.self)?.memory?.statistics.hits == 150)
    #expect(lego.memoryCount == 50)
    #expect(try lego.count() == 50)
  }

  @Test(arguments: [
    MemoryTier.default, .aggressive, .conservative, .development, .production, .disabled,
  ])
  func `each preset keeps as many entities as it says, for as long`(tier: MemoryTier) throws {
    let lego = try lego(tier)
    let count = 1200
    try lego.store((0..<count).map { Color(id: $0, name: "Colour", rgb: "000000") })
    for id in 0..<count { #expect(try lego.cached(Color.self, key: "\(id)") != nil) }
    #expect(lego.memoryCount == tier.entries)
    guard let memory = lego.entities(Color.self)?.memory else {
      #expect(tier == .disabled)
      return
    }
    #expect(memory.limits == MemoryLimits(entries: tier.entries, lifetime: tier.lifetime))
    let last = "\(count - 1)"
    func isHit() throws -> Bool {
      let before = memory.statistics.hits
      #expect(try lego.cached(Color.self, key: last) != nil)
      return memory.statistics.hits > before
    }
    clock.advance(by: tier.lifetime - .milliseconds(1))
    if tier == .production { return }  // A day is the lifetime on disk, too.
    #expect(try isHit())
    clock.advance(by: .milliseconds(1))
    #expect(try !isHit())
    #expect(try isHit())
  }

  @Test func `an expired entity is not given from memory`() throws {
    let lego = try lego(.production)
    try lego.store(Color(id: 4, name: "Red", rgb: "C91A09"), expires: .after(.seconds(1)))
    #expect(try lego.cached(Color.self, key: "4") != nil && lego.memoryCount == 1)
    clock.advance(by: .seconds(1))
    #expect(try lego.cached(Color.self, key: "4") == nil && lego.memoryCount == 0)
    #expect(try lego.count() == 0)
  }

  @Test func `removing and clearing reach into memory, and memory can be cleared alone`() throws {
    let lego = try lego()
    let colors = (0..<10).map { Color(id: $0, name: "Colour \($0)", rgb: "000000") }
    try lego.store(colors)
    func read() throws -> Int {
      try (0..<10).filter { try lego.cached(Color.self, key: "\($0)") != nil }.count
    }
    #expect(try read() == 10 && lego.memoryCount == 10)
    try lego.remove(Color.self, key: "3")
    #expect(try read() == 9 && lego.memoryCount == 9)
    lego.clearMemory()
    #expect(try lego.memoryCount == 0 && lego.count() == 9)
    #expect(try read() == 9 && lego.memoryCount == 9)
    #expect(try lego.clear() == 9)
    #expect(try read() == 0 && lego.memoryCount == 0)
  }

  @Test func `a changed entity is given as it is now, whoever changed it`() throws {
    let lego = try lego()
    let other = LegoCache(lego.larder, lifetimes: .default, memory: .disabled)
    for round in 0..<20 {
      let color = Color(id: 4, name: "Red \(round)", rgb: "C91A09")
      try (round % 2 == 0 ? other : lego).store(color)
      for _ in 0..<2 { #expect(try lego.cached(Color.self, key: "4") == color) }
    }
  }
}
