import TestSupport
import Testing

@testable import Larder

struct LimitTests: StoreSuite {
  let fixture = StoreFixture()

  @Test func `a namespace never holds more entries than it may`() throws {
    try store.declare(Rules(limits: Limits(entries: 20), eviction: .fifo), for: "notes")
    for index in 0..<50 {
      try notes.set("x", for: "\(index)")
      #expect(try notes.count() == min(index + 1, 20))
    }
    #expect(try notes.keysByPages(of: 50).map(\.description).sorted() == (30..<50).map { "\($0)" })
    #expect(try notes.removals[.evictedForEntries] == 30)
  }

  @Test func `a value larger than its namespace's limit is refused and costs nothing`() throws {
    try store.declare(Rules(limits: Limits(bytes: 100)), for: "notes")
    try notes.set("here", for: "a")
    let error = thrown { try notes.set([UInt8](repeating: 1, count: 101), for: "b") }
    #expect(error?.code == .overLimit)
    for words in ["101 bytes", "100 bytes"] { #expect(error?.message.contains(words) == true) }
    #expect(try notes.text("a") == "here")
  }

  @Test func `an overwrite that grows makes others leave and not itself`() throws {
    try store.declare(Rules(limits: Limits(bytes: 100)), for: "notes")
    for key in ["a", "b", "c", "d"] { try notes.set([UInt8](repeating: 1, count: 25), for: key) }
    try notes.set([UInt8](repeating: 2, count: 60), for: "a")
    #expect(try notes.bytes("a")?.count == 60 && notes.info()!.bytes <= 100)
    try notes.set([UInt8](repeating: 2, count: 100), for: "a")
    #expect(try notes.count() == 1 && notes.removals[.evictedForBytes] > 0)
  }

  @Test func `a pinned entry is never evicted, and an overwrite keeps the pin`() throws {
    try store.declare(Rules(limits: Limits(entries: 3), eviction: .fifo), for: "notes")
    try notes.set("x", for: "pinned")
    #expect(try notes.pin("pinned") && !notes.pin("absent"))
    try notes.set("y", for: "pinned")
    for index in 0..<20 { try notes.set("x", for: "\(index)") }
    #expect(try notes.text("pinned") == "y" && notes.entry(for: "pinned")!.isPinned)
    #expect(try notes.count() == 3 && notes.unpin("pinned"))
    for index in 20..<23 { try notes.set("x", for: "\(index)") }
    #expect(try !notes.contains("pinned"))
  }

  @Test func `a namespace full of pinned entries says so and loses nothing`() throws {
    try store.declare(Rules(limits: Limits(entries: 2)), for: "notes")
    try notes.fill(["a", "b"], .with(isPinned: true))
    let error = #expect(throws: LarderError.self) { try notes.set("x", for: "c") }
    #expect(error?.code == .full && error?.message.contains("2 entries are pinned") == true)
    #expect(try notes.count() == 2)
    try store.write { batch in
      #expect(failure { try batch.set("x", for: "c", in: notes) } == .full)
      try batch.set("z", for: "a", in: notes)
    }
    #expect(try notes.text("a") == "z")
  }

  @Test func `a limit below what is pinned holds what was reached and says so`() throws {
    for index in 0..<10 {
      try notes.set("x", for: "\(index)")
      if index < 5 { try notes.pin("\(index)") }
    }
    let rules = Rules(limits: Limits(entries: 1))
    #expect(failure { try store.write { try $0.declare(rules, for: notes) } } == .full)
    #expect(try notes.count() == 10)
    let refusal = #expect(throws: LarderError.self) { try store.declare(rules, for: "notes") }
    #expect(
      refusal?.message
        == "namespace notes holds 5 entries (5 bytes), and 5 are pinned: its limit of 1 entry cannot be reached"
    )
    #expect(failure { try store.declare(Rules(limits: Limits(entries: 3)), for: "notes") } == .full)
    #expect(try notes.count() == 5 && notes.info()!.rules.limits.entries == 5)
  }

  @Test(arguments: [Eviction.adaptive, .refuse])
  func `a lower limit finds expired entries behind 1000 extended ones`(policy: Eviction) throws {
    try notes.fill(0..<1000, .with(expires: .after(.seconds(10))))
    try store.write { batch in
      for key in 0..<1000 { try batch.touch(key, in: notes, expires: .after(.hours(1))) }
    }
    try notes.fill(1000..<1005, .with(expires: .after(.seconds(20))))
    clock.advance(by: .seconds(60))
    try store.declare(Rules(limits: Limits(entries: 1000), eviction: policy), for: "notes")
    #expect(try notes.info()?.entries == 1000 && notes.removals.evicted == 0)
  }

  @Test(arguments: [Eviction.adaptive, .fifo])
  func `the newest entry goes if the limit is not reached without it`(policy: Eviction) throws {
    try store.declare(Rules(eviction: policy), for: "notes")
    for key in ["a", "b", "c"] { try notes.set("x", for: key) }
    for key in ["a", "b"] { try notes.pin(key) }
    try store.override(Rules.Overrides(limits: Limits(entries: 2)), for: "notes")
    #expect(try notes.count() == 2 && !notes.contains("c"))
    for key in ["a", "b"] { try notes.unpin(key) }
    try store.override(Rules.Overrides(limits: Limits(bytes: 1)), for: "notes")
    #expect(try notes.count() == 1 && notes.contains("b"))
  }

  @Test func `lifted overrides evict in steps and leave what code declared`() throws {
    let declared = Rules(limits: Limits(entries: 3))
    try store.declare(declared, for: "notes")
    try store.override(Rules.Overrides(limits: Limits(entries: Limits.unlimited)), for: "notes")
    try notes.fill((0..<2500).map { "\($0)" })
    try store.override(Rules.Overrides(), for: "notes")
    let info = try #require(try notes.info())
    #expect(info.entries == 3 && info.declared == declared && info.overrides.isEmpty)

    try store.declare(StoreLimits(entries: 5))
    try store.override(Rules.Overrides(limits: Limits(entries: Limits.unlimited)), for: "notes")
    try store.override(.unlimited)
    try notes.fill((0..<2500).map { "\($0)" })
    for index in 0..<2 { try notes.pin("\(index)") }
    try store.override(StoreLimits())
    #expect(try notes.count() == 5 && store.limits().overrides == StoreLimits())
    #expect(try store.limits().declared == StoreLimits(entries: 5))

    // The new entries are pinned, so evictions cannot reach the declared limit 5. The number of entries becomes an override.
    try store.override(StoreLimits(entries: Limits.unlimited))
    try notes.fill((10..<20).map { "\($0)" }, .with(isPinned: true))
    #expect(failure { try store.override(StoreLimits()) } == .full)
    #expect(try store.limits().declared == StoreLimits(entries: 5))
    #expect(try store.limits().effective.entries == notes.count() && notes.info()?.entries == 12)
  }

  @Test func `a limit of none keeps nothing`() throws {
    try notes.set("x", for: "a")
    try store.declare(Rules(limits: Limits(entries: 0)), for: "notes")
    #expect(try notes.count() == 0)
    #expect(failure { try notes.set("x", for: "a") } == .full)
  }

  @Test func `the store's limits bind all namespaces and each gives way by what it holds`() throws {
    try store.declare(StoreLimits(entries: 1000))
    let names = ["a", "b", "c"]
    for name in names { try store.declare(Rules(eviction: .fifo), for: name) }
    for (name, share) in zip(names, [600, 300, 100]) {
      for index in 0..<share { try store.namespace(name).set("x", for: "\(index)") }
    }
    try store.declare(Rules(eviction: .fifo), for: "new")
    for index in 0..<500 { try store.namespace("new").set("x", for: "\(index)") }
    let held = try names.map { try store.namespace($0).count() }
    // The store keeps room for two entries of the write buffer, so the store may have only 998 entries.
    let entries = try store.statistics().entries
    #expect((998...1000).contains(entries))
    // Each namespace loses entries in proportion to its size, so the ratios 2:1 and 6:1 remain.
    #expect(abs(held[0] - 2 * held[1]) < 20 && abs(held[0] - 6 * held[2]) < 40, "\(held)")
  }

  @Test func `a namespace of empty values gives way by what it holds, too`() throws {
    try store.declare(StoreLimits(entries: 200))
    for name in ["empty", "full"] { try store.declare(Rules(eviction: .fifo), for: name) }
    let (empty, full) = (store.namespace("empty"), store.namespace("full"))
    try empty.fill(0..<100, with: [])
    try full.fill(0..<100, with: [1, 2, 3])
    try empty.fill(100..<150, with: [])
    #expect(try (65...85).contains(full.count()) && store.statistics().entries == 200)
  }

  @Test func `small namespaces lose only their share to a new process`() throws {
    try store.declare(StoreLimits(entries: 500))
    try notes.fill(0..<400)
    for name in 0..<100 { try store.namespace("\(name)").set("x", for: "k") }
    try notes.fill(400..<450)
    #expect(try store.namespaces().count { $0.entries == 1 } > 75)
  }

  @Test func `turns of a lower priority change no share of the others`() throws {
    try store.declare(StoreLimits(entries: 301))
    try store.declare(Rules(priority: .low), for: "low")
    try store.namespace("low").set([1], for: "k", .with(isPinned: true))
    let others = ["a", "b", "c"].map { store.namespace($0) }
    for other in others { try other.fill(0..<100) }
    try others[0].fill(100..<160)
    #expect(try others[1].count() > 70 && others[2].count() > 70)
    for index in 160..<220 {
      try store.namespace("low").set("x", for: index)
      try others[0].set("x", for: index)
    }
    #expect(try others[1].count() > 45 && others[2].count() > 45)
  }

  @Test func `a namespace without entries waits while others give way`() {
    let members = (1...2).map {
      KnownNamespace(NamespaceRecord(id: NamespaceID(rawValue: $0), created: 0), named: "")
    }
    var share = FairShare()
    for member in members { _ = share.charge(member, share: 0) }
    for paused in 0...1 {
      var share = share
      share.pause(members[paused])
      #expect(share.turns(of: members).map(\.index) == [paused, 1 - paused])
    }
  }

  @Test func `a lower priority gives way first`() throws {
    try store.declare(StoreLimits(entries: 100))
    try store.declare(Rules(priority: .high), for: "high")
    try store.declare(Rules(priority: .low), for: "low")
    for name in ["high", "low"] { try store.namespace(name).fill(0..<50) }
    for index in 0..<60 { try store.namespace("normal").set("x", for: "\(index)") }
    #expect(try store.namespace("low").count() == 0 && store.namespace("high").count() == 50)
    #expect(try store.namespace("normal").count() == 50)
  }
}

/// Makes the random changes of ``OwnerRun`` while another process changes entries and limits. After each change, counts the
/// entries and bytes in the store, and compares the counts with the counters and with every limit.
@Suite struct LimitModelTests {
  @Test func `after every commit nothing holds more than it may`() throws {
    let (seed, steps) = (Int(TestSettings.seed), 3_000 * TestSettings.trials)
    try withStoreOnDisk(unflushed()) { store, _ in
      let peer = try PeerProcess("limits", store.path, ["\(seed)", "\(steps)"], saying: "open")
      var run = OwnerRun(store: store, clock: nil, seed: seed, ranges: .large)
      run.run(steps)
      #expect(run.written > steps / 10)
      #expect(peer.line()?.hasPrefix("done") == true)
    }
  }
}

extension OwnerRun {
  struct Ranges {
    let keys: Range<Int>
    let batch: Range<Int>
    let size: Range<Int>
    let largeSize: Range<Int>
    /// The percentage of values whose size is in the range ``largeSize``.
    let largeValues: Int
    let entries: Range<Int>
    let bytes: Range<Int>
    let storeEntries: Range<Int>
    let storeBytes: Range<Int>
    let stepsPerVerification: Int

    static let small = Ranges(
      keys: 0..<14, batch: 1..<6, size: 0..<10, largeSize: 0..<80, largeValues: 20, entries: 1..<21,
      bytes: 20..<300, storeEntries: 3..<30, storeBytes: 100..<500, stepsPerVerification: 1)
    static let large = Ranges(
      keys: 0..<60, batch: 1..<15, size: 0..<200, largeSize: 0..<3000, largeValues: 10,
      entries: 1..<50, bytes: 100..<5000, storeEntries: 10..<120, storeBytes: 500..<10_000,
      stepsPerVerification: 10)
  }

  /// Counts the entries and bytes of each namespace in one snapshot, and compares the counts with the counters and the limits.
  func checkLimits(_ what: String) throws {
    let engine = store.engine
    let transaction = try engine.beginRead()
    let limits = try engine.metadata.settings(in: transaction).limits
    var total = (entries: 0, bytes: 0)
    for namespace in try engine.metadata.namespaces(in: transaction) {
      let (facts, counters) = (namespace.facts, namespace.counters)
      var found = (entries: 0, bytes: 0)
      try transaction.forEach(in: .entries, from: namespace.id.prefix) { _, value in
        found.entries += 1
        found.bytes += value.count - EntryHeader(value)!.payloadStart
      }
      guard found == (facts.entries, facts.bytes) else {
        throw Broken(description: "\(what): found \(found), counted \(facts)")
      }
      let usage = Usage(entries: counters.entries, bytes: counters.bytes)
      guard facts.rules.limits.exceeded(by: usage) == nil else {
        throw Broken(description: "\(what): \(facts)")
      }
      total.entries += found.entries
      total.bytes += found.bytes
    }
    guard total.entries <= limits.entries ?? .max, total.bytes <= limits.bytes ?? .max else {
      throw Broken(description: "\(what): \(total) in a store limited to \(limits)")
    }
  }
}
