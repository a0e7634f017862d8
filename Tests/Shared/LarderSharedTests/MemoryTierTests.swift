import LarderSharedTesting
import Testing

@Suite struct MemoryTierTests {
  @Test(arguments: TierConformance.allCases)
  func theTierInMemoryKeepsTheRules(_ check: TierConformance) async throws {
    try await check.run(on: MemoryTier())
  }
}
