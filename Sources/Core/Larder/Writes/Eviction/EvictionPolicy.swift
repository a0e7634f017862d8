enum QueuePart: UInt8 {
  case window, main
}

/// The record of an evicted entry, which the policy keeps for some time.
struct Ghost: Equatable {
  var age: UInt64
  var part: QueuePart
  var frequency: UInt32
}

/// A cache as the eviction policy sees it: the order of its entries, and their access statistics.
///
/// A namespace has its order in the store and its statistics in the shared ``AccessTable``; the decoded values of a `Cache`
/// have both in memory. The policy is an extension, so the compiler specialises the policy for each cache.
protocol EvictionQueue: ~Copyable {
  associatedtype Entry: Equatable
  /// A place in the order; it stays valid without its entry.
  associatedtype Position
  associatedtype Failure: Error

  var policy: PolicyState { get set }
  var clockHand: Position { get set }
  var entries: UInt64 { get }
  /// Whether a limit is exceeded for which this cache must evict.
  var isOver: Bool { get }
  /// The share of the capacity that the window takes, measured by the limit that is nearest.
  var windowShare: Double { get }

  /// Moves the window boundary behind the window's oldest entry, which becomes the newest of main; nil if no entry may move.
  mutating func promote() throws(Failure) -> Entry?
  /// The first entry of the window, except `spared`.
  mutating func oldestInWindow(sparing spared: Entry?) throws(Failure) -> Entry?
  /// The first entry of main at a position or after it, except `spared`; after the newest entry, the oldest follows.
  mutating func main(from position: Position, sparing spared: Entry?) throws(Failure) -> Entry?
  func position(of entry: Entry) -> Position
  func position(after entry: Entry) -> Position
  /// Removes an entry and its statistics. An entry that must stay gives false and is not offered again, so each eviction ends.
  mutating func remove(_ entry: Entry) throws(Failure) -> Bool

  func stats(of entry: Entry) -> AccessStats
  func setStats(_ stats: AccessStats, of entry: Entry)
  func hash(of entry: Entry) -> UInt64
  /// Removes and returns the ghost of a key; nil once about 4 n evictions have followed in a cache of n entries.
  mutating func takeGhost(of hash: UInt64) -> Ghost?
  /// Keeps a ghost of an entry that was just removed from a cache of `entries` entries.
  mutating func putGhost(of hash: UInt64, from part: QueuePart, frequency: UInt32, entries: UInt64)

  /// Whether the entry can no longer be read, so that it leaves before all other entries.
  func isExpired(_ entry: Entry) -> Bool
  /// Whether an entry of main always loses against a newer entry.
  func yieldsToNewer(_ entry: Entry) -> Bool
}

extension EvictionQueue where Self: ~Copyable {
  func isExpired(_ entry: Entry) -> Bool { false }
  func yieldsToNewer(_ entry: Entry) -> Bool { false }
}

/// The default policy: one queue, a window boundary, a clock hand.
///
/// Entries newer than the boundary are the window, on probation; older entries are main. A promoted entry of a full cache
/// stays if it was used or is frequent; then an entry leaves that the clock hand finds unused. Keys that return soon after
/// their eviction move the window's target. `Docs/Internals/Eviction.md` has the rules, and the measurements for the numbers.
extension EvictionQueue where Self: ~Copyable {
  /// The most promotions, and the most steps of the clock hand, of one insertion.
  private static var mostSteps: Int { 64 }

  /// The first statistics of a new entry that takes `share` of the capacity; counts an insertion.
  mutating func firstStats(ofHash hash: UInt64, share: Double) -> AccessStats {
    let entries = entries
    let ghost = takeGhost(of: hash)
    let isGhostHit = ghost.map { $0.age <= entries / 2 } ?? false
    policy.returns.inserted(isReturn: ghost != nil, isGhostHit: isGhostHit, entries: entries)
    var stats = AccessStats(frequency: 1)
    guard let ghost else { return stats }
    stats.frequency = min(AccessStats.mostFrequency, 1 + ghost.frequency)
    guard isGhostHit else { return stats }
    if policy.returns.isLooping {
      policy.target.relax(share: share)
    } else {
      stats.clock = 1
      policy.target.ghostHit(ghost.part, share: share, youth: policy.youth(of: entries))
    }
    return stats
  }

  mutating func makeRoom() throws(Failure) {
    try shrinkWindow { queue, entry throws(Failure) in try queue.compete(entry) }
    while isOver, try evictOne(sparing: nil) {}
  }

  mutating func shrinkWindow(
    _ promoted: (inout Self, Entry) throws(Failure) -> Void
  ) throws(Failure) {
    var steps = 0
    while steps < Self.mostSteps, windowShare > policy.target.share, let entry = try promote() {
      try promoted(&self, entry)
      steps += 1
    }
  }

  /// Tries to evict the clock hand's entry, or the window's oldest entry if main is empty. False if no entry may leave.
  mutating func evictOne(sparing spared: Entry?) throws(Failure) -> Bool {
    if let victim = try victim(sparing: spared) {
      try evict(victim, from: .main)
    } else if let oldest = try oldestInWindow(sparing: spared) {
      try evict(oldest, from: .window)
    } else {
      return false
    }
    return true
  }

  mutating func evict(_ entry: Entry, from part: QueuePart) throws(Failure) {
    let hash = hash(of: entry)
    let frequency = stats(of: entry).frequency
    // This line comes before the removal, so the number still includes the entry.
    let entries = entries
    guard try remove(entry) else { return }
    putGhost(of: hash, from: part, frequency: frequency, entries: entries)
    policy.evicted(from: part, of: entries)
  }

  /// While the cache is over its limit, either the promoted entry leaves or the entry that the clock hand finds.
  private mutating func compete(_ entry: Entry) throws(Failure) {
    let own = stats(of: entry)
    while isOver {
      guard !isExpired(entry), let victim = try victim(sparing: entry) else {
        try evict(entry, from: .window)
        return
      }
      let other = stats(of: victim)
      guard
        own.clock > 0 || own.frequency > max(1, other.frequency) || isExpired(victim)
          || yieldsToNewer(victim)
      else {
        if own.frequency > 1 { wearDown(victim, other) }
        try evict(entry, from: .window)
        return
      }
      try evict(victim, from: .main)
    }
  }

  /// Lowers the frequency of an unused victim that has won against a returning key, and moves the clock hand on. Otherwise an
  /// old working set would keep its frequencies for many insertions. Where many keys return, as in a loop, the victim is as
  /// good as they are.
  private mutating func wearDown(_ victim: Entry, _ stats: AccessStats) {
    guard stats.clock == 0, policy.returns.areRare else { return }
    if stats.frequency > 1 {
      setStats(AccessStats(frequency: stats.frequency - 1), of: victim)
    }
    clockHand = position(after: victim)
  }

  /// The first entry of main, from the clock hand on, that was not used since the hand last passed; after ``mostSteps`` the
  /// entry that the hand has reached.
  private mutating func victim(sparing spared: Entry?) throws(Failure) -> Entry? {
    guard var found = try main(from: clockHand, sparing: spared) else { return nil }
    for _ in 0..<Self.mostSteps {
      var stats = stats(of: found)
      if stats.clock == 0 || isExpired(found) { break }
      stats.clock -= 1
      setStats(stats, of: found)
      guard let next = try main(from: position(after: found), sparing: spared) else { break }
      found = next
    }
    clockHand = position(of: found)
    return found
  }
}
