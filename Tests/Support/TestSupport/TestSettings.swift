import Foundation

/// The environment variables of the tests.
///
/// - `LARDER_SEED` replaces the seed of every random test. The message of a failure has the seed that repeats the failure.
/// - `LARDER_TRIALS` multiplies the length of random tests. `make trials` sets this variable.
package enum TestSettings {
  private static let environment = ProcessInfo.processInfo.environment

  /// The seed in `LARDER_SEED`. Nil without that variable.
  package static let fixedSeed = environment["LARDER_SEED"].flatMap { UInt64($0) }

  /// The seed of a test that runs with one seed: `LARDER_SEED`, or else a random seed.
  package static let seed = fixedSeed ?? UInt64.random(in: 0..<1_000_000_000)

  /// The factor in `LARDER_TRIALS`. Without that variable, the factor is 1.
  package static let trials = max(1, environment["LARDER_TRIALS"].flatMap { Int($0) } ?? 1)

  /// The seeds of a test: only `LARDER_SEED`, or else `0..<corpus` and a random seed. `LARDER_TRIALS` multiplies `corpus`.
  package static func seeds(corpus: Int) -> [UInt64] {
    if let fixedSeed { return [fixedSeed] }
    return (0..<UInt64(corpus * trials)).map { $0 } + [seed]
  }

  /// The number in the environment variable `name`, or else `usual`. Such a number changes the length of a test.
  package static func number(_ name: String, default usual: Int) -> Int {
    environment[name].flatMap { Int($0) } ?? usual
  }
}
