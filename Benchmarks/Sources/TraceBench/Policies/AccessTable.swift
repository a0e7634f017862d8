/// The access statistics of a cached entry.
struct AccessStats: Equatable {
  /// From 0 to 15, halved from time to time.
  var frequency = 0
  /// From 0 to 3, lowered when the clock hand passes.
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

/// The record of an evicted entry.
struct Ghost: Equatable {
  /// The number of evictions since the eviction of the entry.
  var age: Int
  var part: Part
  var frequency: Int
}

/// How many ghosts there are for each entry, and for how many evictions per entry a ghost lives.
let ghostsPerEntry = 4

/// The statistics of `adaptive` beside its queue, for cached and for evicted entries. A table may forget: a forgotten key
/// has empty statistics and no ghost.
protocol AccessTable: SendableMetatype {
  static var name: String { get }

  init(entries: Int, keys: Int)

  func stats(of key: Int) -> AccessStats
  mutating func setStats(_ stats: AccessStats, of key: Int)
  mutating func removeStats(of key: Int)
  mutating func halveFrequencies()

  /// Removes and returns the ghost if it is alive: evicted fewer than `ghostsPerEntry * entries` evictions ago.
  mutating func takeGhost(of key: Int) -> Ghost?
  /// Stores a ghost. The call counts as an eviction.
  mutating func putGhost(of key: Int, part: Part, frequency: Int)
}
