import ExampleTesting

@testable import LegoCache

/// The presets of lifetimes, memory and plans, and their effect.
@Suite(.checkedStores) struct PresetTests {
  private let clock = ManualClock()

  /// The lifetimes in hours, in the order of `EntityKind.allCases`; nil for never.
  static let presets: [(Lifetimes, [Int?])] = [
    (.default, Array(repeating: 24, count: 7)),
    (.longTerm, [nil, 30 * 24, 30 * 24, 7 * 24, 24, 7 * 24, 7 * 24]),
    (.shortTerm, [24, 12, 12, 2, 1, 2, 1]),
  ]

  private func storeOneOfEach(_ lego: LegoCache) throws {
    let part = Part(partNum: "1", name: "Part", categoryID: 1)
    let color = Color(id: 1, name: "Colour", rgb: "000000")
    try lego.store(color)
    try lego.store(Theme(id: 1, name: "Theme"))
    try lego.store(PartCategory(id: 1, name: "Category"))
    try lego.store(part)
    try lego.store(ModelSet(setNum: "1", name: "Set"))
    try lego.store(Element(elementID: "1", part: part, color: color))
    try lego.store(PartColor(partNum: "1", colorID: 1))
  }

  /// Which kinds are found, in the order of `EntityKind.allCases`.
  private func found(_ lego: LegoCache) throws -> [Bool] {
    func isFound<Entity: LegoEntity>(_ type: Entity.Type) throws -> Bool {
      try lego.cached(type, key: Entity.kind == .partColors ? "1/1" : "1") != nil
    }
    return try EntityKind.allCases.map { try isFound($0.type) }
  }

  @Test(arguments: presets) func `each kind expires by its preset to the millisecond`(
    preset: Lifetimes, hours: [Int?]
  ) throws {
    let lego = try LegoCache.temporary(preset, clock: clock)
    #expect(try lego.larder.namespaces().isEmpty, "reading creates nothing")
    try storeOneOfEach(lego)
    let rules = Dictionary(
      uniqueKeysWithValues: try lego.larder.namespaces().map { ($0.name, $0.rules.expires) })
    for (kind, hours) in zip(EntityKind.allCases, hours) {
      #expect(rules[kind.namespace] == hours.map { .after(.hours($0)) } ?? .never, "\(kind)")
    }
    var passed = Duration.zero
    for end in Set(hours.compactMap { $0 }).sorted() {
      clock.advance(by: .hours(end) - passed - .milliseconds(1))
      #expect(try found(lego) == hours.map { $0.map { $0 >= end } ?? true })
      clock.advance(by: .milliseconds(1))
      #expect(try found(lego) == hours.map { $0.map { $0 > end } ?? true })
      passed = .hours(end)
    }
    clock.advance(by: .days(10_000))
    #expect(try found(lego) == hours.map { $0 == nil })
  }

  @Test func `a kind's own rule overrides the default, and an operator's overrides both`() throws {
    let moment = clock.now.advanced(by: .hours(1))
    let until = try LegoCache.temporary(Lifetimes(standard: EntityRule(.at(moment))), clock: clock)
    try until.store(Theme(id: 1, name: "Technic"))
    #expect(try until.entities(Theme.self)?.entry(for: "1")?.expires == moment)

    var lifetimes = Lifetimes.disabled
    #expect(lifetimes.isOff)
    lifetimes[.colors] = EntityRule(.after(.seconds(1)), servesStaleOnError: false)
    #expect(!lifetimes.isOff && lifetimes[.parts].expires == nil)
    let lego = try LegoCache.temporary(lifetimes, clock: clock)
    try storeOneOfEach(lego)
    #expect(try found(lego) == [true, false, false, false, false, false, false])
    try lego.larder.override(
      Rules.Overrides(expires: .after(.minutes(1))), for: EntityKind.colors.namespace)
    try storeOneOfEach(lego)
    clock.advance(by: .minutes(1) - .milliseconds(1))
    #expect(try found(lego)[0])
    clock.advance(by: .milliseconds(1))
    #expect(try !found(lego)[0])
    #expect(EntityKind.allCases.allSatisfy { Lifetimes.longTerm[$0].servesStaleOnError })
  }

  @Test(arguments: [
    (MemoryTier.default, 300, 100), (.aggressive, 1800, 500), (.conservative, 60, 50),
    (.development, 30, 50), (.production, 86_400, 1000), (.disabled, 0, 0),
  ]) func `each memory tier keeps its number of entities`(
    tier: MemoryTier, seconds: Int, entries: Int
  ) throws {
    #expect(tier == MemoryTier(lifetime: .seconds(seconds), entries: entries))
    let lego = try LegoCache.temporary(.longTerm, memory: tier, clock: clock)
    try lego.keep((0..<1200).map { Color(id: $0, name: "Colour", rgb: "000000") })
    for id in 0..<1200 { #expect(try lego.cached(Color.self, key: "\(id)") != nil) }
    #expect(try lego.counts().memory == entries)
  }
}
