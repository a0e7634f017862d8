import Larder
import LarderSharedTesting
import TestSupport
import Testing

import class LarderShared.Shared
import struct LarderShared.SharedCache
import struct LarderShared.SharedStatus

@testable import LarderShell
@testable import ShellLanguage

/// What the shell says of a tier that machines share, from the records of the store.
@Suite struct SharedCommandTests {
  private func cache(_ shell: Shell, _ tier: MemoryTier) -> SharedCache<String> {
    shell.store.cache(TextCodec(), in: "prices", shared: Shared(tier))
  }

  @Test func `shared shows the state, the position and what waits`() async throws {
    let shell = try Shell()
    #expect(try shell("shared") == "this store has no cache that machines share\n")
    #expect(
      try shell("output json", "shared").hasPrefix("{\"application\":null,\"state\":\"none\","))
    try shell("output table")
    let tier = MemoryTier(application: "shop", clock: shell.clock)
    let link = TierLink(to: tier)
    let cache = shell.store.cache(TextCodec(), in: "prices", shared: Shared(link))
    // A copy is kept from the first contact with the log on.
    try await waitUntil { try SharedStatus(of: shell.store)?.isConfirmed ?? false }
    try await cache.set("1", for: "a")
    try await waitUntil { try SharedStatus(of: shell.store)?.applied == tier.newest }
    let lines = try shell("shared").split(separator: "\n").map { $0.split(separator: " ") }
    let facts = Dictionary(
      uniqueKeysWithValues: lines.map { ($0[0], $0.dropFirst().joined(separator: " ")) })
    #expect(facts["application"] == "shop")
    #expect(facts["state"] == "confirmed")
    #expect(facts["position"] == tier.newest?.description)
    #expect(facts["outbox"] == "0")
    #expect(facts["namespaces"] == "prices")
    #expect(try shell("stats").contains("shop, confirmed"))
    #expect(try shell("info @prices a").contains(", confirmed"))
    link.cut()
    await #expect(throws: LarderError.self) { try await cache.remove("a") }
    #expect(try shell("output json", "shared").contains("\"outbox\":1"))
    // Half an hour later, without the process that read the log.
    shell.clock.advance(by: .minutes(30))
    #expect(try shell("stats").contains("shop, unconfirmed"))
  }
}
