import Synchronization
import TestSupport
import Testing

@testable import Larder
@testable import LarderShared

@Suite struct BulkTests {
  private final class Source: Sendable {
    let origin = Origin()
    private let state = Mutex<[[String]]>([])
    var asked: [[String]] { state.withLock { $0.map { $0.sorted() } } }

    @Sendable func load(
      _ missing: [(key: String, stored: CachedValue<String>?)]
    ) async throws -> [(String, Loaded<String>)] {
      let keys = missing.map { $0.key }
      state.withLock { $0.append(keys) }
      _ = try await origin.text()
      return keys.reversed().compactMap { key -> (String, Loaded<String>)? in
        if key.hasPrefix("none") { return nil }
        return (
          key, key.hasPrefix("bad") ? .failed(Origin.Refusal(number: 1)) : .value("of " + key)
        )
      }
    }
  }

  private let source = Source()

  @Test func `one call has what neither the store nor the tier has`() async throws {
    let machines = try await startMachines(2).machines
    let values = try await machines[0].cache.values(for: ["a", "b", "a"], load: source.load)
    #expect(values == ["of a", "of b", "of a"])
    try await machines[1].cache.set("set", for: "c")
    let found = try await machines[1].cache.results(
      for: ["a", "c", "d", "e", "none"], load: source.load)
    #expect(try found.prefix(4).map { try $0.get()?.value } == ["of a", "set", "of d", "of e"])
    #expect(try found[0].get()?.source == .shared && found[2].get()?.source == .loaded)
    #expect(try found[4].get() == nil)
    #expect(source.asked == [["a", "b"], ["d", "e", "none"]])
    let again = try await machines[0].cache.values(for: ["d", "e"], load: source.load)
    #expect(again == ["of d", "of e"] && source.asked.count == 2)
  }

  @Test func `a key that another machine loads holds up no other`() async throws {
    let machines = try await startMachines(2).machines
    let (slow, source) = (Origin(isOpen: false), Source())
    let task = Task { try await machines[0].read(slow, for: "b") }
    try await waitUntil { slow.loads == 1 }
    let bulk = Task { try await machines[1].cache.values(for: ["a", "b"], load: source.load) }
    try await whileTimePasses([machines[1]]) { source.asked == [["a"]] }
    slow.open()
    #expect(try await task.value == "load 1")
    try await whileTimePasses([machines[1]]) { machines[1].shared.statistics.hits == 1 }
    #expect(try await bulk.value == ["of a", "load 1"] && source.asked.count == 1)
  }

  @Test func `without the tier the source is asked, and errors reach each key`() async throws {
    let machines = try await startMachines(1).machines
    try await machines[0].cutOff()
    let keys = (0..<100).map { "\($0)" }
    #expect(
      try await machines[0].cache.values(for: keys, load: source.load) == keys.map { "of " + $0 })
    #expect(Set(source.asked.joined()) == Set(keys))
    #expect(source.asked.joined().count == 100)
    source.origin.fail()
    let failed = try await machines[0].cache.results(for: ["x", "y"], load: source.load)
    for result in failed { #expect(throws: Origin.Refusal.self) { try result.get() } }
  }

  @Test func `without the tier, joined loads of an absent key answer all callers`() async throws {
    let machines = try await startMachines(1).machines
    try await machines[0].cutOff()
    source.origin.close()
    let tasks = (0..<10).map { _ in
      Task {
        try await machines[0].cache.values(
          for: ["none"], options: LoadOptions(policy: .revalidate), load: source.load)
      }
    }
    try await waitUntil { machines[0].store.engine.loads.running.callers() == 10 }
    source.origin.open()
    for task in tasks { #expect(try await task.value == [nil]) }
    #expect(source.asked.count == 1)
  }

  @Test func `an error of one key and an absent one leave the others their values`() async throws {
    let (machines, tier, time) = try await startMachines(2)
    let options = LoadOptions(
      stale: Staleness(onError: .hours(1)), absent: .after(.minutes(5)), waitsForCommit: true)
    try await machines[0].cache.set("old", for: "bad 1", expires: .after(.milliseconds(1)))
    try await pass(.seconds(1), time, machines, tier)
    let keys = ["a", "bad 1", "bad 2", "none", "b"]
    for (machine, calls) in zip(machines, [1, 2]) {
      let found = try await machine.cache.results(for: keys, options: options, load: source.load)
      #expect(try found[0].get()?.value == "of a" && found[4].get()?.value == "of b")
      let old = try found[1].get()
      #expect(old?.value == "old" && old?.isStale == true && old?.error is Origin.Refusal)
      #expect(throws: Origin.Refusal.self) { try found[2].get() }
      #expect(try found[3].get() == nil)
      #expect(source.asked.count == calls)
    }
    #expect(source.asked == [keys.sorted(), ["bad 1", "bad 2"]], "the tier has the others")
    #expect(try machines[1].cache.local.entry(for: "none")?.isNegative == true)
  }

  @Test func `a clear during the call is noticed, and is no error`() async throws {
    let (machines, tier, _) = try await startMachines(2, options: SharedOptions(maxValueSize: 3))
    let (near, far, source) = (machines[0], machines[1], Source())
    let failures = Mutex(0)
    let options = LoadOptions(onBackgroundError: { _ in failures.withLock { $0 += 1 } })
    // The tier takes no large value, so no lease tells the machine of the clear.
    for key in ["a", "c"] { try await near.cache.set("large", for: key) }
    _ = try await far.read(Origin(), for: "b")
    source.origin.close()
    let task = Task {
      try await far.cache.values(for: ["a", "c"], options: options, load: source.load)
    }
    try await waitUntil { source.asked.count == 1 }
    try await near.cache.clear()
    try await far.follow(tier)
    source.origin.open()
    #expect(try await task.value == ["of a", "of c"])
    try await waitUntil { far.store.engine.loads.running.count == 0 }
    #expect(source.asked.count == 2 && failures.withLock { $0 } == 0)
  }

  @Test func `many callers of the same keys share their calls`() async throws {
    let machines = try await startMachines(1).machines
    source.origin.close()
    let tasks = (0..<8).map { first in
      Task {
        try await machines[0].cache.values(
          for: (first..<first + 4).map { "\($0)" }, load: source.load)
      }
    }
    let loads = machines[0].store.engine.loads.running
    try await waitUntil { loads.callers() == 32 }
    source.origin.open()
    for (first, task) in tasks.enumerated() {
      #expect(try await task.value == (first..<first + 4).map { "of \($0)" })
    }
    #expect(source.asked.joined().count == 11 && Set(source.asked.joined()).count == 11)
  }

  /// The server never answers `MGET` before the gate opens, and refuses all other commands.
  private struct GatedSender: CommandSender {
    let gate: Origin

    func send(_ command: LarderShared.Command) async throws(LarderError) -> Reply {
      guard command.words[0] == Array("MGET".utf8) else { return .failure("ERR") }
      _ = try? await gate.load()
      return .list(command.words.dropFirst().map { _ in .null })
    }
  }

  @Test func `a call for many keys sends its requests in turn`() async throws {
    let sender = GatedSender(gate: Origin(isOpen: false))
    let cache = try Store.temporary().cache(
      TextCodec(), in: "prices", shared: Shared(sender, application: "test"))
    let task = Task { try await cache.values(for: (0..<600).map { "\($0)" }, load: source.load) }
    try await waitUntil { sender.gate.loads >= SharedCache<String>.mostRequests }
    sender.gate.open()
    #expect(try await task.value == (0..<600).map { "of \($0)" })
    #expect(sender.gate.mostAtOnce <= SharedCache<String>.mostRequests)
  }

  @Test func `a caller that is cancelled cancels the call`() async throws {
    let machines = try await startMachines(1).machines
    source.origin.close()
    let task = Task { try await machines[0].cache.values(for: ["a", "b"], load: source.load) }
    try await waitUntil { source.asked.count == 1 }
    task.cancel()
    await #expect(throws: CancellationError.self) { try await task.value }
    source.origin.open()
    #expect(try await machines[0].cache.values(for: ["a"], load: source.load) == ["of a"])
  }
}
