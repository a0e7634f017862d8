/// The recent frequency of keys, in four rows of 4-bit counters. After each `10 * capacity` increments, all counters are halved.
struct FrequencySketch {
  /// Each word has sixteen counters, four for each row.
  private var words: [UInt64]
  private let mask: Int
  private let sample: Int
  private var size = 0

  private static let halves: UInt64 = 0x7777_7777_7777_7777
  private static let lowestBits: UInt64 = 0x1111_1111_1111_1111

  init(capacity: Int) {
    var count = 1
    while count < capacity { count *= 2 }
    words = Array(repeating: 0, count: count)
    mask = count - 1
    sample = 10 * capacity
  }

  /// The frequency, from 0 to 15.
  func frequency(of key: Int) -> Int {
    let hash = scatter(UInt64(key))
    var least = 15
    for row in 0..<4 {
      let (word, shift) = place(hash, row)
      least = min(least, Int(words[word] >> shift & 15))
    }
    return least
  }

  mutating func increment(_ key: Int) {
    let hash = scatter(UInt64(key))
    var added = false
    for row in 0..<4 {
      let (word, shift) = place(hash, row)
      if words[word] >> shift & 15 < 15 {
        words[word] += 1 << shift
        added = true
      }
    }
    if added {
      size += 1
      if size == sample { halve() }
    }
  }

  private func place(_ hash: UInt64, _ row: Int) -> (word: Int, shift: UInt64) {
    let own = scatter(hash &+ UInt64(row) &* 0x9e37_79b9_7f4a_7c15)
    return (Int(own >> 32) & mask, UInt64(row) * 16 + (own & 3) * 4)
  }

  private mutating func halve() {
    var odd = 0
    for index in words.indices {
      odd += (words[index] & Self.lowestBits).nonzeroBitCount
      words[index] = words[index] >> 1 & Self.halves
    }
    size = (size - odd / 4) / 2
  }
}

/// Mixes the bits of `value` (the last steps of splitmix64), so that each bit of the result depends on all bits of `value`.
func scatter(_ value: UInt64) -> UInt64 {
  var z = value &+ 0x9e37_79b9_7f4a_7c15
  z = (z ^ z >> 30) &* 0xbf58_476d_1ce4_e5b9
  z = (z ^ z >> 27) &* 0x94d0_49bb_1331_11eb
  return z ^ z >> 31
}
