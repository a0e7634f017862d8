/// The access statistics of a cached entry.
struct AccessStats: Equatable {
  /// 0 to 15, halved from time to time.
  var frequency = 0
  /// 0 to 3, lowered when the clock hand passes.
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

/// The part of the queue an entry was evicted from.
enum Part: Int {
  case window
  case main

  var other: Part { self == .window ? .main : .window }
}

/// The record of an evicted entry.
struct Ghost: Equatable {
  /// Evictions since.
  var age: Int
  var part: Part
  var frequency: Int
}

/// How long ghosts live and how many words they get: so many for each entry.
let ghostsPerEntry = 4

/// The statistics that `adaptive` keeps beside its queue, of cached entries and of evicted ones. A table may forget: a key
/// that is not found has empty statistics and no ghost.
protocol AccessTable: SendableMetatype {
  static var name: String { get }

  init(entries: Int, keys: Int)

  func stats(of key: Int) -> AccessStats
  mutating func setStats(_ stats: AccessStats, of key: Int)
  mutating func removeStats(of key: Int)
  mutating func halveFrequencies()

  /// Takes the ghost out if it is alive: evicted fewer than `ghostsPerEntry * entries` evictions ago.
  mutating func takeGhost(of key: Int) -> Ghost?
  /// Counts as an eviction.
  mutating func putGhost(of key: Int, part: Part, frequency: Int)
}
