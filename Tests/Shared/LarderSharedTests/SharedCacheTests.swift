import LarderSharedTesting
import LarderSystem
import TestSupport
import Testing

@testable import Larder
@testable import LarderShared

@Suite struct SharedCacheTests {
  private let origin = Origin()

  @Test(arguments: [1, 5000])
  func theSecondMachineTakesWhatTheFirstHasLoaded(length: Int) async throws {
    let (machines, tier, _) = try await startMachines(2)
    let key = String(repeating: "k", count: length)
    #expect(try await machines[0].read(origin, for: key) == "load 1")
    let result = try await machines[1].result(origin, for: key)
    #expect(result.value == "load 1" && result.source == .shared)
    #expect(origin.loads == 1 && machines[1].shared.statistics.hits == 1)
    let requests = tier.requests
    for machine in machines { #expect(try await machine.read(origin, for: key) == "load 1") }
    #expect(tier.requests == requests, "the copies answer without the tier")
    #expect(try await machines[1].read(origin, for: key + "k") == "load 2")
  }

  @Test func aSetIsReadByMachinesWithoutACopyAndByThoseThatAskTheTier() async throws {
    let (machines, tier, _) = try await startMachines(3)
    _ = try await machines[1].read(origin)
    try await machines[0].cache.set("new", for: "a")
    #expect(try machines[0].copy() == "new")
    #expect(try await machines[2].read(origin) == "new")
    try await machines[1].follow(tier)
    #expect(try machines[1].copy() == nil)
    #expect(try await machines[1].current(origin)?.value == "new")
    #expect(try await machines[1].read(origin) == "new")
    #expect(origin.loads == 1)
  }

  @Test func aStaleValueOfTheTierIsStaleForAMachineWithoutACopy() async throws {
    let (machines, tier, server) = try await startMachines(2)
    _ = try await machines[0].read(origin)
    try await pass(.minutes(11), server, machines, tier)
    let options = LoadOptions(policy: .cacheElseLoad)
    for _ in 0..<2 {
      let result = try await machines[1].result(origin, options: options)
      #expect(result.value == "load 1" && result.isStale && result.isConfirmed)
    }
    #expect(origin.loads == 1)
  }

  @Test func aCopyEndsNotLaterThanTheValue() async throws {
    let (machines, tier, server) = try await startMachines(1)
    _ = try await machines[0].read(origin)
    // The value has one minute left when a machine copies it. This machine's wall clock is a day ahead, which must not matter.
    server.advance(by: .minutes(9))
    let late = try Machine(tier, at: machines[0].store.now.advanced(by: .days(1)))
    try await late.follow(tier)
    #expect(try await late.read(origin) == "load 1")
    late.clock.advance(by: .milliseconds(59_000 * 9 / 10))
    #expect(try await late.result(origin).source != .loaded)
    late.clock.advance(by: .minutes(1))
    server.advance(by: .minutes(1))
    let exact = LoadOptions(stale: Staleness(), waitsForCommit: true)
    #expect(try await late.read(origin, options: exact) == "load 2")
  }

  @Test func aValueLoadedBeforeARemovalIsStoredNowhere() async throws {
    let (machines, tier, server) = try await startMachines(3)
    _ = try await machines[0].read(origin)
    try await pass(.minutes(11), server, machines, tier)
    origin.close()
    async let loaded = machines[0].read(
      origin, options: LoadOptions(stale: Staleness(), waitsForCommit: true))
    try await waitUntil { origin.loads == 2 }
    try await machines[1].cache.remove("a")
    try await machines[0].follow(tier)
    origin.open()
    #expect(try await loaded == "load 3", "callers that came after the removal wait for it too")
    #expect(try machines[0].copy() == "load 3")
    #expect(machines[0].shared.statistics.overtaken == 1)
    #expect(try await machines[2].read(origin) == "load 3")
  }

  @Test func aCallAfterARemovalDoesNotJoinALoadBeforeIt() async throws {
    let machines = try await startMachines(1).machines
    let (machine, first, second) = (machines[0], Origin(isOpen: false), Origin())
    async let old = machine.cache.value(for: "a") { "old " + (try await first.text()) }
    try await waitUntil { first.loads == 1 }
    try await machine.cache.invalidate(tag: "other")
    #expect(machine.store.engine.loads.running.count == 1, "callers may still join the load")
    try await machine.cache.remove("a")
    let value = try await machine.cache.value(for: "a") { "new " + (try await second.text()) }
    #expect(value == "new load 1")
    first.open()
    #expect(try await old == "new load 1", "the value that was loaded before is stored nowhere")
    #expect(try await machine.read(second) == "new load 1")
  }

  /// The fetched value must not be stored after the machine's own later change. Nil means a removal that waits for the tier.
  @Test(arguments: [.set, .remove, .clear, .invalidate, nil] as [SharedChange?])
  func aFetchIsNotStoredAfterALaterChange(_ change: SharedChange?) async throws {
    let (machines, tier, _) = try await startMachines(2)
    let (machine, other) = (machines[0], machines[1])
    try await other.cache.set("old", for: "a", tags: ["t"])
    let fetched = try #require(try await tier.fetch(.a, tags: ["t"]))
    let ticket = try machine.copies.ticket()
    #expect(try await machine.mayStore(fetched, ticket, tags: ["t"]))
    if let change {
      try await change.make(in: machine.cache)
    } else {
      tier.fail(next: 1, with: .unreachable)
      #expect(await code { try await machine.cache.remove("a") } == .pending)
    }
    #expect(try await !machine.mayStore(fetched, ticket, tags: ["t"]))
    #expect(try await machine.read(Origin()) == (change == .set ? "new" : "load 1"))
  }

  /// Copies that are made at the same time expire at different times in the last tenth of their lifetime.
  @Test func copiesOfOneMomentEndAtDifferentTimes() async throws {
    let machines = try await startMachines(2).machines
    let (cache, store) = (machines[1].cache, machines[1].store)
    for index in 0..<40 {
      _ = try await machines[0].read(Origin(), for: "\(index)")
      _ = try await machines[1].read(Origin(), for: "\(index)")
    }
    let lifetimes = try (0..<40).compactMap { index in
      try cache.local.entry(for: "\(index)")?.expires.map { store.now.duration(to: $0) }
    }
    #expect(lifetimes.count == 40)
    for lifetime in lifetimes { #expect(lifetime >= .minutes(9) && lifetime <= .minutes(10)) }
    #expect(Set(lifetimes).count > 20)
  }

  /// The server's new log has lower positions than the fetched value, so its records cannot show that the value is old.
  @Test func aFetchOfALostHistoryIsNotStored() async throws {
    let (machines, tier, _) = try await startMachines(2)
    for _ in 0..<5 { try await machines[1].cache.set("old", for: "a") }
    try await machines[0].follow(tier)
    let fetched = try #require(try await tier.fetch(.a, tags: []))
    let ticket = try machines[0].copies.ticket()
    tier.failOver(to: MemoryTier().image)
    try await whileTimePasses(machines) { machines[0].shared.statistics.gaps == 1 }
    try await machines[0].follow(tier)
    #expect(machines[0].copies.isCurrent(.a, tags: [], at: fetched.head))
    #expect(try await !machines[0].mayStore(fetched, ticket))
  }

  /// Two loads without a change between them give values of the same version. Only the value of the later load may be stored.
  @Test func anOlderFillDoesNotReplaceANewerOne() async throws {
    let (machines, tier, _) = try await startMachines(1)
    #expect(try await machines[0].read(origin) == "load 1")
    let first = try #require(try await tier.fetch(.a, tags: []))
    let ticket = try machines[0].copies.ticket()
    let reload = LoadOptions(policy: .reload, waitsForCommit: true)
    #expect(try await machines[0].read(origin, options: reload) == "load 2")
    let second = try #require(try await tier.fetch(.a, tags: []))
    #expect(first.stamp.version == second.stamp.version)
    #expect(try await !machines[0].mayStore(first, ticket))
    #expect(try await machines[0].mayStore(second, ticket))
  }

  @Test func aLargeValueStaysOnItsMachine() async throws {
    let options = SharedOptions(maxValueSize: 4)
    let (machines, tier, _) = try await startMachines(2, options: options)
    #expect(try await machines[0].read(origin) == "load 1")
    #expect(try await machines[1].read(origin) == "load 2")
    #expect(try await machines[0].read(origin) == "load 1")
    try await machines[1].cache.set("large value", for: "a")
    #expect(try machines[1].copy() == "large value")
    try await machines[0].follow(tier)
    #expect(try await machines[0].current(origin)?.value == "load 3", "the tier has only a mark")
    origin.close()
    let late = Task {
      try await machines[0].cache.currentResult(for: "a") { stored in
        #expect(stored?.value == "load 3")
        return .value(try await origin.text())
      }
    }
    try await waitUntil { origin.loads == 4 }
    try await machines[0].cutOff()
    origin.open()
    #expect(try await late.value?.isConfirmed == false)
  }

  @Test func damageAndOtherCodecsAreMissesAndALaterLayoutStays() async throws {
    let (machines, tier, _) = try await startMachines(2)
    for (count, place) in [0, 20].enumerated() {
      try await machines[1].cache.remove("a")
      try await machines[1].cache.set("damaged", for: "a")
      tier.damage(.a) { $0[place] ^= 8 }
      try await machines[0].follow(tier)
      #expect(try await machines[0].read(origin) == "load \(count + 1)")
      #expect(machines[0].shared.statistics.damaged == count + 1)
      #expect(machines[0].shared.statistics.newer == 0)
      let frame = try #require(try await tier.fetch(.a, tags: [])).frame
      #expect(Frame.parse(frame, for: .a, of: "test") != .damaged, "it was replaced")
    }
    try await machines[0].cache.remove("a")
    try await machines[1].cache.set("kept", for: "a")
    tier.damage(.a) { frame in
      frame.removeLast(8)
      frame[0] = 9
      frame.append(bigEndian: Frame.checksum(of: frame, for: .a, "test"))
    }
    let found = try await tier.fetch(.a, tags: [])
    try await machines[0].follow(tier)
    #expect(try await machines[0].read(origin) == "load 3")
    #expect(machines[0].shared.statistics.newer == 1)
    #expect(try await tier.fetch(.a, tags: [])?.stamp == found?.stamp)
  }
}
