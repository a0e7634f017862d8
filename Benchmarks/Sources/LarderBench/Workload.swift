/// Keys of 13 characters and the order in which they are read; the same for everyone in a run.
struct Workload {
  let count: Int
  let keys: [String]
  let flat: [UInt8]
  static let keySize = 13

  init(count: Int) {
    self.count = count
    // Sorted by no pattern: neighbours in the file are not read one after the other.
    keys = (0..<count).map { index in
      let mixed = UInt64(index) &* 0x9E37_79B9_7F4A_7C15
      let text = String(mixed, radix: 36)
      return String(repeating: "0", count: 13 - text.utf8.count) + text
    }
    flat = keys.flatMap { Array($0.utf8) }
  }

  /// Which keys to read: `distinct` of them, again and again, in random order.
  func order(distinct: Int, rounds: Int) -> [UInt32] {
    var generator = SplitMix(state: 42)
    let stride = count / distinct
    return (0..<rounds).map { _ in UInt32(Int.random(in: 0..<distinct, using: &generator) * stride)
    }
  }
}

/// A small generator, so that every run reads the same keys.
struct SplitMix: RandomNumberGenerator {
  var state: UInt64

  mutating func next() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    var mixed = state
    mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
    mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
    return mixed ^ (mixed >> 31)
  }
}
