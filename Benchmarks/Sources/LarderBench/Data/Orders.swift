import Foundation

/// The orders in which workloads use the entries. The orders are the same for every peer and in every run.
enum Orders {
  static let length = 1 << 20

  /// Random draws from `distinct` of the stored entries. An entry may be drawn several times.
  static func random(_ data: Dataset, distinct: Int, length: Int = length) -> [UInt32] {
    var generator = SplitMix(state: 42)
    let stride = data.count / distinct
    return (0..<length).map { _ in
      UInt32(Int.random(in: 0..<distinct, using: &generator) * stride)
    }
  }

  /// Every index of the range once, in random order.
  static func once(_ range: Range<UInt32>) -> [UInt32] {
    var generator = SplitMix(state: 43)
    return range.shuffled(using: &generator)
  }

  /// Stored entries by Zipf's law with exponent 0.99, as in YCSB: a few entries occur very often, most entries hardly ever.
  static func zipf(_ data: Dataset, length: Int = length) -> [UInt32] {
    var zipf = Zipf(count: data.count, exponent: 0.99)
    var generator = SplitMix(state: 44)
    // The popular entries must not be neighbours, so their ranks are scattered over the store.
    return (0..<length).map { _ in
      UInt32(zipf.next(using: &generator) &* 2_654_435_761 % data.count)
    }
  }

  /// A part of an order with `count` entries. The parts of different rounds begin at different places.
  static func piece(of order: [UInt32], round: Int, count: Int) -> Order {
    let count = min(count, order.count)
    let start = round &* 100_003 % (order.count - count + 1)
    return order[start..<start + count]
  }
}

/// Ranks by Zipf's law (Gray et al., "Quickly generating billion-record synthetic databases").
struct Zipf {
  private let count: Double
  private let exponent: Double
  private let zeta: Double
  private let alpha: Double
  private let eta: Double

  init(count: Int, exponent: Double) {
    self.count = Double(count)
    self.exponent = exponent
    var zeta = 0.0
    for rank in 1...count { zeta += 1 / pow(Double(rank), exponent) }
    self.zeta = zeta
    alpha = 1 / (1 - exponent)
    eta =
      (1 - pow(2 / Double(count), 1 - exponent)) / (1 - (1 + pow(0.5, exponent)) / zeta)
  }

  mutating func next(using generator: inout SplitMix) -> Int {
    let uniform = Double.random(in: 0..<1, using: &generator)
    if uniform * zeta < 1 { return 0 }
    if uniform * zeta < 1 + pow(0.5, exponent) { return 1 }
    return min(Int(count) - 1, Int(count * pow(eta * uniform - eta + 1, alpha)))
  }
}

/// A small generator, so that every run has the same keys.
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
