import TestSupport
import Testing

@testable import Larder

/// The limits and rules of the new store.
extension SalvageTests {
  @Test func `limits and rules newer than the entries do not stop it, and hold later`() throws {
    let old = try Store(at: path, options: options)
    let limits = StoreLimits(entries: 300, disk: 40_000_000)
    try old.declare(limits)
    try old.namespace("notes").fill(0..<200, with: [UInt8](repeating: 1, count: 30_000))
    let rules = Rules(
      jitter: 0.5, limits: Limits(entries: 200), eviction: .refuse, largestValue: 10)
    try old.declare(rules, for: "notes")
    // The disk of the new store has little free space, but the declared limits must not change.
    let options = with(options) { $0.hooks.freeDisk = { _ in 1_000_000 } }
    let salvage = try salvage(closing: old, options)
    #expect(salvage.isComplete && salvage.entries == 200)
    let new = try Store(at: target, options: options)
    #expect(try new.namespace("notes").count() == 200)
    #expect(try new.namespace("notes").info()?.declared == rules)
    #expect(try new.limits().effective == limits)
    #expect(try new.verify().faults == [])
  }

  @Test(arguments: [Eviction.adaptive, .refuse])
  func `a limit that an operator has raised evicts nothing`(eviction: Eviction) throws {
    let options = with(options) { $0.limits = StoreLimits(entries: 10) }
    let old = try Store(at: path, options: options)
    try old.override(StoreLimits(entries: 100))
    try old.declare(Rules(limits: Limits(entries: 10), eviction: eviction), for: "notes")
    try old.override(Rules.Overrides(limits: Limits(entries: 100)), for: "notes")
    try old.namespace("notes").fill(0..<50)
    #expect(try salvage(closing: old, options).entries == 50)
    #expect(try Store(at: target, options: options).namespace("notes").count() == 50)
  }

  @Test func `a limit that evicts too little is damage, and what stays is counted`() throws {
    let old = try Store(at: path, options: options)
    try old.namespace("notes").fill(0..<30)
    try old.namespace("notes").fill(30..<50, .with(isPinned: true))
    let salvage = try salvage(closing: old, with(options) { $0.limits = StoreLimits(entries: 10) })
    #expect(salvage.entries == 20 && salvage.bytes == 20 && salvage.damage.count == 1)
  }

  @Test(arguments: [0, 100])
  func `limits below the usage hold, or are damage`(guaranteed: Int) throws {
    let old = try Store(at: path, options: options)
    try old.declare(Rules(limits: Limits(guaranteed: guaranteed)), for: "notes")
    try old.namespace("notes").fill(0..<1500)
    let settings = with(StoreSettings()) { $0.declared.bytes = 10 }
    try old.plant(settings.record(seal: old.engine.seal), for: MetadataKey.settings)
    let salvage = try salvage(closing: old)
    let limit = try Store(at: target, options: options).limits().effective.bytes
    #expect(limit == (guaranteed == 0 ? 10 : nil) && salvage.bytes == limit ?? 1500)
    #expect(salvage.damage.filter { $0.hasSuffix("has no limits") }.count == guaranteed / 100)
  }

  @Test func `rules that this machine cannot keep cost only the rules`() throws {
    var record = NamespaceRecord(id: NamespaceID(rawValue: try makeStore(path)[0]), created: 0)
    record.rules.declared.expires = .daily(at: TimeOfDay(4), in: "Mars/Base")
    let old = try Store(at: path, options: options)
    let bytes = try record.record(name: "notes", seal: old.engine.seal)
    try old.plant(bytes, for: MetadataKey.namespace("notes"))
    let salvage = try salvage(closing: old)
    #expect(salvage.entries == 801 && salvage.damage.count == 1)
    #expect(try Store(at: target, options: options).namespace("notes").count() == 401)
  }
}
