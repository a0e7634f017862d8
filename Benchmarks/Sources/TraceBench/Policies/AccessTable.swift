/// The access statistics of a cached entry, which `adaptive` uses.
struct AccessStats: Equatable {
  /// The number of recent uses, from 0 to 15. `halveFrequencies` halves the number.
  var frequency = 0
  /// A number from 0 to 3, which decreases when the clock hand passes the entry.
  var clock = 0

  static let mostFrequency = 15
  static let mostClock = 3

  mutating func hit() {
    if clock < Self.mostClock {
      clock += 1
      frequency = min(Self.mostFrequency, frequency + 1)
    }
  }
}

/// The part of the queue from which an entry was evicted.
enum Part: Int {
  case window
  case main

  var other: Part { self == .window ? .main : .window }
}

/// The record of an evicted entry, which `adaptive` uses if the key returns.
struct Ghost: Equatable {
  /// The number of evictions after the eviction of this entry.
  var age: Int
  var part: Part
  var frequency: Int
}

/// The number of ghosts for each cached entry. In a cache of `n` entries a ghost is valid for `ghostsPerEntry * n` evictions.
let ghostsPerEntry = 4

/// The statistics that `adaptive` has for cached and evicted entries. A table may lose the record of a key. A key without a
/// record has empty statistics and no ghost.
protocol AccessTable: SendableMetatype {
  static var name: String { get }

  init(entries: Int, keys: Int)

  func stats(of key: Int) -> AccessStats
  mutating func setStats(_ stats: AccessStats, of key: Int)
  mutating func removeStats(of key: Int)
  mutating func halveFrequencies()

  /// Removes and returns the ghost of a key; nil without a ghost. A ghost is valid for `ghostsPerEntry * entries` evictions.
  mutating func takeGhost(of key: Int) -> Ghost?
  /// Stores a ghost. Each call counts as one eviction.
  mutating func putGhost(of key: Int, part: Part, frequency: Int)
}
