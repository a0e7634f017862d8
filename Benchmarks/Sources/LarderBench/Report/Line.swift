/// The size of the stores in a measurement.
struct Scenario: Codable, Hashable, CustomStringConvertible {
  var entries: Int
  var valueSize: Int

  /// Whether it takes long to fill the stores. If so, durable writes are omitted, because the disk alone decides their time.
  var isLarge: Bool { entries >= 500_000 }

  var description: String { "\(grouped(entries)) entries of \(grouped(valueSize)) bytes" }
}

enum Unit: String, Codable {
  /// The time of one operation, or of a whole workload.
  case nanoseconds
  /// A ratio of two numbers.
  case factor
  case bytes
}

/// The median of several rounds, and the range of the middle 60 % of the rounds.
struct Figure: Codable {
  var median: Double
  var low: Double
  var high: Double

  init(_ rounds: [Double]) {
    let sorted = rounds.sorted()
    median = sorted[sorted.count / 2]
    low = sorted[sorted.count / 5]
    high = sorted[sorted.count * 4 / 5]
  }
}

/// The result of one peer in one workload, or the reason why there is no result.
struct Line: Codable {
  var scenario: Scenario
  var workload: String
  /// The id (``PeerKind/id``) and the name of the peer.
  var peer: String
  var name: String
  var level: Level
  var unit: Unit
  var rounds = 0
  var figure: Figure?
  /// The ratio of this peer to LMDB in C, calculated for each round.
  var ratio: Figure?
  var reason: String?
}

func grouped(_ number: Int) -> String {
  var digits = String(number)
  var end = digits.count - 3
  while end > 0 {
    digits.insert(",", at: digits.index(digits.startIndex, offsetBy: end))
    end -= 3
  }
  return digits
}
