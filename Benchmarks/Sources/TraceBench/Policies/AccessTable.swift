/// What is remembered of a cached entry's uses.
struct AccessStats: Equatable {
  /// 0 to 15, halved from time to time.
  var frequency = 0
  /// 0 to 3, lowered when the hand passes.
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

/// What is remembered of an evicted entry.
struct Ghost: Equatable {
  /// Evictions since.
  var age: Int
  var part: Part
  var frequency: Int
}

/// How long ghosts live and how many words they get: so many for each entry.
let ghostsPerEntry = 4

/// The memory of `adaptive` beside its queue: marks of what is cached, ghosts of what was. It may forget; what is not
/// found reads as an empty mark or no ghost.
protocol AccessTable: SendableMetatype {
  static var name: String { get }

  init(entries: Int, keys: Int)

  func mark(of key: Int) -> AccessStats
  mutating func setMark(_ mark: AccessStats, of key: Int)
  mutating func removeMark(of key: Int)
  mutating func halveFrequencies()

  /// Takes the ghost out if it is alive: evicted fewer than `ghostsPerEntry * entries` evictions ago.
  mutating func takeGhost(of key: Int) -> Ghost?
  /// Counts as an eviction.
  mutating func putGhost(of key: Int, part: Part, frequency: Int)
}
