import LarderSystem

/// The order of a namespace's queue and the state of its eviction policy. Both are in the record of the namespace's counters.
/// The queue holds every entry that may be evicted, in the order of the positions. The window is the part from `windowBoundary`
/// to the end; main is the part before. In the database no entry moves: only `windowBoundary` and `clockHand` change.
struct QueueState: Equatable {
  var windowBoundary: UInt64 = 0
  var clockHand: UInt64 = 0
  var windowEntries: UInt64 = 0
  var windowBytes: UInt64 = 0
  var policy = PolicyState()

  init() {}

  init(_ words: inout WordReader) {
    windowBoundary = words.next()
    clockHand = words.next()
    windowEntries = words.next()
    windowBytes = words.next()
    let share = Double(bitPattern: words.next())
    policy.evictions = words.next()
    policy.ageShift = min(words.next(), 63)
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
    let run = target.run << 1 | UInt64(target.runPart.rawValue)
    let ghostHits = returns.ghostHits.bitPattern & ~1 | (returns.isLooping ? 1 : 0)
    let words: [UInt64] = [
      windowBoundary, clockHand, windowEntries, windowBytes, target.share.bitPattern,
      policy.evictions, policy.ageShift, run, target.window.bitPattern, target.main.bitPattern,
      ghostHits, returns.all.bitPattern,
    ]
    for word in words { record.append(word: word) }
  }

  @inline(__always)
  mutating func count(_ weight: EntryWeight, _ change: (UInt64, UInt64) -> UInt64 = (&+)) {
    guard weight.queuePosition != 0, weight.queuePosition >= windowBoundary else { return }
    windowEntries = change(windowEntries, 1)
    windowBytes = change(windowBytes, UInt64(weight.size))
  }
}

struct PolicyState: Equatable {
  var target = WindowTarget()
  var returns = ReturnRates()
  var evictions: UInt64 = 0
  /// The ages of a namespace's ghosts (records of evicted entries) are counted in evictions of the namespace. A ghost has 11
  /// bits for the time of its eviction, in steps of 2^`ageShift` evictions. The step grows with the namespace, so that a ghost
  /// lives for 64 to 512 steps. So ages are exact enough, and the 11 bits do not overflow while a ghost lives.
  var ageShift: UInt64 = 0

  private static let ghostLife: UInt64 = 4

  mutating func ghostStamp(entries: UInt64) -> UInt64 {
    ageShift = shift(entries: entries)
    return evictions >> ageShift
  }

  func ghost(_ slot: GhostSlot, entries: UInt64) -> Ghost? {
    let shift = shift(entries: entries)
    let age = slot.age(at: evictions >> shift) << shift
    guard age < Self.ghostLife &* entries else { return nil }
    return Ghost(age: age, part: slot.part, frequency: slot.frequency)
  }

  /// Keeps ``ageShift`` while a ghost lives for 64 to 512 steps, because a new shift makes the ages of existing ghosts wrong.
  private func shift(entries: UInt64) -> UInt64 {
    let log = UInt64(63 - max(1, entries).leadingZeroBitCount)
    return min(max(ageShift, log < 6 ? 0 : log - 6), log < 4 ? 0 : log - 4)
  }

  mutating func evicted(from part: QueuePart, of entries: UInt64) {
    evictions &+= 1
    target.evicted(from: part, of: entries)
  }

  /// How new the cache is: 1 until the evictions reach three tenths of the number of entries; then the result falls towards 0.
  func youth(of entries: UInt64) -> Double {
    min(1, 0.3 * Double(entries) / Double(max(1, evictions)))
  }
}

/// The shares of inserted keys that were evicted before, as moving averages over about as many insertions as there are entries.
/// If the cache is too small for a loop over its keys, most insertions are ghost hits. Without the test ``isLooping``, each
/// inserted key would replace another key of the loop, and every lookup would miss.
struct ReturnRates: Equatable {
  /// The share of insertions whose key was evicted at most n/2 evictions ago, in a cache of n entries.
  private(set) var ghostHits = 0.0
  private(set) var all = 0.0
  /// Becomes true when ``ghostHits`` rises above ``mostGhostHits``, and false when the share falls below ``fewGhostHits``.
  private(set) var isLooping = false

  private static let mostGhostHits = 0.4
  private static let fewGhostHits = 0.3
  private static let mostRare = 0.3

  init() {}

  init(ghostHits: Double, all: Double, isLooping: Bool) {
    self.ghostHits = ghostHits.clamped(to: 0...1, otherwise: 0)
    self.all = all.clamped(to: 0...1, otherwise: 0)
    self.isLooping = isLooping
  }

  var areRare: Bool { all <= Self.mostRare }

  mutating func inserted(isReturn: Bool, isGhostHit: Bool, entries: UInt64) {
    let weight = 1 / Double(max(1, entries))
    ghostHits += ((isGhostHit ? 1 : 0) - ghostHits) * weight
    all += ((isReturn ? 1 : 0) - all) * weight
    if ghostHits > Self.mostGhostHits { isLooping = true }
    if ghostHits < Self.fewGhostHits { isLooping = false }
  }
}

extension Double {
  /// The nearest value of a range; `otherwise` for NaN.
  func clamped(to range: ClosedRange<Double>, otherwise: Double) -> Double {
    isNaN ? otherwise : min(max(self, range.lowerBound), range.upperBound)
  }
}

/// The share of the capacity that the window may have, and the rule that changes this share. A ghost hit of a key that was
/// evicted from the window shows that the window is too small. A ghost hit of a key from main shows that the window is too
/// large. If one part evicts less than the other, a hit of this part has more weight.
struct WindowTarget: Equatable {
  private(set) var share = first
  /// The evictions from the window; `main` has the evictions from main. Older evictions have less weight than newer evictions.
  private(set) var window = 0.0
  private(set) var main = 0.0
  private(set) var run: UInt64 = 0
  private(set) var runPart = QueuePart.window

  private static let first = 0.10
  private static let lowest = 0.01
  private static let highest = 0.80
  private static let mostRatio = 64.0
  private static let doubling = 8.0
  private static let mostBoost = 4.0
  /// A new cache has few ghost hits, but the window's share must change a lot. So these two bounds allow larger steps.
  private static let mostYoungBoost = 64.0
  private static let leastYoungStep = 0.0001

  init() {}

  init(share: Double, window: Double, main: Double, run: UInt64, runPart: QueuePart) {
    self.share =
      share == 0 ? Self.first : share.clamped(to: Self.lowest...Self.highest, otherwise: Self.first)
    self.window = window.clamped(to: 0...1e18, otherwise: 0)
    self.main = main.clamped(to: 0...1e18, otherwise: 0)
    self.run = min(run, Self.longestRun)
    self.runPart = runPart
  }

  private static var longestRun: UInt64 { UInt64(mostYoungBoost * doubling) }

  /// Notes that a key with `share` of the capacity returned soon after its eviction from `part`. `youth` is 1 for a new cache.
  mutating func ghostHit(_ part: QueuePart, share size: Double, youth: Double) {
    run = part == runPart ? min(run + 1, Self.longestRun) : 1
    runPart = part
    let (own, other) = part == .window ? (window, main) : (main, window)
    let ratio = own > 0 ? min(Self.mostRatio, max(1, other / own)) : 1
    let boost = min(
      max(Self.mostBoost, Self.mostYoungBoost * youth), 1 + Double(run) / Self.doubling)
    let step = max(0.5 * size, Self.leastYoungStep * youth) * ratio * boost
    share = min(max(share + (part == .window ? step : -step), Self.lowest), Self.highest)
  }

  /// In a loop over keys, no ghost hit shows which part is too small. So a large window shrinks: main gets room for the loop.
  mutating func relax(share size: Double) {
    if share > Self.first { share = max(share - 0.5 * size, Self.first) }
  }

  mutating func evicted(from part: QueuePart, of entries: UInt64) {
    let fade = 1 - 0.5 / Double(max(1, entries))
    window *= fade
    main *= fade
    if part == .window { window += 1 } else { main += 1 }
  }
}
