import LarderSharedTesting
import TestSupport
import Testing

@testable import Larder
@testable import LarderShared

/// One machine loads a key, and the other machines wait for the value. If that machine fails, another machine loads the key.
@Suite struct LeaseTests {
  private let origin = Origin()

  @Test func fiftyMachinesLoadAKeyOnce() async throws {
    let machines = try await startMachines(50).machines
    let origin = Origin(isOpen: false)
    let values = Task {
      try await withThrowingTaskGroup(of: String.self) { group in
        for machine in machines { group.addTask { try await machine.read(origin) } }
        return try await group.reduce(into: Set<String>()) { $0.insert($1) }
      }
    }
    try await waitUntil { machines.map(\.shared.statistics.waits).filter { $0 > 0 }.count == 49 }
    origin.open()
    try await whileTimePasses(machines, by: .milliseconds(100)) {
      machines.allSatisfy { (try? $0.copy()) != nil }
    }
    #expect(try await values.value == ["load 1"])
    #expect(origin.loads == 1)
  }

  @Test func aHolderThatNeverEndsIsReplacedAfterItsLease() async throws {
    let (machines, tier, server) = try await startMachines(1)
    // Simulates a killed process, which has the lease but never renews the lease.
    let dead = try await tier.acquire(.a, rejecting: nil, as: LeaseToken(), for: .seconds(3))
    guard case .granted(let lease) = dead else {
      return #expect(Bool(false), "the lease was not granted")
    }
    let read = Task { try await machines[0].read(origin) }
    try await waitUntil { machines[0].shared.statistics.waits > 0 }
    #expect(origin.loads == 0)
    try await whileTimePasses(machines, server, by: .milliseconds(200)) { origin.loads == 1 }
    #expect(try await read.value == "load 1")
    #expect(server.monotonic >= .seconds(3))
    let value = TierValue(frame: [1], lifetime: .seconds(1), tags: [])
    #expect(try await tier.fill(.a, value, lease) == nil, "the dead holder comes too late")
  }

  /// The lifetime is shorter than `refreshAhead`, so only the second half of the lifetime counts as near the expiry.
  @Test(arguments: [RequestPolicy.standard, .cacheElseLoad])
  func aValueNearItsExpiryIsLoadedInAdvanceByOneMachine(_ policy: RequestPolicy) async throws {
    let (machines, tier, server) = try await startMachines(2)
    let options = LoadOptions(
      policy: policy, expires: .after(.minutes(1)), refreshAhead: .minutes(2), waitsForCommit: true)
    for machine in machines {
      #expect(try await machine.read(origin, options: options) == "load 1")
    }
    try await pass(.seconds(40), server, machines, tier)
    #expect(try await machines[0].read(origin, options: options) == "load 1")
    try await waitUntil { try machines[0].copy() == "load 2" }
    #expect(try await machines[1].read(origin, options: options) == "load 1")
    try await waitUntil { try machines[1].copy() == "load 2" }
    #expect(origin.loads == 2)
  }

  @Test func aMachineWithoutACopyDoesNotWaitForALoadInAdvance() async throws {
    let (machines, tier, server) = try await startMachines(2)
    let options = LoadOptions(
      expires: .after(.minutes(1)), refreshAhead: .seconds(20), waitsForCommit: true)
    _ = try await machines[0].read(origin, options: options)
    try await pass(.seconds(50), server, machines, tier)
    origin.fail()
    let result = try await machines[1].result(origin, options: options)
    #expect(result.value == "load 1" && result.source == .shared && result.error == nil)
    #expect(origin.loads == 1)
    origin.fail(false)
    #expect(try await machines[1].read(origin, options: options) == "load 1")
    try await waitUntil { try machines[1].copy() == "load 2" }
  }

  @Test func aLongLoadKeepsItsLease() async throws {
    let (machines, tier, server) = try await startMachines(2)
    let origin = Origin(isOpen: false)
    let holder = Task { try await machines[0].read(origin) }
    try await waitUntil { origin.loads == 1 }
    let waiting = Task { try await machines[1].read(origin) }
    try await waitUntil { machines[1].shared.statistics.waits == 1 }
    // The server's clock moves by twenty seconds, in steps of one second. The holder renews its lease before each step.
    for _ in 0..<20 {
      let before = tier.requests
      try await whileTimePasses([machines[0]], by: .milliseconds(200)) { tier.requests > before }
      server.advance(by: .seconds(1))
    }
    #expect(origin.loads == 1)
    origin.open()
    #expect(try await holder.value == "load 1")
    try await whileTimePasses(machines) { (try machines[1].copy()) != nil }
    #expect(try await waiting.value == "load 1")
    #expect(origin.loads == 1)
  }

  @Test func aLoadThatNeverEndsStopsNoOtherMachineForLong() async throws {
    let machines = try await startMachines(2).machines
    let hung = Origin(isOpen: false)
    let holder = Task { try await machines[0].read(hung) }
    try await waitUntil { hung.loads == 1 }
    let read = Task { try await machines[1].result(origin) }
    try await whileTimePasses([machines[1]], by: .seconds(1)) { origin.loads == 1 }
    let result = try await read.value
    #expect(result.value == "load 1")
    #expect((result.error as? LarderError)?.code == .busy)
    hung.open()
    _ = try await holder.value
  }

  @Test func aFailedLoadFreesTheLeaseAndServesTheStaleValue() async throws {
    let (machines, _, server) = try await startMachines(2)
    origin.fail()
    await #expect(throws: Origin.Refusal.self) { try await machines[0].read(origin) }
    origin.fail(false)
    #expect(try await machines[1].read(origin) == "load 2")
    server.advance(by: .minutes(11))
    origin.fail()
    let stale = LoadOptions(stale: Staleness(onError: .minutes(30)), waitsForCommit: true)
    let result = try await machines[0].result(origin, options: stale)
    #expect(result.value == "load 2" && result.isStale && !result.isConfirmed)
    #expect(result.error is Origin.Refusal)
    origin.close()
    let late = Task { try await machines[0].result(origin, options: stale) }
    try await waitUntil { origin.loads == 4 }
    // Only the wall clock moves, as on a suspended machine.
    machines[0].clock.set(to: machines[0].clock.now.advanced(by: .minutes(50)))
    origin.open()
    await #expect(throws: Origin.Refusal.self) { try await late.value }
  }

  @Test func whileAnotherMachineLoadsAStaleValueIsServedWithinItsWindow() async throws {
    let (machines, tier, server) = try await startMachines(2)
    _ = try await machines[0].read(origin)
    server.advance(by: .minutes(11))
    machines[0].clock.advance(by: .minutes(11))
    origin.close()
    let exact = LoadOptions(stale: Staleness(), waitsForCommit: true)
    let loading = Task { try await machines[0].read(origin, options: exact) }
    try await waitUntil { origin.loads == 2 }
    let options = LoadOptions(stale: Staleness(whileRevalidating: .minutes(30)))
    let result = try await machines[1].result(origin, options: options)
    #expect(result.value == "load 1" && result.isStale)
    // The machine has the value now. So a refresh waits, and each look after the first is only a request for the lease.
    let requests = tier.requests
    #expect(try await machines[1].read(origin, options: options) == "load 1")
    try await whileTimePasses([machines[1]]) { machines[1].shared.statistics.waits > 3 }
    try await waitUntil { tier.requests - requests == machines[1].shared.statistics.waits + 1 }
    origin.open()
    #expect(try await loading.value == "load 2")
    try await whileTimePasses([machines[1]]) { try machines[1].copy() == "load 2" }
  }

  @Test func aCancelledLoadFreesTheLease() async throws {
    let machines = try await startMachines(2).machines
    let origin = Origin(isOpen: false)
    let cancelled = Task { try await machines[0].read(origin) }
    try await waitUntil { origin.loads == 1 }
    cancelled.cancel()
    await #expect(throws: CancellationError.self) { try await cancelled.value }
    origin.open()
    let read = Task { try await machines[1].read(origin) }
    try await whileTimePasses(machines) { (try machines[1].copy()) != nil }
    #expect(try await read.value == "load 2")
  }

  @Test func aReloadLoadsWhateverTheTierHas() async throws {
    let machines = try await startMachines(2).machines
    _ = try await machines[0].read(origin)
    let reload = LoadOptions(policy: .reload, waitsForCommit: true)
    #expect(try await machines[1].read(origin, options: reload) == "load 2")
    let revalidate = LoadOptions(policy: .revalidate, waitsForCommit: true)
    #expect(try await machines[0].read(origin, options: revalidate) == "load 3")
    #expect(try await machines[1].current(origin)?.value == "load 3")
  }
}

/// A caller that comes after a change does not get the outcome of a load that began before the change.
@Suite struct JoinTests {
  @Test(arguments: SharedChange.removals)
  func aPendingRemovalEndsTheJoiningOfEarlierLoads(change: SharedChange) async throws {
    let (machine, origin) = (try await startMachines(1).machines[0], Origin(isOpen: false))
    try await machine.cutOff()
    let options = LoadOptions(tags: ["t"])
    let first = Task { try await machine.read(origin, options: options) }
    try await waitUntil { origin.loads == 1 }
    #expect(await code { try await change.make(in: machine.cache) } == .pending)
    let second = Task { try await machine.read(origin, options: options) }
    try await waitUntil { origin.loads == 2 }
    origin.open()
    #expect(try await [first.value, second.value] == ["load 1", "load 2"])
  }

  /// The test cuts the log of the second machine, so this machine does not read the change, like a machine with a busy reader.
  @Test func theCurrentResultIsNotThatOfAnEarlierFetch() async throws {
    let (machines, tier, time) = try await startMachines(2)
    let (near, far) = (machines[0], machines[1])
    try await near.cache.set("old", for: "a")
    try await far.follow(tier)
    far.link.cutLog()
    let before = tier.requests
    tier.fail(next: 1, with: .lateReply(.seconds(1)))
    let first = Task { try await far.read(Origin()) }
    try await waitUntil { tier.requests > before }
    try await near.cache.set("new", for: "a")
    let current = Task { try await far.current(Origin())?.value }
    let loads = far.store.engine.loads.running
    // Lets time pass until the call has joined the first load, or has asked the tier in a load of its own.
    try await whileTimePasses([], time, by: .milliseconds(1)) {
      loads.callers() > 1 || tier.requests > before + 2
    }
    time.advance(by: .seconds(2))
    #expect(try await current.value == "new")
    _ = try await first.value
    // The copy of the machine does not replace a failed load.
    let failing = Origin()
    failing.fail()
    try await near.cache.remove("a")
    await #expect(throws: Origin.Refusal.self) { try await far.current(failing) }
  }

  @Test func aJoinedLoadIsNotConfirmedWhileTheLogCannotBeRead() async throws {
    let (machines, tier, _) = try await startMachines(2, options: SharedOptions(maxValueSize: 4))
    let (near, far, origin) = (machines[0], machines[1], Origin(isOpen: false))
    try await near.cache.set("old and large", for: "a")
    try await far.follow(tier)
    far.link.cutLog()
    let first = Task { try await far.result(origin) }
    try await waitUntil { origin.loads == 1 }
    try await near.cache.set("new and large", for: "a")
    far.clock.advance(by: .seconds(3))
    let second = Task { try await far.result(origin) }
    let loads = far.store.engine.loads.running
    try await waitUntil { loads.callers() == 2 || origin.loads == 2 }
    origin.open()
    _ = try await first.value
    let result = try await second.value
    // If the reader still got the change, the first load is repeated, so any later load may give the value.
    #expect(result.value != "load 1" || !result.isConfirmed)
  }

  @Test func aNegativeEntryOfTheLocalCacheDoesNotHideTheTier() async throws {
    let machines = try await startMachines(2).machines
    let (near, far) = (machines[0], machines[1])
    let options = LoadOptions(absent: .after(.minutes(5)), waitsForCommit: true)
    let none = try await far.cache.local.value(for: "a", options: options) { _ in .absent }
    #expect(none == nil)
    try await near.cache.set("value", for: "a")
    let origin = Origin()
    let result = try await far.result(origin)
    #expect(result.value == "value" && result.source == .shared && origin.loads == 0)
    #expect(try far.copy() == "value")
  }
}
