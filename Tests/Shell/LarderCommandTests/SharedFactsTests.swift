import Larder
import LarderShell
import ShellLanguage
import TestSupport
import Testing

import class LarderShared.Shared
import struct LarderShared.SharedCache
import struct LarderShared.SharedStatus
import class LarderSharedTesting.MemoryTier
import class LarderSharedTesting.TierLink

@testable import LarderCommand

/// The facts that `larder` shows about a shared tier, from the records of the store.
@Suite struct SharedFactsTests {
  private func facts(_ store: Store) throws -> [String: Cell] {
    Dictionary(
      uniqueKeysWithValues: try Additions.shared.storeFacts(store).map { ($0.name, $0.cell) })
  }

  @Test func `stats and info show the state, the position and what waits`() async throws {
    let clock = ManualClock(now: Timestamp(milliseconds: 1_795_000_000_000))
    let store = try Store.temporary(options: Store.Options(clock: clock))
    #expect(try facts(store).isEmpty)
    #expect(try Additions.shared.entryFacts(store.namespace("prices")) == nil)
    let tier = MemoryTier(application: "shop", clock: clock)
    let link = TierLink(to: tier)
    let cache: SharedCache<String> = store.cache(TextCodec(), in: "prices", shared: Shared(link))
    // A machine keeps copies only after its first contact with the log.
    try await waitUntil { try SharedStatus(of: store)?.isConfirmed ?? false }
    try await cache.set("1", for: "a")
    try await waitUntil { try SharedStatus(of: store)?.applied == tier.newest }
    let known = try facts(store)
    #expect(known["shared_application"] == .text("shop"))
    #expect(known["shared_state"] == .text("confirmed"))
    #expect(known["shared_position"] == tier.newest.map { .text($0.description) })
    #expect(known["shared_outbox"] == .number(0))
    #expect(known["shared_namespaces"] == .list([.text("prices")]))
    let entry = try #require(try store.namespace("prices").entry(for: "a"))
    let ofEntry = try #require(try Additions.shared.entryFacts(store.namespace("prices")))
    guard case .text(let words)? = ofEntry(entry).first?.cell else {
      Issue.record("an entry of the tier has no fact")
      return
    }
    #expect(words.hasSuffix(", confirmed"))
    link.cut()
    await #expect(throws: LarderError.self) { try await cache.remove("a") }
    #expect(try facts(store)["shared_outbox"] == .number(1))
    // Half an hour passes without a reader of the log.
    clock.advance(by: .minutes(30))
    guard case .text(let state)? = try facts(store)["shared_state"] else { return }
    #expect(state.hasPrefix("unconfirmed"))
  }
}
