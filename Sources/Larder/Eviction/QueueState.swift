import LarderSystem

/// What a policy keeps for a namespace between writes, in the namespace's counters record.
///
/// The queue holds every entry that may be evicted, in the order of its sequence. Those from `edge` on are the window,
/// new ones on probation; the older ones are main. Nothing moves: only `edge` and `hand` do.
struct QueueState: Equatable {
  /// The first sequence of the window.
  var edge: UInt64 = 0
  /// Where the search for a victim in main goes on.
  var hand: UInt64 = 0
  /// What the window holds.
  var windowEntries: UInt64 = 0
  var windowBytes: UInt64 = 0
  /// The share of the capacity the window may have, in parts of 2^32; 0 before the first entry.
  var target: UInt64 = 0
  /// Evictions so far: the age of ghosts counts by it.
  var evictions: UInt64 = 0
  /// How many evictions make one step of the ghosts' age: 2 to this power.
  var ageShift: UInt64 = 0
  /// Regrets of the same part in a row: twice their number, and 1 more if it is main.
  var run: UInt64 = 0
  /// Evictions from the window and from main, fading: bits of a `Double` each.
  var windowEvictions: UInt64 = 0
  var mainEvictions: UInt64 = 0

  static let wordCount = 10

  init() {}

  init(_ words: inout WordReader) {
    edge = words.next()
    hand = words.next()
    windowEntries = words.next()
    windowBytes = words.next()
    target = words.next()
    evictions = words.next()
    ageShift = words.next()
    run = words.next()
    windowEvictions = words.next()
    mainEvictions = words.next()
  }

  func append(to record: inout [UInt8]) {
    for word in [
      edge, hand, windowEntries, windowBytes, target, evictions, ageShift, run, windowEvictions,
      mainEvictions,
    ] {
      record.append(word: word)
    }
  }
}
