import TestSupport
import Testing

@testable import Larder

@Suite struct ModelTests {
  /// A run of 60 seeds of 2,000 steps is part of the trials.
  private static let seeds = TestSettings.seeds(corpus: 6)
  private static let steps = TestSettings.trials > 1 ? 2000 : 1200

  @Test(arguments: seeds)
  func `whatever is done, the store does what the model says`(seed: UInt64) throws {
    try withTemporaryDirectory { path in
      do {
        var run = try ModelRun(seed: seed, path: path)
        try run.run(steps: Self.steps)
      } catch {
        Issue.record("LARDER_SEED=\(seed): \(error)")
      }
    }
  }
}
