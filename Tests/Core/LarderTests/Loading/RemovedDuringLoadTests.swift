import Foundation
import Synchronization
import TestSupport
import Testing

@testable import Larder

/// A load belongs to the moment of its start: a value that was removed since is not stored, and later callers do not get it.
@Suite struct RemovedDuringLoadTests {
  private let clock = ManualClock()
  private let origin = Origin()

  /// The entry under the key when the load begins.
  enum Before: String, CaseIterable {
    case fresh, stale, expired, absent
    /// The namespace does not exist.
    case nowhere
  }

  enum RemovalKind: String, CaseIterable {
    case remove, pop, update, batch, prefix, tag, clear, clearAll, rename, setAndRemove, owner
  }

  private func store() throws -> Store { try Store.temporary(options: Store.Options(clock: clock)) }

  private func boards(of store: Store) -> Larder.Cache<String> {
    store.cache(TextCodec(), in: "boards")
  }

  private func prepare(_ before: Before, _ boards: Larder.Cache<String>) async throws {
    try await boards.namespace.store.namespace("lines").set("line", for: "1")
    if before == .nowhere { return }
    try await boards.set(
      "old", for: before == .absent ? "bern" : "thun",
      .with(
        expires: .after(.minutes(1)), stale: before == .stale ? .hours(1) : .zero, tags: ["all"],
        owners: [Owner(Key("1"), in: "lines")]))
    if before != .fresh { clock.advance(by: .minutes(1)) }
  }

  private func ask(
    _ boards: Larder.Cache<String>, _ options: LoadOptions
  ) -> Task<CacheResult<String>, any Error> {
    Task { try await boards.result(for: "thun", options: options) { try await origin.text() } }
  }

  private func remove(_ how: RemovalKind, _ boards: Larder.Cache<String>) async throws {
    let store = boards.namespace.store
    switch how {
    case .remove: try await boards.remove("thun")
    case .pop: _ = try await boards.pop("thun")
    case .update: _ = try await boards.update("thun") { _ in nil }
    case .batch: try store.write { batch in _ = try batch.remove("thun", from: boards) }
    case .prefix: try boards.remove(prefix: "th")
    case .tag: try store.invalidate(tag: "all")
    case .clear: try boards.clear()
    case .clearAll: try store.clear()
    case .rename:
      // An absent namespace cannot be renamed, so the test clears it instead.
      if try boards.namespace.info() == nil {
        try boards.clear()
      } else {
        try store.rename("boards", to: "b")
      }
    case .setAndRemove:
      try await boards.set("set", for: "thun")
      try await boards.remove("thun")
    case .owner: try await store.namespace("lines").remove("1")
    }
  }

  private func settle(_ boards: Larder.Cache<String>) async throws {
    try await waitUntil { boards.namespace.engine.loads.running.count == 0 }
    #expect(boards.namespace.engine.loads.writes.isEmpty)
    #expect(try boards.namespace.store.verify().faults == [])
  }

  @Test(arguments: RemovalKind.allCases, Before.allCases)
  func `a removal during a load wins, and later callers begin their own`(
    how: RemovalKind, before: Before
  ) async throws {
    let store = try store()
    let boards = boards(of: store)
    // The removal of an owner concerns stored entries only.
    if how == .owner, [.absent, .nowhere].contains(before) { return }
    try await prepare(before, boards)
    var options = LoadOptions(
      policy: .revalidate, tags: ["all"], owners: [Owner(Key("1"), in: "lines")],
      waitsForCommit: true)
    origin.close()
    let first = ask(boards, options)
    try await origin.waitForLoads(1)
    try await remove(how, boards)
    #expect(try boards.value(for: "thun") == nil)
    options.owners = []
    let second = ask(boards, options)
    try await origin.waitForLoads(2)
    origin.open()
    let loaded = try await first.value
    #expect(loaded.value == "load 1" && loaded.source == .loaded && !loaded.isCommitted)
    #expect(try await second.value.value == "load 2")
    try await settle(boards)
    #expect(try boards.value(for: "thun") == "load 2")
  }

  @Test(arguments: RemovalKind.allCases, [RequestPolicy.standard, .reload])
  func `what was loaded before a removal is not stored`(how: RemovalKind, policy: RequestPolicy)
    async throws
  {
    let store = try store()
    let boards = boards(of: store)
    try await prepare(.absent, boards)
    var options = LoadOptions(policy: policy, tags: ["all"], owners: [Owner(Key("1"), in: "lines")])
    origin.close()
    let first = ask(boards, options)
    try await origin.waitForLoads(1)
    try await remove(how, boards)
    origin.open()
    #expect(try await first.value.value == "load 1")
    try await settle(boards)
    #expect(try boards.value(for: "thun") == nil && boards.entry(for: "thun") == nil)
    options.owners = []
    options.waitsForCommit = true
    let next = try await ask(boards, options).value
    #expect(next.value == "load 2" && next.isCommitted)
  }

  @Test(arguments: [true, false])
  func `a load in the background does not bring a removed value back`(isStale: Bool) async throws {
    let boards = boards(of: try store())
    try await boards.set("old", for: "thun", expires: .after(.minutes(1)))
    var options = LoadOptions(
      stale: Staleness(whileRevalidating: .hours(1)), refreshAhead: .seconds(1))
    if isStale {
      try await boards.set(
        "old", for: "thun", .with(expires: .after(.minutes(1)), stale: .hours(1)))
    }
    clock.advance(by: isStale ? .minutes(1) : .seconds(59))
    origin.close()
    #expect(try await ask(boards, options).value.value == "old")
    try await origin.waitForLoads(1)
    try await boards.remove("thun")
    options.waitsForCommit = true
    let second = ask(boards, options)
    try await origin.waitForLoads(2)
    origin.open()
    #expect(try await second.value.value == "load 2")
    try await settle(boards)
    #expect(try boards.value(for: "thun") == "load 2")
  }

  @Test(arguments: [RemovalKind.tag, .owner])
  func `tags and owners that a load gives at its end count too`(how: RemovalKind) async throws {
    let boards = boards(of: try store())
    try await prepare(.absent, boards)
    func ask(_ attributes: EntryAttributes) -> Task<String?, any Error> {
      Task {
        try await boards.result(for: "thun") { _ in
          .value(try await origin.text(), attributes)
        }?.value
      }
    }
    var linked = EntryAttributes()
    if how == .tag { linked.tags = ["all"] } else { linked.owners = [Owner(Key("1"), in: "lines")] }
    origin.close()
    let first = ask(linked)
    try await origin.waitForLoads(1)
    try await remove(how, boards)
    let later = [ask(EntryAttributes()), ask(EntryAttributes())]
    try await waitUntil { boards.namespace.engine.loads.running.callers() == 3 }
    origin.open()
    #expect(try await first.value == "load 1")
    for caller in later { #expect(try await caller.value == "load 2") }
    try await settle(boards)
    #expect(try boards.value(for: "thun") == "load 2")
  }

  @Test func `another removal stops no load`() async throws {
    let boards = boards(of: try store())
    try await boards.set("other", for: "bern")
    origin.close()
    let first = ask(boards, .committed)
    try await origin.waitForLoads(1)
    try await boards.remove("bern")
    try boards.namespace.store.invalidate(tag: "other")
    try boards.namespace.store.namespace("others").clear()
    let second = ask(boards, .committed)
    try await waitUntil { boards.namespace.engine.loads.running.callers() == 2 }
    origin.open()
    #expect(try await first.value.isCommitted)
    #expect(try await second.value.value == "load 1")
    try await settle(boards)
    #expect(try boards.value(for: "thun") == "load 1")
  }

  @Test func `a value that waits for its commit is not read after a removal by another process`()
    async throws
  {
    let directory = try TemporaryDirectory()
    let store = try Store(at: directory.path + "/s")
    let boards = boards(of: store)
    try await boards.set("other", for: "bern")
    let writer = try OtherProcess("hold-write", store.path)
    #expect(writer.line() == "writing")
    #expect(try await boards.value(for: "thun") { "old" } == "old")
    #expect(try boards.value(for: "thun") == "old")
    // The first half of a removal by another process: the removal gets its number before its commit.
    let table = store.engine.removalTable
    let number = try #require(table.begin())
    table.record(Checksum.keyHash(of: Array("thun".utf8).span, in: try id(of: boards)), number)
    #expect(try boards.value(for: "thun") == nil)
    try writer.endInput()
    #expect(writer.line() == "done")
    try await settle(boards)
    #expect(try boards.value(for: "thun") == nil)
    try store.close()
  }

  private func id(of boards: Larder.Cache<String>) throws -> NamespaceID {
    let engine = boards.namespace.engine
    return try engine.reader.identify(boards.namespace.handle, in: engine.beginRead())
  }

  @Test(arguments: [
    "remove boards thun", "pop boards thun", "prefix boards t", "invalidate boards all",
    "clear boards", "clear-all", "rename boards b",
  ])
  func `a removal by another process wins, and later callers do not wait for the lease`(
    command: String
  ) async throws {
    let directory = try TemporaryDirectory()
    var storeOptions = Store.Options()
    storeOptions.hooks.machineClock = { 1_000_000 }
    let store = try Store(at: directory.path + "/s", options: storeOptions)
    let boards = boards(of: store)
    try await boards.set("other", for: "bern")
    let (loader, remover) = (
      try OtherProcess("load", store.path, "thun", "standard"),
      try OtherProcess("commands", store.path)
    )
    #expect(loader.line() == "loading" && remover.line() == "open")
    origin.close()
    let options = LoadOptions(policy: .reload, tags: ["all"], waitsForCommit: true)
    let mine = ask(boards, options)
    try await origin.waitForLoads(1)
    #expect(try remover.ask(command) == "done")
    let later = ask(boards, LoadOptions(tags: ["all"], waitsForCommit: true))
    // This process does not know the tags of the other process's load, so a caller waits for that load.
    let waits = command.hasPrefix("invalidate")
    if !waits { try await origin.waitForLoads(2) }
    try loader.tell("theirs")
    #expect(loader.line() == "loaded theirs")
    try await origin.waitForLoads(waits ? 1 : 2)
    origin.open()
    #expect(try await mine.value.value == "load 1")
    #expect(try await later.value.value == (waits ? "theirs" : "load 2"))
    try await waitUntil { store.engine.loads.running.count == 0 }
    #expect(try boards.value(for: "thun") == (waits ? "theirs" : "load 2"))
    #expect(try store.verify().faults == [])
    try store.close()
  }

  @Test func `a process that is killed during a removal costs a load`() async throws {
    let boards = boards(of: try store())
    try await boards.set("other", for: "bern")
    let table = boards.namespace.engine.removalTable
    let number = try #require(table.begin())
    table.record(Checksum.keyHash(of: Array("thun".utf8).span, in: try id(of: boards)), number)
    #expect(try await ask(boards, .committed).value.isCommitted == false)
    #expect(try await ask(boards, .committed).value.isCommitted)
    #expect(try boards.value(for: "thun") == "load 2")
    try await settle(boards)
  }

  @Test func `a removal that is rolled back costs no later load`() async throws {
    let boards = boards(of: try store())
    try await boards.set("kept", for: "thun", expires: .after(.minutes(1)))
    #expect(
      failure {
        try boards.namespace.store.write { batch in
          _ = try batch.remove("thun", from: boards)
          throw LarderError(.failed, "changed my mind")
        }
      } == .failed)
    clock.advance(by: .minutes(1))
    #expect(try await ask(boards, .committed).value.isCommitted)
    try await settle(boards)
  }

  @Test(arguments: [0, 1, 2, 7], [0, .max, 1 << 40] as [UInt64])
  func `a damaged file costs loads and never brings a value back`(place: Int, word: UInt64)
    async throws
  {
    let boards = boards(of: try store())
    try await boards.set("other", for: "bern")
    _ = try await ask(boards, .committed).value
    try await boards.remove("thun")
    origin.close()
    let loaded = origin.loads
    let first = ask(boards, .committed)
    try await origin.waitForLoads(loaded + 1)
    let path = boards.namespace.store.path + "/removals"
    let file = try FileHandle(forUpdating: URL(fileURLWithPath: path))
    // The word number `index` after the header. Place 7 stands for the word of the key.
    let hash = Checksum.keyHash(of: Array("thun".utf8).span, in: try id(of: boards))
    let index = place == 7 ? 8 + hash % (1 << 14) : UInt64(place)
    try file.seek(toOffset: 128 + 8 * index)
    try file.write(contentsOf: (0..<8).map { UInt8(truncatingIfNeeded: word >> (8 * $0)) })
    try await boards.remove("thun")
    origin.open()
    _ = try await first.value
    try await settle(boards)
    #expect(try boards.value(for: "thun") == nil)
    for _ in 1...3 { _ = try await ask(boards, .committed).value }
    try await settle(boards)
    #expect(try boards.value(for: "thun") != nil)
  }

  @Test func `without the file a load is given and not stored`() async throws {
    let store = try store()
    let boards = boards(of: store)
    let path = store.path + "/removals"
    try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: false)
    #expect(try await ask(boards, .committed).value.isCommitted == false)
    #expect(try await boards.remove("thun") == false)
    try FileManager.default.removeItem(atPath: path)
    #expect(try await ask(boards, .committed).value.isCommitted)
    // A user deletes the file while a load runs, and another process makes a new file.
    origin.close()
    let first = ask(boards, LoadOptions(policy: .reload, waitsForCommit: true))
    try await origin.waitForLoads(3)
    try FileManager.default.removeItem(atPath: path)
    let other = try OtherProcess("commands", store.path)
    #expect(other.line() == "open")
    #expect(try other.ask("remove boards thun") == "done")
    origin.open()
    #expect(try await first.value.isCommitted == false)
    try await settle(boards)
    #expect(try boards.value(for: "thun") == nil)
  }

  @Test(.timeLimit(.minutes(30)))
  func `no caller of any process gets what was removed before it asked`() throws {
    let directory = try TemporaryDirectory()
    let path = directory.path + "/s"
    // The file holds one number, a floor, for each of two times four keys.
    try Data(count: 64).write(to: URL(fileURLWithPath: path + ".floors"))
    let seed = TestSettings.seed
    let steps = 250 * TestSettings.trials
    var random = SeededRNG(seed: seed)
    let store = try Store(at: path)
    func peer(_ number: Int, _ steps: Int) throws -> OtherProcess {
      let peer = try OtherProcess(
        "remove-and-load", path, "\(seed % 1000 + UInt64(number))", "\(steps)")
      #expect(peer.line() == "open")
      try peer.tell("go")
      return peer
    }
    let peers = [try peer(1, steps), try peer(2, steps)]
    // A third process is started and killed again and again.
    var number = 3
    while peers.contains(where: \.isRunning) {
      let victim = try peer(number, 100_000)
      usleep(UInt32(random.next(in: 1_000..<100_000)))
      victim.kill()
      number += 1
    }
    for peer in peers {
      var last = ""
      while let line = peer.line() {
        #expect(!line.hasPrefix("WRONG"), "LARDER_SEED=\(seed): \(line)")
        last = line
      }
      #expect(last == "end", "LARDER_SEED=\(seed)")
    }
    #expect(try store.verify().faults == [])
    try store.close()
  }
}
