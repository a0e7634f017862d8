import ExampleTesting
import Foundation
import Larder
import LegoCache
import Testing

/// The presets at work: each kind for as long as its rule says, for every handle of the store.
@Suite struct LifetimeTests {
  struct Case: Sendable, CustomTestStringConvertible {
    let testDescription: String
    let lifetimes: Lifetimes
    /// In the order of `EntityKind.allCases`; nil for ever.
    let hours: [Int?]
  }

  static let cases = [
    Case(
      testDescription: "default", lifetimes: .default, hours: Array(repeating: 24, count: 7)),
    Case(
      testDescription: "long-term", lifetimes: .longTerm,
      hours: [nil, 30 * 24, 30 * 24, 7 * 24, 24, 7 * 24, 7 * 24]),
    Case(
      testDescription: "short-term", lifetimes: .shortTerm, hours: [24, 12, 12, 2, 1, 2, 1]),
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

  /// Which kinds are still found, in the order of `EntityKind.allCases`.
  private func found(_ lego: LegoCache) throws -> [Bool] {
    [
      try lego.cached(Color.self, key: "1") != nil, try lego.cached(Theme.self, key: "1") != nil,
      try lego.cached(PartCategory.self, key: "1") != nil,
      try lego.cached(Part.self, key: "1") != nil, try lego.cached(ModelSet.self, key: "1") != nil,
      try lego.cached(Element.self, key: "1") != nil,
      try lego.cached(PartColor.self, key: "1/1") != nil,
    ]
  }

  @Test(arguments: cases)
  func `each kind stays as long as its preset says, to the millisecond`(preset: Case) throws {
    let clock = ManualClock()
    let lego = try LegoCache.temporary(preset.lifetimes, clock: clock)
    try storeOneOfEach(lego)
    #expect(try found(lego) == Array(repeating: true, count: 7))
    var passed = Duration.zero
    for end in Set(preset.hours.compactMap { $0 }).sorted() {
      clock.advance(by: .hours(end) - passed - .milliseconds(1))
      #expect(try found(lego) == preset.hours.map { $0.map { $0 >= end } ?? true })
      clock.advance(by: .milliseconds(1))
      #expect(try found(lego) == preset.hours.map { $0.map { $0 > end } ?? true })
      passed = .hours(end)
    }
    clock.advance(by: .days(10_000))
    #expect(try found(lego) == preset.hours.map { $0 == nil })
  }

  @Test(arguments: cases)
  func `the rules are in the store, where another handle sees and obeys them`(preset: Case) throws {
    let folder = try TemporaryFolder()
    let clock = ManualClock()
    var options = Store.Options()
    options.clock = clock
    let lego = try LegoCache(
      at: folder.url.path + "/store", lifetimes: preset.lifetimes, options: options)
    #expect(try lego.larder.namespaces().isEmpty, "nothing is made by looking")
    try storeOneOfEach(lego)

    let other = try Store(at: folder.url.path + "/store", options: options)
    let rules = Dictionary(uniqueKeysWithValues: try other.namespaces().map { ($0.name, $0.rules) })
    #expect(Set(rules.keys) == Set(EntityKind.allCases.map(\.namespace)))
    for (kind, hours) in zip(EntityKind.allCases, preset.hours) {
      let expires = hours.map { Expiration.after(.hours($0)) } ?? .never
      #expect(rules[kind.namespace]?.expires == expires, "\(kind)")
      let namespace = other.namespace(kind.namespace)
      try namespace.set("{}", for: "by another")
      #expect(
        try namespace.entry(for: "by another")?.expires
          == hours.map { clock.now.advanced(by: .hours($0)) })
    }
    try other.close()
  }

  @Test func `disabled stores nothing and makes nothing`() throws {
    let lego = try LegoCache.temporary(.disabled, clock: ManualClock())
    try storeOneOfEach(lego)
    #expect(try found(lego) == Array(repeating: false, count: 7))
    #expect(try lego.larder.namespaces().isEmpty)
  }

  @Test func `an operator's lifetime beats the preset`() throws {
    let clock = ManualClock()
    let lego = try LegoCache.temporary(.longTerm, clock: clock)
    try storeOneOfEach(lego)
    try lego.larder.override(
      Rules.Overrides(expires: .after(.minutes(1))), for: EntityKind.colors.namespace)
    try storeOneOfEach(lego)
    clock.advance(by: .minutes(1))
    #expect(try found(lego) == [false, true, true, true, true, true, true])
  }
}

extension LegoCache {
  /// A cache that is gone when the test is.
  static func temporary(_ lifetimes: Lifetimes, clock: ManualClock) throws -> LegoCache {
    var options = Store.Options()
    options.clock = clock
    return LegoCache(try Store.temporary(options: options), lifetimes: lifetimes)
  }
}
