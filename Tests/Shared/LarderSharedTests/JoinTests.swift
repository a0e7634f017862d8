import LarderSharedTesting
import TestSupport
import Testing

@testable import Larder
@testable import LarderShared

/// A caller that comes after a change does not get the outcome of a load that began before it.
@Suite struct JoinTests {
  @Test(arguments: SharedChange.removals)
  func aPendingRemovalEndsTheJoiningOfEarlierLoads(change: SharedChange) async throws {
    let machines = try await startMachines(1).machines
    let (machine, origin) = (machines[0], Origin(isOpen: false))
    try await machine.cutOff()
    let options = LoadOptions(tags: ["t"])
    let first = Task { try await machine.read("a", options: options, origin) }
    try await waitUntil { origin.loads == 1 }
    #expect(await code { try await change.make(in: machine.cache) } == .pending)
    let second = Task { try await machine.read("a", options: options, origin) }
    try await waitUntil { origin.loads == 2 }
    origin.open()
    #expect(try await first.value == "load 1")
    #expect(try await second.value == "load 2")
  }

  /// The second machine reads the log late, as with a busy reader.
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
    try await waitUntil {
      // The call has joined the load, or has a load of its own, which needs no time of the tier.
      time.advance(by: .milliseconds(1))
      return loads.callers() > 1 || tier.requests > before + 2
    }
    time.advance(by: .seconds(2))
    #expect(try await current.value == "new")
    _ = try await first.value
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
    #expect(result.value == "load 2" || !result.isConfirmed)
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
    #expect(result.value == "value" && result.source == .shared)
    #expect(origin.loads == 0)
    #expect(try far.copy() == "value")
  }

  @Test func aRemovalWhoseCallerIsCancelledActsHereAllTheSame() async throws {
    let (machines, tier, _) = try await startMachines(1)
    let machine = machines[0]
    try await machine.cache.set("old", for: "a")
    let before = tier.requests
    tier.fail(next: 1, with: .delay(.seconds(1)))
    let removal = Task { try await machine.cache.remove("a") }
    try await waitUntil { tier.requests > before }
    removal.cancel()
    #expect(await code { try await removal.value } == .pending)
    #expect(try machine.copy() == nil)
  }
}
