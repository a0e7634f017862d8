/// Generated loops and scans, on which simple policies have few hits. The same seed gives the same requests.
enum Patterns {
  /// All patterns for a cache of `capacity` entries.
  static func all(capacity: Int, seed: UInt64) -> [Trace] {
    loops(capacity: capacity, seed: seed) + scans(capacity: capacity, seed: seed)
  }

  /// Loops over a few more keys than the cache can hold, in 40 rounds. In half of the loops, 30 % of requests are for new keys.
  static func loops(capacity: Int, seed: UInt64) -> [Trace] {
    [0, 30].flatMap { percent in
      [1.02, 1.1, 1.25, 1.5].map { factor in
        var random = SplitMix64(state: seed)
        var keys = DenseKeys()
        let length = Int(factor * Double(capacity))
        for position in 0..<40 * length {
          while Int.random(in: 0..<100, using: &random) < percent { keys.requestNew() }
          keys.request(position % length)
        }
        let name = "loop of \(factor) x" + (percent > 0 ? ", \(percent) % one-hit" : "")
        return keys.trace(named: name, capacity: capacity)
      }
    }
  }

  /// Each scan (5 times the capacity) runs twice. After a run, ten rounds request some of its keys, which fit into the cache.
  static func scans(capacity: Int, seed: UInt64) -> [Trace] {
    let length = 5 * capacity
    return [false, true].flatMap { isLast in
      [0.5, 0.9].map { factor in
        var random = SplitMix64(state: seed)
        var keys = DenseKeys()
        for phase in 0..<4 {
          let scanned = phase / 2 * length..<(phase / 2 + 1) * length
          for key in scanned { keys.request(key) }
          let count = Int(factor * Double(capacity))
          let loop =
            isLast
            ? Array(scanned.suffix(count))
            : (0..<count).map { _ in Int.random(in: scanned, using: &random) }
          for _ in 0..<10 { for key in loop { keys.request(key) } }
        }
        let name = "scan, loop over \(isLast ? "the last" : "some") \(factor) x"
        return keys.trace(named: name, capacity: capacity)
      }
    }
  }
}

/// Gives the keys of a trace numbers in the order of their first request.
private struct DenseKeys {
  private var numbers: [Int: Int32] = [:]
  private var count: Int32 = 0
  private var requests: [Int32] = []

  mutating func request(_ key: Int) {
    let number = numbers[key] ?? count
    if number == count {
      numbers[key] = number
      count += 1
    }
    requests.append(number)
  }

  /// Requests a key that is not requested again.
  mutating func requestNew() {
    requests.append(count)
    count += 1
  }

  func trace(named name: String, capacity: Int) -> Trace {
    var trace = Trace(name: name, requests: requests)
    trace.capacity = capacity
    return trace
  }
}

/// Random numbers (SplitMix64). The same seed gives the same numbers.
struct SplitMix64: RandomNumberGenerator {
  var state: UInt64

  mutating func next() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    var mixed = state
    mixed = (mixed ^ mixed >> 30) &* 0xBF58_476D_1CE4_E5B9
    mixed = (mixed ^ mixed >> 27) &* 0x94D0_49BB_1331_11EB
    return mixed ^ mixed >> 31
  }
}
