import LMDB
import TestSupport
import Testing

@testable import Larder

@Suite struct StatisticsTests: StoreSuite {
  private let directory = TemporaryDirectory()
  private var path: String { directory.path }
  let fixture = StoreFixture { $0.hooks.chunksAbove = 2000 }

  @Test func `usage stands beside its limit, for namespaces and the store`() throws {
    try store.declare(Rules(limits: Limits(entries: 8, bytes: .kilobytes(1))), for: "limited")
    try store.declare(StoreLimits(entries: 100, bytes: .megabytes(1), disk: .megabytes(16)))
    for key in 0..<2 {
      try store.namespace("limited").set([UInt8](repeating: 1, count: 250), for: key)
      try store.namespace("free").set("v", for: key)
    }
    var figures = try store.statistics()
    #expect(figures.usage.entries == Statistics.Tier(used: 4, limit: 100))
    #expect(figures.usage.bytes == Statistics.Tier(used: 502, limit: 1_000_000))
    #expect(figures.usage.disk == Statistics.Tier(used: figures.file.size, limit: 16_000_000))
    let (free, limited) = (figures.namespaces[0].usage, figures.namespaces[1].usage)
    #expect(limited.entries.utilization == 0.25 && limited.bytes.utilization == 0.5)
    #expect(free.entries == Statistics.Tier(used: 2, limit: nil) && free.bytes.utilization == nil)
    try store.override(StoreLimits(entries: Limits.unlimited, bytes: 1000))
    try store.override(Rules.Overrides(limits: Limits(bytes: 2000)), for: "limited")
    figures = try store.statistics()
    #expect(figures.usage.entries.limit == nil && figures.usage.bytes.limit == 1000)
    #expect(figures.namespaces[1].usage.bytes.utilization == 0.25)
    #expect(figures.usage.memory == Statistics.Tier(used: 0, limit: 64_000_000))
    try store.declare(StoreLimits(memory: Limits.unlimited))
    #expect(try store.statistics().usage.memory.limit == nil)
  }

  @Test func `reads that a running commit merges are counted meanwhile`() throws {
    try notes.set("v", for: "k")
    #expect(try notes.text("k") == "v")
    let (before, handle) = (try store.statistics().reads, store.engine.handle(for: "notes"))
    handle.recordMerge(of: handle.unmerged(), in: store.engine.environment.lastTransaction + 1)
    #expect(try before.hits > 0 && store.statistics().reads == before)
  }

  @Test func `bytes that went are counted by the reason`() throws {
    func set(_ size: Int, _ key: Int, _ expires: Expiration = .never) throws {
      try notes.set([UInt8](repeating: 1, count: size), for: key, expires: expires)
    }
    try set(10, 0)
    try set(5000, 0)
    try set(300, 0)
    try set(70, 1, .after(.seconds(1)))
    try set(4000, 2, .after(.seconds(1)))
    try set(8, 3)
    try notes.remove(3)
    clock.advance(by: .seconds(1))
    try store.purge()
    try notes.clear()
    let removals = try notes.removals
    #expect(removals[.replaced] == 2 && removals.bytes(.replaced) == 5010)
    #expect(removals[.expired] == 2 && removals.bytes(.expired) == 4070)
    #expect(removals[.removed] == 1 && removals.bytes(.removed) == 8)
    #expect(removals[.cleared] == 1 && removals.bytes(.cleared) == 300)
    #expect(removals.evicted == 0 && removals.evictedBytes == 0)
    #expect(try store.statistics().removals == removals)
  }

  @Test func `a reset begins the counts anew and leaves everything else`() throws {
    let other = store.namespace("other")
    let made = clock.now
    for namespace in [notes, other] {
      try namespace.set("v", for: "k")
      try namespace.set("w", for: "k")
      _ = try namespace.text("k")
      _ = try namespace.text("none")
    }
    #expect(try store.statistics().since == made)
    clock.advance(by: .seconds(5))
    try notes.resetStatistics()
    _ = try notes.text("k")
    var figures = try store.statistics()
    #expect(figures.namespaces.map(\.since) == [clock.now, made])
    #expect(figures.namespaces[0].reads.hits == 1 && figures.namespaces[0].reads.misses == 0)
    #expect(figures.namespaces[0].removals == RemovalCounters())
    #expect(figures.namespaces[1].reads.hits == 1 && figures.namespaces[1].reads.misses == 1)
    #expect(figures.namespaces[0].info.entries == 1 && figures.entries == 2)
    clock.advance(by: .seconds(5))
    try store.resetStatistics()
    figures = try store.statistics()
    #expect(figures.since == clock.now && figures.reads == ReadCounters())
    #expect(figures.removals == RemovalCounters() && figures.entries == 2)
    // A clear or a rename does not reset the counters of a namespace.
    try notes.clear()
    _ = try notes.text("k")
    try store.rename("notes", to: "renamed")
    figures = try store.statistics()
    #expect(figures.namespaces.map(\.info.name) == ["other", "renamed"])
    #expect(figures.namespaces[1].since == clock.now)
    #expect(figures.namespaces[1].removals[.cleared] == 1)
    #expect(figures.namespaces[1].reads.absent == 1)
    #expect(failure { try store.namespace("none").resetStatistics() } == .noSuchNamespace)
  }

  @Test func `a reset that fails changes no count`() throws {
    try notes.set("v", for: "k")
    for _ in 0..<3 { _ = try notes.text("k") }
    #expect(throws: Stop.self) {
      try store.write { batch in
        try batch.resetStatistics(of: "notes")
        throw Stop()
      }
    }
    #expect(try notes.reads.hits == 3)
    try store.write { _ in }
    #expect(try notes.reads.hits == 3)
  }

  @Test func `what the last handle leaves is written when it goes`() throws {
    do {
      let store = try Store(at: path + "/s")
      try store.namespace("notes").set("v", for: "k")
      try store.namespace("notes").set("v", for: "late", expires: .after(.zero))
      for _ in 0..<5 { _ = try store.namespace("notes").text("k") }
      _ = try store.namespace("notes").text("late")
    }
    do {
      // A handle that may only read merges no counts.
      let store = try Store(at: path + "/s", options: Store.Options(readOnly: true))
      _ = try store.namespace("notes").text("k")
    }
    let store = try Store(at: path + "/s")
    let reads = try store.namespace("notes").reads
    #expect(reads.hits == 5 && reads.expired == 1)
    #expect(try store.namespaces().first?.entries == 1)
    try store.verifyAndClose()
  }

  @Test func `letting go of the last handle does not wait long for another writer`() throws {
    try Store.leave(at: path + "/s")
    var store: Store? = try Store(at: path + "/s", options: Store.Options(lockTimeout: .minutes(5)))
    _ = try store?.namespace("notes").text("k")
    let writer = try PeerProcess("hold-write", path + "/s", saying: "writing")
    let took = ContinuousClock().measure { store = nil }
    #expect(took < .minutes(1))
    try writer.endInput()
    #expect(writer.line() == "done")
    store = try Store(at: path + "/s")
    #expect(try store?.namespace("notes").reads.hits == 0)
  }

  /// Makes random reads, merges and resets. Expects exact counts of reads since the last reset, meanwhile and at the end.
  @Test(arguments: TestSettings.seeds(corpus: 5))
  func `counts of two processes add up through any resets`(seed: UInt64) throws {
    var random = SeededRNG(seed: seed)
    // Without a write buffer, each write makes a commit, which merges the counts.
    let store = try Store(at: path + "/s", options: with(Store.Options()) { $0.writeBuffer = 0 })
    let notes = store.namespace("notes")
    try notes.set("v", for: "k")
    let peer = try PeerProcess("commands", store.path, saying: "open")
    // The reads that the store has merged, and the reads that this process and the other process have not merged yet.
    var (merged, mine, theirs) = (0, 0, 0)
    for step in 0..<60 {
      switch random.next(in: 0..<10) {
      case 0..<3:
        _ = try notes.text("k")
        mine += 1
      case 3..<6:
        #expect(try peer.ask("get notes k") == "done")
        theirs += 1
      case 6:
        try notes.set("v", for: "other")
        (merged, mine) = (merged + mine, 0)
      case 7:
        #expect(try peer.ask("set notes other 3") == "done")
        (merged, theirs) = (merged + theirs, 0)
      case 8 where random.chance(percent: 50):
        try store.resetStatistics()
        (merged, mine, theirs) = (0, 0, 0)
      case 8:
        #expect(try peer.ask("reset") == "done")
        (merged, mine, theirs) = (0, 0, 0)
      default:
        #expect(try notes.reads.hits == UInt64(merged + mine), "LARDER_SEED=\(seed), step \(step)")
      }
    }
    let drops = random.chance(percent: 50)
    if drops { #expect(try peer.ask("drop") == "done") }
    try peer.endInput()
    #expect(peer.line() == "closed")
    #expect(
      try notes.reads.hits == UInt64(merged + mine + theirs), "LARDER_SEED=\(seed), drops \(drops)")
    try store.close()
  }
}

@Suite struct ReadHistoryTests {
  private let seal = RecordSeal(identity: [UInt8](repeating: 7, count: 16))

  private func sample(hour: Int) -> ReadSample {
    ReadSample(
      time: Timestamp(milliseconds: Int64(hour) * 3_600_000), hits: UInt64(hour), staleHits: 1,
      misses: 2)
  }

  @Test func `maintenance samples the reads once an hour`() throws {
    try withStore { store, clock in
      let (notes, other) = (store.namespace("notes"), store.namespace("other"))
      let maintenance = try Maintenance(of: store)
      try notes.set("v", for: "k")
      try other.set("v", for: "k")
      #expect(try store.readHistory() == [])
      for _ in 1...3 {
        _ = try notes.value(for: "k") as [UInt8]?
        _ = try other.value(for: "k") as [UInt8]?
        _ = try other.value(for: "absent") as [UInt8]?
        try maintenance.runOnce()
        // A second run in the same hour adds no sample.
        try maintenance.runOnce()
        clock.advance(by: .hours(1))
      }
      let samples = try store.readHistory()
      #expect(samples.map(\.hits) == [2, 4, 6] && samples.map(\.misses) == [1, 2, 3])
      #expect(samples.first?.time.duration(to: samples[2].time) == .hours(2))
    }
  }

  @Test func `a week is kept, and a clock that was set back drops the future`() {
    var history = ReadHistory([], seal: seal)
    for hour in 1...400 {
      #expect(history.isDue(at: sample(hour: hour).time))
      history.add(sample(hour: hour))
      #expect(!history.isDue(at: sample(hour: hour).time.advanced(by: .seconds(3599))))
    }
    #expect(history.samples.map(\.hits) == Array(UInt64(400 - 168)...400))
    #expect(ReadHistory(history.record(seal: seal), seal: seal) == history)
    #expect(history.isDue(at: sample(hour: 300).time))
    history.add(sample(hour: 300))
    #expect(history.samples.last == sample(hour: 300) && history.samples.count == 69)
  }

  @Test func `a damaged record is not read`() {
    var history = ReadHistory([], seal: seal)
    for hour in 1...3 { history.add(sample(hour: hour)) }
    let record = history.record(seal: seal)
    for index in record.indices {
      let damaged = with(record) { $0[index] ^= 0x10 }
      #expect(ReadHistory(damaged, seal: seal).samples.isEmpty)
      #expect(ReadHistory(Array(record[..<index]), seal: seal).samples.isEmpty)
    }
  }
}
