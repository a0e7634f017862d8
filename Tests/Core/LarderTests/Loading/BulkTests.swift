import TestSupport
import Testing

@testable import Larder

@Suite(.settling) struct BulkTests: StoreSuite {
  let fixture = StoreFixture(onDisk: Store.Options())
  private let origin = Origin()
  private let asked = Shared<[[String]]>([])

  private var aging: EntryAttributes {
    EntryAttributes.with(expires: .after(.seconds(1)), stale: .minutes(1))
  }

  /// Loads the value `of KEY` for each key. A key `none...` has no value, and the load of a key `bad...` fails.
  @Sendable private func load(
    _ missing: [(key: String, stored: CachedValue<String>?)]
  ) async throws -> [(String, Loaded<String>)] {
    asked.withLock { $0.append(missing.map { $0.key }) }
    let number = try await origin.load()
    return missing.reversed().compactMap { missing in
      if missing.key.hasPrefix("none") { return nil }
      if missing.key.hasPrefix("bad") {
        return (missing.key, .failed(Origin.Refusal(number: number)))
      }
      return (missing.key, .value("of " + missing.key))
    }
  }

  private func results(
    _ keys: [String], _ options: LoadOptions = .committed
  ) async throws -> [Result<CacheResult<String>?, any Error>] {
    try await boards.results(for: keys, options: options, load: load)
  }

  @Test func `one call loads what is missing or too old, in one commit`() async throws {
    try await boards.set("fresh", for: "b")
    try await boards.set("old", for: "c", expires: .after(.seconds(1)))
    clock.advance(by: .seconds(2))
    let before = try store.statistics().file.transaction
    let keys = ["a", "b", "c", "caf\u{e9}", "cafe\u{301}", "a"]
    let found = try await results(keys).map { try $0.get() }
    let values = ["of a", "fresh", "of c", "of caf\u{e9}", "of cafe\u{301}", "of a"]
    #expect(found.compactMap { $0?.value } == values)
    #expect(found.map { $0?.source } == [.loaded, .memory, .loaded, .loaded, .loaded, .loaded])
    #expect(found.allSatisfy { $0?.isCommitted == true } && found[1]?.age == .seconds(2))
    let calls = asked.withLock { $0 }
    let missing = ["a", "c", "caf\u{e9}", "cafe\u{301}"].map { Array($0.utf8) }
    #expect(calls.map { $0.map { Array($0.utf8) } } == [missing])
    #expect(try store.statistics().file.transaction == before + 1)
    #expect(try await boards.values(for: keys, load: load).count == 6)
    #expect(origin.loads == 1)
    #expect(try await boards.values(for: [String](), load: load) == [])
  }

  @Test func `a key without an answer is absent, and is stored so for a while`() async throws {
    try await boards.set("old", for: "none 2", expires: .after(.seconds(1)))
    clock.advance(by: .seconds(2))
    var options = LoadOptions.committed
    #expect(try await results(["none 1"], options)[0].get() == nil)
    #expect(try boards.count() == 1)
    options.absent = .after(.minutes(1))
    for _ in 0..<2 {
      let found = try await results(["none 1", "none 2"], options)
      #expect(try found.allSatisfy { try $0.get() == nil })
    }
    #expect(origin.loads == 2)
    #expect(try boards.entry(for: "none 2")?.isNegative == true)
  }

  @Test func `loads of single keys and of many join each other`() async throws {
    origin.close()
    let single = Task { try await boards.value(for: "a") { try await origin.text() } }
    try await origin.waitForLoads(1)
    let bulk = Task { try await results(["a", "b", "c"]).map { try $0.get()?.value } }
    try await origin.waitForLoads(2)
    let other = Task { try await results(["b", "d"]).map { try $0.get()?.value } }
    try await origin.waitForLoads(3)
    let last = Task { try await boards.value(for: "c") { try await origin.text() } }
    try await waitUntil { boards.namespace.engine.loads.running.callers() == 7 }
    origin.open()
    #expect(try await single.value == "load 1")
    #expect(try await last.value == "of c")
    #expect(try await bulk.value == ["load 1", "of b", "of c"])
    #expect(try await other.value == ["of b", "of d"])
    #expect(asked.withLock { $0 } == [["b", "c"], ["d"]])
  }

  @Test func `an error of one key or of all leaves the others their values`() async throws {
    for key in ["a", "bad"] { try await boards.set("old", for: key, aging) }
    clock.advance(by: .seconds(2))
    var options = LoadOptions(stale: Staleness(onError: .minutes(1)), waitsForCommit: true)
    let first = try await results(["bad", "bad 2", "b"], options)
    #expect(try first[0].get()?.source == .stale && first[0].get()?.error is Origin.Refusal)
    #expect(throws: Origin.Refusal.self) { try first[1].get() }
    #expect(try first[2].get()?.value == "of b")
    await #expect(throws: Origin.Refusal.self) {
      try await boards.values(for: ["b", "bad 2"], options: options, load: load)
    }
    origin.fail()
    let second = try await results(["a", "b", "c"], options)
    #expect(try second[0].get()?.value == "old" && second[1].get()?.value == "of b")
    #expect(throws: Origin.Refusal.self) { try second[2].get() }
    options.policy = .cacheOnly
    let third = try await results(["a", "c"], options)
    #expect(try third[0].get()?.source == .stale)
    #expect(throws: LarderError.self) { try third[1].get() }
  }

  @Test func `a removal and a write during the load win`() async throws {
    // Makes the namespace, because a removal in an absent namespace counts as a removal of all its keys.
    try await boards.set("other", for: "z")
    origin.close()
    let task = Task { try await results(["a", "b", "c"]) }
    try await origin.waitForLoads(1)
    try await boards.remove("a")
    try await boards.set("newer", for: "b")
    let later = Task { try await boards.value(for: "a") { try await origin.text() } }
    try await origin.waitForLoads(2)
    origin.open()
    let found = try await task.value.map { try $0.get() }
    #expect(found.map { $0?.value } == ["of a", "of b", "of c"])
    #expect(found.map { $0?.isCommitted } == [false, false, true])
    #expect(try await later.value == "load 2")
    try await waitUntil { boards.namespace.engine.loads.running.count == 0 }
    #expect(try boards.values(for: ["a", "b", "c"]) == ["load 2", "newer", "of c"])
  }

  @Test func `each caller has its own time limit, and the last cancels the call`() async throws {
    origin.close()
    let options = with(LoadOptions.committed) { $0.timeout = .seconds(1) }
    let hasty = Task { try await results(["a", "b"], options) }
    try await origin.waitForLoads(1)
    let patient = Task { try await boards.value(for: "b") { try await origin.text() } }
    let loads = boards.namespace.engine.loads.running
    try await waitUntil { loads.callers() == 3 && clock.isAwaited }
    clock.advance(by: .seconds(1))
    for result in try await hasty.value { #expect(throws: LarderError.self) { try result.get() } }
    #expect(origin.cancelled == 0)
    patient.cancel()
    await #expect(throws: CancellationError.self) { try await patient.value }
    try await waitUntil { origin.cancelled == 1 }
    let cancelled = Task { try await results(["a", "b"]) }
    try await origin.waitForLoads(2)
    cancelled.cancel()
    await #expect(throws: CancellationError.self) { try await cancelled.value }
    try await waitUntil { origin.cancelled == 2 }
    origin.open()
    #expect(try boards.count() == 0)
  }

  @Test func `a load that all leave calls each closure for this case`() {
    let load = InFlightLoad<Int>(isDetached: false)
    let calls = Tally()
    #expect(load.join())
    for _ in 0..<2 { load.whenAbandoned { calls.add() } }
    load.leave {}
    #expect(calls.value == 2)
    load.whenAbandoned { calls.add() }
    #expect(calls.value == 3 && !load.join())
  }

  @Test func `a call that would wait for itself throws`() async throws {
    let found = try await boards.results(for: ["a", "b"], options: .committed) { missing in
      let other = try await boards.value(for: "c") { "of c" }
      do {
        return [("a", .value(try await boards.value(for: "b") { other }))]
      } catch let error as LarderError {
        #expect(error.code == .loadCycle)
        return missing.map { ($0.key, .value(other)) }
      }
    }
    #expect(try found.map { try $0.get()?.value } == ["of c", "of c"])
  }

  @Test func `a source asks whether what is stored is still current`() async throws {
    try await boards.set("old", for: "a", with(aging) { $0.entityTag = [7] })
    clock.advance(by: .seconds(2))
    let options = LoadOptions(expires: .after(.minutes(5)), waitsForCommit: true)
    let found = try await boards.values(for: ["a", "b"], options: options) { missing in
      #expect(missing.map { $0.stored?.validators.entityTag } == [[7], nil])
      return missing.map { ($0.key, $0.stored == nil ? .value("new") : .unchanged) }
    }
    #expect(found == ["old", "new"])
    #expect(try boards.value(for: "a") == "old")
  }

  @Test func `stale values are returned at once, and refreshed by the same call`() async throws {
    try await boards.set("old", for: "a", aging)
    clock.advance(by: .seconds(2))
    let options = LoadOptions(
      stale: Staleness(whileRevalidating: .minutes(1)), waitsForCommit: true)
    let found = try await results(["a", "b"], options).map { try $0.get()?.value }
    #expect(found == ["old", "of b"] && asked.withLock { $0 } == [["a", "b"]])
    try await waitUntil { boards.namespace.engine.loads.running.count == 0 }
    #expect(try boards.value(for: "a") == "of a")
  }

  @Test func `a prefetch loads in batches`() async throws {
    for key in ["1", "4"] { try await boards.set("there", for: key) }
    let keys = (0..<10).map { "\($0)" } + ["none", "bad"]
    let prefetch = try boards.prefetch(keys, inBatchesOf: 5, load: load)
    #expect(await prefetch.finish() == .init(present: 2, loaded: 9, failed: 1))
    #expect(
      asked.withLock { $0 } == [["0", "2", "3"], ["5", "6", "7", "8", "9"], ["none", "bad"]])
    #expect(throws: LarderError.self) { try boards.prefetch(keys, inBatchesOf: 0, load: load) }
  }

  @Test func `processes that ask for the same keys at once ask for each one once`() async throws {
    let path = store.path
    let peers = try (0..<3).map { number in try PeerProcess("load-bulk", path, ["\(number)"]) }
    #expect(try peers.loads(of: 60) == 100)
  }
}
