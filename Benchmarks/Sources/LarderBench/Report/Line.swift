/// How large the stores of a measurement are.
struct Scenario: Codable, Hashable, CustomStringConvertible {
  var entries: Int
  var valueSize: Int

  var description: String { "\(grouped(entries)) entries of \(grouped(valueSize)) bytes" }
}

/// What a figure counts.
enum Unit: String, Codable {
  /// Time of one operation, or of a whole piece of work.
  case nanoseconds
  /// A factor: how many times more of something.
  case factor
  case bytes
}

/// The middle of several rounds, and the range that holds the middle three fifths of them.
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

/// What one peer did at one workload, or why it did not.
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
  /// To LMDB in C, round by round.
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
