import LarderSystem

/// The order of a namespace's queue and the state of its policy, in the namespace's counters record.
///
/// The queue holds every entry that may be evicted, in the order of its sequence. Those from `windowBoundary` on are the
/// window; the older ones are main. Records never move: only `windowBoundary` and `clockHand` do.
struct QueueState: Equatable {
  /// The first sequence of the window.
  var windowBoundary: UInt64 = 0
  /// The sequence at which the search for a victim in main goes on.
  var clockHand: UInt64 = 0
  var windowEntries: UInt64 = 0
  /// Bytes of the values in the window.
  var windowBytes: UInt64 = 0
  var policy = PolicyState()
  /// How many evictions make one step of the ghosts' age: 2 to this power, at most 63.
  var ageShift: UInt64 = 0

  init() {}

  init(_ words: inout WordReader) {
    windowBoundary = words.next()
    clockHand = words.next()
    windowEntries = words.next()
    windowBytes = words.next()
    let share = Double(bitPattern: words.next())
    policy.evictions = words.next()
    ageShift = min(words.next(), 63)
    let run = words.next()
    let window = Double(bitPattern: words.next())
    let main = Double(bitPattern: words.next())
    policy.target = WindowTarget(
      share: share, window: window, main: main, run: run >> 1,
      runPart: run & 1 == 0 ? .window : .main)
    let ghostHits = words.next()
    policy.returns = ReturnRates(
      ghostHits: Double(bitPattern: ghostHits & ~1), all: Double(bitPattern: words.next()),
      isLooping: ghostHits & 1 != 0)
  }

  func append(to record: inout OutputSpan<UInt8>) {
    let target = policy.target
    let returns = policy.returns
    record.append(word: windowBoundary)
    record.append(word: clockHand)
    record.append(word: windowEntries)
    record.append(word: windowBytes)
    record.append(word: target.share.bitPattern)
    record.append(word: policy.evictions)
    record.append(word: ageShift)
    record.append(word: target.run << 1 | UInt64(target.runPart.rawValue))
    record.append(word: target.window.bitPattern)
    record.append(word: target.main.bitPattern)
    record.append(word: returns.ghostHits.bitPattern & ~1 | (returns.isLooping ? 1 : 0))
    record.append(word: returns.all.bitPattern)
  }
}

/// The age of a namespace's ghosts, counted in its own evictions.
///
/// A ghost has 11 bits for the time of its eviction. One step of that clock is so many evictions that a ghost's life is 64 to
/// 512 steps, in small namespaces and large. That tells a recent eviction from an old one. The clock does not come round while
/// ghosts of a small namespace remain in a large store.
extension QueueState {
  /// A ghost lives for so many times as many evictions as there are entries.
  private static let ghostLife: UInt64 = 4

  /// The time of a ghost that is made now, in a namespace of so many entries.
  mutating func ghostStamp(entries: UInt64) -> UInt64 {
    ageShift = shift(entries: entries)
    return policy.evictions >> ageShift
  }

  /// Reads a ghost from a slot of the access table; nil if it is too old.
  func ghost(_ slot: GhostSlot, entries: UInt64) -> Ghost? {
    let shift = shift(entries: entries)
    let age = slot.age(at: policy.evictions >> shift) << shift
    guard age < Self.ghostLife &* entries else { return nil }
    return Ghost(age: age, part: slot.part, frequency: slot.frequency)
  }

  /// Changed only when the number of entries has left it far behind: the ghosts of before then have a wrong age.
  private func shift(entries: UInt64) -> UInt64 {
    let log = UInt64(63 - max(1, entries).leadingZeroBitCount)
    return min(max(ageShift, log < 6 ? 0 : log - 6), log < 4 ? 0 : log - 4)
  }
}
