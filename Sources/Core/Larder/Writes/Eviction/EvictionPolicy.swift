enum QueuePart: UInt8 { case window, main }

struct Ghost: Equatable {
  var age: UInt64
  var part: QueuePart
  var frequency: UInt32
}

/// The parts of a cache that the eviction policy uses: the order of the entries, and their access statistics. For a namespace,
/// the order is in the store and the statistics are in the shared ``AccessTable``. For the decoded values of a `Cache`, order
/// and statistics are in memory. The policy is an extension, so the compiler specializes it for each cache.
protocol EvictionQueue: ~Copyable {
  associatedtype Entry: Equatable
  /// A place in the order. The place stays valid after its entry is removed.
  associatedtype Position
  associatedtype Failure: Error

  var policy: PolicyState { get set }
  var clockHand: Position { get set }
  var entries: UInt64 { get }
  /// Whether a limit is exceeded and this cache must evict entries for that limit.
  var isOver: Bool { get }
  /// The window's share of the capacity. The nearest limit decides whether the share counts entries or bytes.
  var windowShare: Double { get }

  /// Moves the window's oldest entry to main, as the newest entry of main. Nil if no entry may move.
  mutating func promote() throws(Failure) -> Entry?
  mutating func oldestInWindow(sparing spared: Entry?) throws(Failure) -> Entry?
  /// The first entry of main at a position or after it, but not `spared`. If no such entry exists, the oldest entry of main.
  mutating func main(from position: Position, sparing spared: Entry?) throws(Failure) -> Entry?
  func position(of entry: Entry) -> Position
  func position(after entry: Entry) -> Position
  /// Removes an entry and its statistics. False if the entry must stay; later searches skip such entries, so each search ends.
  mutating func remove(_ entry: Entry) throws(Failure) -> Bool

  func stats(of entry: Entry) -> AccessStats
  func setStats(_ stats: AccessStats, of entry: Entry)
  func hash(of entry: Entry) -> UInt64
  /// Removes and returns the ghost of a key. In a cache of n entries, a ghost is lost after about 4 n later evictions.
  mutating func takeGhost(of hash: UInt64) -> Ghost?
  /// Keeps a ghost of a removed entry. `entries` is the number of entries before the removal.
  mutating func putGhost(of hash: UInt64, from part: QueuePart, frequency: UInt32, entries: UInt64)

  /// Whether the entry has expired and can no longer be read. If so, the policy evicts the entry before all others.
  func isExpired(_ entry: Entry) -> Bool
  /// Whether the policy evicts this entry of main rather than any newer entry.
  func yieldsToNewer(_ entry: Entry) -> Bool
}

/// The default policy: one queue with a boundary, and a clock hand that searches for entries to evict. Entries after the
/// boundary are the window, where new entries prove their use; older entries are main. If the cache is full, an entry that
/// moves to main stays only if it was used or is frequent. Then the clock hand's unused entry is evicted instead. A key that
/// returns soon after its eviction changes the size of the window. `Docs/Internals/Eviction.md` has all rules.
extension EvictionQueue where Self: ~Copyable {
  private static var mostSteps: Int { 64 }

  func isExpired(_ entry: Entry) -> Bool { false }
  func yieldsToNewer(_ entry: Entry) -> Bool { false }

  /// The first statistics of a new entry that takes `share` of the capacity. Counts the insertion of the entry.
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
    // Each call of `shrinkWindow` moves at most `mostSteps` entries. The rest of the window must compete, too.
    repeat {
      try shrinkWindow { queue, entry throws(Failure) in try queue.compete(entry) }
      guard isOver else { return }
    } while try evictOne(sparing: nil)
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

  /// Tries to evict the clock hand's entry, or the window's oldest entry if main is empty. False if no entry is left to try.
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
    // The number is read before the removal, so the number still includes the entry.
    let entries = entries
    guard try remove(entry) else {
      if part == .main { clockHand = position(after: entry) }
      return
    }
    putGhost(of: hash, from: part, frequency: frequency, entries: entries)
    policy.evicted(from: part, of: entries)
  }

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

  /// An unused entry of main has won against a key that returned after its eviction. Lowers the frequency of this winner and
  /// moves the clock hand past the winner. Otherwise old frequent entries would stay unused during many insertions. If many keys
  /// return, as in a loop over keys, the winner is as good as the returning keys, so nothing changes.
  private mutating func wearDown(_ victim: Entry, _ stats: AccessStats) {
    guard stats.clock == 0, policy.returns.areRare else { return }
    if stats.frequency > 1 { setStats(AccessStats(frequency: stats.frequency - 1), of: victim) }
    clockHand = position(after: victim)
  }

  /// Searches main from the clock hand for an entry that was not used after the hand's last visit. If the next ``mostSteps``
  /// entries were all used, returns the entry that the hand has reached.
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
