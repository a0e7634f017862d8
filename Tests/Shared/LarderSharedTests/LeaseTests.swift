import Larder
import LarderSharedTesting
import TestSupport
import Testing

@testable import LarderShared

/// One load for all machines, also when the machine with the lease fails.
@Suite struct LeaseTests {
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
    let origin = Origin()
    // Simulates a killed process: it has the lease, and renews nothing.
    let dead = try await tier.acquire(.a, rejecting: nil, as: LeaseToken(), for: .seconds(3))
    guard case .granted(let lease) = dead else {
      return #expect(Bool(false), "the lease was not granted")
    }
    let read = Task { try await machines[0].read(origin) }
    try await waitUntil { machines[0].shared.statistics.waits > 0 }
    #expect(origin.loads == 0)
    try await whileTimePasses(machines, server) { origin.loads == 1 }
    #expect(try await read.value == "load 1")
    #expect(server.monotonic >= .seconds(3))
    let value = TierValue(frame: [1], lifetime: .seconds(1), tags: [])
    #expect(try await tier.fill(.a, value, lease) == nil, "the dead holder comes too late")
  }

  @Test func aLongLoadKeepsItsLease() async throws {
    let (machines, tier, server) = try await startMachines(2)
    let origin = Origin(isOpen: false)
    let holder = Task { try await machines[0].read(origin) }
    try await waitUntil { origin.loads == 1 }
    let waiting = Task { try await machines[1].read(origin) }
    try await waitUntil { machines[1].shared.statistics.waits == 1 }
    // Twenty seconds of the server pass in steps of one second; the holder renews its lease in each step.
    for _ in 0..<20 {
      let before = tier.requests
      try await waitUntil {
        machines[0].clock.advance(by: .milliseconds(200))
        return tier.requests > before
      }
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
    let (hung, origin) = (Origin(isOpen: false), Origin())
    let holder = Task { try await machines[0].read(hung) }
    try await waitUntil { hung.loads == 1 }
    let read = Task {
      try await machines[1].cache.result(for: "a") { try await origin.load() }
    }
    try await whileTimePasses([machines[1]], by: .seconds(1)) { origin.loads == 1 }
    let result = try await read.value
    #expect(result.value == "load 1")
    #expect((result.error as? LarderError)?.code == .busy)
    hung.open()
    _ = try await holder.value
  }

  @Test func aFailedLoadFreesTheLeaseAndServesTheStaleValue() async throws {
    let (machines, _, server) = try await startMachines(2)
    let origin = Origin()
    origin.fail()
    await #expect(throws: Origin.Refusal.self) { try await machines[0].read(origin) }
    origin.fail(false)
    #expect(try await machines[1].read(origin) == "load 2")
    server.advance(by: .minutes(11))
    origin.fail()
    let stale = LoadOptions(stale: Staleness(onError: .minutes(30)), waitsForCommit: true)
    let result = try await machines[0].cache.result(for: "a", options: stale) {
      try await origin.load()
    }
    #expect(result.value == "load 2")
    #expect(result.isStale)
    #expect(result.error is Origin.Refusal)
  }

  @Test func whileAnotherMachineLoadsAStaleValueIsServedWithinItsWindow() async throws {
    let (machines, _, server) = try await startMachines(2)
    let origin = Origin()
    _ = try await machines[0].read(origin)
    server.advance(by: .minutes(11))
    machines[0].clock.advance(by: .minutes(11))
    origin.close()
    let exact = LoadOptions(stale: Staleness(), waitsForCommit: true)
    let loading = Task { try await machines[0].read(options: exact, origin) }
    try await waitUntil { origin.loads == 2 }
    let options = LoadOptions(stale: Staleness(whileRevalidating: .minutes(30)))
    let result = try await machines[1].cache.result(for: "a", options: options) {
      try await origin.load()
    }
    #expect(result.value == "load 1")
    #expect(result.isStale)
    origin.open()
    #expect(try await loading.value == "load 2")
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
    let origin = Origin()
    _ = try await machines[0].read(origin)
    let reload = LoadOptions(policy: .reload, waitsForCommit: true)
    #expect(try await machines[1].read(options: reload, origin) == "load 2")
    let revalidate = LoadOptions(policy: .revalidate, waitsForCommit: true)
    #expect(try await machines[0].read(options: revalidate, origin) == "load 3")
    let current = try await machines[1].current(origin)
    #expect(current?.value == "load 3")
  }
}
