import LegoCache
import Testing

@Suite struct PresetTests {
  private func seconds(_ lifetimes: Lifetimes) -> [Int?] {
    EntityKind.allCases.map { kind in
      guard case .after(let duration) = lifetimes[kind].lifetime else { return nil }
      return Int(duration.components.seconds)
    }
  }

  @Test func `lifetimes by default are a day`() {
    #expect(seconds(.default) == Array(repeating: 86_400, count: 7))
  }

  @Test func `long-term lifetimes`() {
    let (day, week, month) = (86_400, 604_800, 2_592_000)
    #expect(seconds(.longTerm) == [nil, month, month, week, day, week, week])
    #expect(Lifetimes.longTerm[.colors].lifetime == .never)
  }

  @Test func `short-term lifetimes`() {
    #expect(seconds(.shortTerm) == [86_400, 43_200, 43_200, 7200, 3600, 7200, 3600])
  }

  @Test func `disabled switches every kind off`() {
    #expect(Lifetimes.disabled.isOff)
    #expect(EntityKind.allCases.allSatisfy { Lifetimes.disabled[$0].lifetime == .off })
    #expect(!Lifetimes.shortTerm.isOff)
  }

  @Test func `a kind's own rule beats the standard one and the others keep it`() {
    var lifetimes = Lifetimes.default
    lifetimes[.sets] = EntityRule(.after(.milliseconds(950)), servesStaleOnError: false)
    lifetimes[.parts] = .off
    #expect(lifetimes[.sets].lifetime == .after(.milliseconds(950)))
    #expect(!lifetimes[.sets].servesStaleOnError)
    #expect(lifetimes[.parts].lifetime == .off)
    #expect(lifetimes[.themes] == Lifetimes.default.standard)
    #expect(!lifetimes.isOff)
  }

  @Test func `one kind can be on while all others are off`() {
    var lifetimes = Lifetimes.disabled
    lifetimes[.colors] = EntityRule(.never)
    #expect(!lifetimes.isOff && lifetimes[.colors].lifetime == .never)
    #expect(lifetimes[.parts].lifetime == .off)
  }

  @Test func `a stale entity helps when the network fails unless told otherwise`() {
    #expect(EntityKind.allCases.allSatisfy { Lifetimes.longTerm[$0].servesStaleOnError })
    #expect(!EntityRule.off.servesStaleOnError)
  }

  @Test(arguments: [
    (MemoryTier.default, 300, 100), (.aggressive, 1800, 500), (.conservative, 60, 50),
    (.development, 30, 50), (.production, 86_400, 1000), (.disabled, 0, 0),
  ])
  func `memory tiers`(tier: MemoryTier, seconds: Int, entries: Int) {
    #expect(tier == MemoryTier(lifetime: .seconds(seconds), entries: entries))
    #expect(tier.isOff == (entries == 0))
  }

  @Test(arguments: [
    (CachePlan.default, MemoryTier.default, Lifetimes.longTerm),
    (.performance, .aggressive, .longTerm), (.storage, .conservative, .longTerm),
    (.memoryOnly, .default, .disabled), (.databaseOnly, .disabled, .longTerm),
    (.disabled, .disabled, .disabled),
  ])
  func `plans combine memory and disk`(plan: CachePlan, memory: MemoryTier, disk: Lifetimes) {
    #expect(plan.memory == memory && plan.disk == disk)
    #expect(plan.usesDisk == (disk != .disabled) && plan.usesMemory == (memory != .disabled))
    #expect(plan.diskLimit == 10_000_000)
  }
}
