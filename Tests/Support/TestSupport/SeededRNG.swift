/// A random number generator that gives the same numbers for the same seed (SplitMix64).
package struct SeededRNG: RandomNumberGenerator, Sendable {
  package let seed: UInt64
  private var state: UInt64

  package init(seed: some BinaryInteger) {
    self.seed = UInt64(truncatingIfNeeded: seed)
    state = self.seed
  }

  /// The generator for a test that runs with only one seed.
  package init() { self.init(seed: TestSettings.seed) }

  package mutating func next() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    var mixed = state
    mixed = (mixed ^ mixed >> 30) &* 0xBF58_476D_1CE4_E5B9
    mixed = (mixed ^ mixed >> 27) &* 0x94D0_49BB_1331_11EB
    return mixed ^ mixed >> 31
  }

  package mutating func next(in range: Range<Int>) -> Int { Int.random(in: range, using: &self) }

  package mutating func bytes(_ count: Int) -> [UInt8] {
    (0..<count).map { _ in UInt8(truncatingIfNeeded: next()) }
  }

  /// Returns true in about `percent` of 100 calls.
  package mutating func chance(percent: Int) -> Bool { next(in: 0..<100) < percent }
}
