/// The size of the stores in a measurement.
struct Scenario: Codable, Hashable, CustomStringConvertible {
  var entries: Int
  var valueSize: Int

  /// Whether the stores take long to fill. Durable writes are then left out: they wait for the disk, whatever is stored.
  var isLarge: Bool { entries >= 500_000 }

  var description: String { "\(grouped(entries)) entries of \(grouped(valueSize)) bytes" }
}

/// The unit of a figure.
enum Unit: String, Codable {
  /// The time of one operation, or of a whole piece of work.
  case nanoseconds
  /// A ratio of two numbers.
  case factor
  case bytes
}

/// The median of several rounds, and the range of their middle three fifths.
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

/// The result of one peer in one workload, or the reason why there is none.
struct Line: Codable {
  var scenario: Scenario
  var workload: String
  /// The peer's ``PeerKind/id`` and name.
  var peer: String
  var name: String
  var level: Level
  var unit: Unit
  var rounds = 0
  var figure: Figure?
  /// The ratio to LMDB in C, round by round.
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
