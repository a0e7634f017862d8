import Larder
import LarderSharedTesting
import TestSupport
import Testing

@testable import LarderShared

/// Requests that no store could serve do not reach the tier, and values that cannot be kept are loaded only once.
@Suite struct RefusalTests {
  @Test func tooManyTagsAreRefusedBeforeTheLoad() async throws {
    try await withMachines(1) { machines, tier in
      let (origin, before) = (Origin(), tier.requests)
      let options = LoadOptions(tags: (0...Frame.mostTags).map { "t\($0)" })
      #expect(
        await code { _ = try await machines[0].read("a", options: options, origin) }
          == .invalidArgument)
      #expect(origin.loads == 0 && tier.requests == before)
    }
  }

  @Test func aKeyThatNoStoreTakesIsLoadedWithoutTheTier() async throws {
    try await withMachines(1) { machines, tier in
      let (origin, before) = (Origin(), tier.requests)
      for key in ["", String(repeating: "k", count: Key.longest + 1)] {
        let result = try await machines[0].result(key, origin)
        #expect((result.error as? LarderError)?.code == .invalidArgument)
      }
      #expect(origin.loads == 2 && tier.requests == before)
    }
  }

  @Test func aValueThatTheNamespaceRefusesIsNotSet() async throws {
    let tier = MemoryTier(clock: ManualClock())
    let machine = try Machine(tier, rules: Rules(largestValue: 10))
    try await machine.follow(tier)
    let before = tier.requests
    let long = String(repeating: "x", count: 11)
    #expect(await code { try await machine.cache.set(long, for: "a") } == .overLimit)
    #expect(tier.requests == before)
    let result = try await machine.cache.result(for: "a") { long }
    #expect(result.value == long && (result.error as? LarderError)?.code == .overLimit)
  }

  @Test(arguments: [LocalState.namespace, Outbox.namespace])
  func theTiersOwnNamespacesAreNotShared(name: String) async throws {
    try await withMachines(1) { machines, _ in
      let machine = machines[0]
      let cache = machine.store.cache(TextCodec(), in: name, shared: machine.shared)
      #expect(await code { try await cache.set("a", for: "a") } == .invalidArgument)
      #expect(await code { try await cache.clear() } == .invalidArgument)
      #expect(await code { _ = try await cache.value(for: "a") { "a" } } == .invalidArgument)
    }
  }

  /// Damage may leave a position from the future of the log: every load would then count as overtaken.
  @Test func aChangeAheadOfTheLogCostsOneLoad() async throws {
    try await withMachines(1) { machines, _ in
      let (machine, origin) = (machines[0], Origin())
      try await machine.cutOff()
      machine.copies.recent.note(.key(.a), at: Position(milliseconds: 1 << 43, sequence: 0))
      let result = try await machine.result(origin)
      #expect(result.value == "load 1" && !result.isConfirmed)
      #expect(origin.loads == 1)
    }
  }

  @Test func copiesOfAnotherApplicationAreNotTrusted() async throws {
    try await withMachines(1) { machines, tier in
      let machine = machines[0]
      let other = Shared(MemoryTier(application: "other", clock: ManualClock()))
      let copies = other.copies(of: machine.store)
      #expect(machine.standing == .confirmed)
      #expect(copies.standing(limit: .hours(1)) == .disconnected)
    }
  }
}
