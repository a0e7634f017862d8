import Testing

@testable import Larder

@Suite struct ModelTests {
  /// `LARDER_TEST_SEED` sees a failure again, `LARDER_TEST_SEEDS` and `LARDER_TEST_STEPS` make the run longer
  /// or shorter than 60 seeds of 2,000 steps.
  private static let first = setting("LARDER_TEST_SEED", otherwise: .random(in: 0..<1_000_000))
  private static let seeds = first..<first + setting("LARDER_TEST_SEEDS", otherwise: 60)
  private static let steps = setting("LARDER_TEST_STEPS", otherwise: 2000)

  @Test(arguments: seeds)
  func `whatever is done, the store does what the model says`(seed: Int) throws {
    try withDirectory { path in
      do {
        var run = try ModelRun(seed: seed, path: path)
        try run.run(steps: Self.steps)
      } catch {
        Issue.record("LARDER_TEST_SEED=\(seed): \(error)")
      }
    }
  }
}
