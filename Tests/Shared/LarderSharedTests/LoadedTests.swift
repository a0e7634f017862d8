import LarderSharedTesting
import TestSupport
import Testing

@testable import Larder
@testable import LarderShared

@Suite struct LoadedTests {
  private let origin = Origin()
  private static let kept = LoadOptions(absent: .after(.minutes(5)), waitsForCommit: true)

  /// Asks a machine for a key whose origin returns this answer.
  private func ask(
    _ machine: Machine, _ origin: Origin, _ options: LoadOptions = kept,
    _ answer: @escaping @Sendable (CachedValue<String>?) -> Loaded<String>
  ) async throws -> CacheResult<String>? {
    try await machine.cache.result(for: "a", options: options) { stored in
      _ = try await origin.text()
      return answer(stored)
    }
  }

  @Test func `an absence is shared for its time, and ends with a set`() async throws {
    let (machines, tier, time) = try await startMachines(2)
    #expect(try await ask(machines[0], origin) { _ in .absent } == nil)
    #expect(try await ask(machines[1], origin) { _ in .value("wrong") } == nil)
    let requests = tier.requests
    for machine in machines {
      #expect(try await ask(machine, origin) { _ in .value("wrong") } == nil)
      #expect(try machine.cache.local.entry(for: "a")?.isNegative == true)
      let only = with(Self.kept) { $0.policy = .cacheOnly }
      #expect(try await ask(machine, origin, only) { _ in .value("wrong") } == nil)
      let plain = await code { try await machine.cache.result(for: "a", options: only) { "wrong" } }
      #expect(plain == .notStored)
    }
    #expect(origin.loads == 1 && tier.requests == requests, "the copies answer")
    try await machines[1].cache.set("set", for: "a")
    try await machines[0].follow(tier)
    #expect(try await ask(machines[0], origin) { _ in .absent }?.value == "set")
    try await machines[1].cache.remove("a")
    try await machines[0].follow(tier)
    #expect(try await ask(machines[0], origin) { _ in .absent } == nil && origin.loads == 2)
    try await pass(.minutes(6), time, machines, tier)
    #expect(try await ask(machines[1], origin) { _ in .value("new") }?.value == "new")
    #expect(try await ask(machines[0], origin) { _ in .absent }?.source == .shared)
  }

  @Test func `an absence without a time takes the place of an older value`() async throws {
    let (machines, tier, time) = try await startMachines(3)
    let stale = Staleness(onError: .hours(1))
    let options = LoadOptions(expires: .after(.minutes(1)), stale: stale, waitsForCommit: true)
    for machine in machines.prefix(2) {
      #expect(try await ask(machine, origin, options) { _ in .value("old") }?.value == "old")
    }
    try await pass(.minutes(2), time, machines, tier)
    #expect(try await ask(machines[0], origin, options) { _ in .absent } == nil)
    #expect(try machines[0].cache.local.entry(for: "a") == nil)
    time.advance(by: .seconds(1))
    origin.fail()
    await #expect(throws: Origin.Refusal.self) {
      try await ask(machines[2], origin, options) { _ in .absent }
    }
  }

  @Test func `a plain load has a value where the tier or the store has none`() async throws {
    let machines = try await startMachines(2).machines
    #expect(try await ask(machines[0], origin) { _ in .absent } == nil)
    #expect(try await machines[1].read(origin) == "load 2")
    #expect(try await machines[0].read(origin) == "load 2", "the tier has it now")
    #expect(origin.loads == 2)
  }

  @Test func `an unchanged value is known by the validators that the tier has`() async throws {
    let (machines, tier, time) = try await startMachines(3)
    let tag = Validators(entityTag: Array("\"1\"".utf8), lastModified: [7])
    _ = try await ask(machines[0], origin) { _ in
      Loaded("first", expires: .after(.minutes(1)), stale: .hours(1), tags: ["t"], validators: tag)
    }
    try await pass(.minutes(2), time, machines, tier)
    let options = LoadOptions(
      expires: .after(.minutes(3)), stale: Staleness(onError: .hours(1)), waitsForCommit: true)
    let confirmed = try await ask(machines[1], origin, options) { stored in
      stored?.value == "first" && stored?.validators == tag && stored?.metadata == nil
        && stored?.written == machines[1].store.now.advanced(by: .minutes(-2))
        ? .unchanged : .absent
    }
    #expect(confirmed?.value == "first" && confirmed?.source == .loaded)
    let taken = try await ask(machines[2], origin, options) { _ in .absent }
    #expect(taken?.value == "first" && taken?.source == .shared && origin.loads == 2)
    for machine in machines.dropFirst() {
      let entry = try machine.cache.local.entry(for: "a")
      #expect(entry?.entityTag == tag.entityTag && entry?.lastModified == [7])
      #expect(entry?.tags == ["t"], "an unchanged value keeps its tags")
    }
    // Makes the copy stale, and then cuts off the tier, so the load must use the validators of the copy.
    for clock in [time] + machines.map(\.clock) { clock.advance(by: .minutes(4)) }
    try await machines[2].cutOff()
    let alone = try await ask(machines[2], origin, options) { stored in
      stored?.validators == tag && stored?.metadata == nil ? .unchanged : .absent
    }
    #expect(alone?.value == "first" && alone?.error != nil)
    #expect(try machines[2].cache.local.entry(for: "a")?.tags.contains("t") == true)
  }

  /// The entry expires and is purged during the load without the tier. The value must keep its tags nevertheless.
  @Test func `an unchanged value keeps its own lifetime where the rules have none`() async throws {
    let (machines, tier, server) = try await startMachines(1, rules: Rules())
    let machine = machines[0]
    let first = Loaded("first", expires: .after(.minutes(1)), stale: .hours(1), tags: ["t"])
    _ = try await machine.cache.result(for: "a", options: .committed) { _ in first }
    let revalidate = with(LoadOptions.committed) { $0.policy = .revalidate }
    for isCut in [false, true] {
      try await pass(.minutes(2), server, machines, tier)
      if isCut { try await machine.cutOff() }
      _ = try await machine.cache.result(for: "a", options: revalidate) { _ in
        if isCut {
          machine.clock.advance(by: .hours(2))
          _ = try machine.store.purge()
        }
        return .unchanged
      }
      let entry = try #require(try machine.cache.local.entry(for: "a"))
      let end = try #require(entry.expires)
      #expect(end == machine.store.now.advanced(by: .minutes(1)) && entry.tags.contains("t"))
      #expect(entry.staleUntil == end.advanced(by: .hours(1)))
    }
    let fetched = try #require(try await tier.fetch(.a, tags: []))
    #expect(Frame.parse(fetched.frame, for: .a, of: "test").frame?.soft == .minutes(1))
  }

  @Test func `a reload gets no stored value, and nothing is unchanged without one`() async throws {
    let machines = try await startMachines(1).machines
    try await machines[0].cache.set("old", for: "a")
    let reload = LoadOptions(policy: .reload, waitsForCommit: true)
    let result = try await ask(machines[0], origin, reload) { $0 == nil ? .unchanged : .absent }
    #expect((result?.error as? LarderError)?.code == .failed && result?.isStale == true)
    #expect(try machines[0].copy() == "old")
  }

  @Test func `lifetime and tags of an answer reach the other machines`() async throws {
    let (machines, tier, _) = try await startMachines(2)
    let tagged: @Sendable (CachedValue<String>?) -> Loaded<String> = { _ in
      Loaded("tagged", expires: .after(.minutes(1)), stale: .zero, tags: ["t"])
    }
    for machine in machines { _ = try await ask(machine, origin, Self.kept, tagged) }
    #expect(origin.loads == 1)
    let end = machines[1].store.now.advanced(by: .minutes(1))
    #expect(try #require(try machines[1].cache.local.entry(for: "a")?.expires) <= end)
    try await machines[1].cache.invalidate(tag: "t")
    try await machines[0].follow(tier)
    #expect(try machines[0].copy() == nil)
    _ = try await ask(machines[0], origin, Self.kept, tagged)
    #expect(origin.loads == 2)
  }

  @Test func `an answer that cannot be shared is an error`() async throws {
    let machines = try await startMachines(1).machines
    let refused: [Loaded<String>] = [
      Loaded("a", metadata: [1]), Loaded("a", tags: (0...Frame.mostTags).map { "\($0)" }),
    ]
    for answer in refused {
      let error = await code { try await ask(machines[0], origin) { _ in answer } }
      #expect(error == .invalidArgument)
    }
    #expect(try machines[0].copy() == nil)
    // Each refused load has released its lease, so this load does not wait.
    #expect(try await machines[0].read(origin) == "load 3")
  }

  @Test(arguments: [true, false])
  func `an absence that was overtaken is neither returned nor stored`(isHere: Bool) async throws {
    let (machines, tier, _) = try await startMachines(2)
    let origin = Origin(isOpen: false)
    let task = Task { try await ask(machines[0], origin) { _ in .absent }?.value }
    try await waitUntil { origin.loads == 1 }
    try await machines[isHere ? 0 : 1].cache.set("set", for: "a")
    origin.open()
    #expect(try await task.value == "set")
    try await machines[0].follow(tier)
    #expect(try await ask(machines[0], origin) { _ in .absent }?.value == "set")
  }

  @Test func `an absence is asked for again while it is not confirmed`() async throws {
    let machines = try await startMachines(2).machines
    for machine in machines { #expect(try await ask(machine, origin) { _ in .absent } == nil) }
    machines[0].link.cutLog()
    // The reader's request for records still waits. This write completes that request, and the reader's next request fails.
    try await machines[1].cache.set("set", for: "z")
    let (recent, clock) = (machines[0].copies.recent, machines[0].clock)
    try await waitUntil { recent.reader(at: clock.monotonic) == nil }
    try await machines[1].cache.set("set", for: "a")
    clock.advance(by: .seconds(3))
    #expect(try await ask(machines[0], origin) { _ in .absent }?.value == "set")
    let found = try await machines[0].cache.values(for: ["a", "b"], options: Self.kept) { _ in
      _ = try await origin.text()
      return []
    }
    #expect(found == ["set", nil] && origin.loads == 2)
    try await machines[1].cache.set("set", for: "b")
    let again = try await machines[0].cache.values(for: ["b"], options: Self.kept) { _ in [] }
    #expect(again == ["set"])
  }

  @Test func `an absence without the tier ends when the machine is back`() async throws {
    let (machines, tier, _) = try await startMachines(2)
    try await machines[1].cache.set("set", for: "a")
    try await machines[0].cutOff()
    #expect(try await ask(machines[0], origin) { _ in .absent } == nil)
    try await machines[0].restore(tier)
    #expect(try await ask(machines[0], origin) { _ in .absent }?.value == "set")
    #expect(origin.loads == 1)
  }
}
