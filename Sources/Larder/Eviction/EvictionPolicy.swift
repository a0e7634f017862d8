/// The default policy: one queue, a window boundary, a clock hand.
///
/// Entries newer than the boundary are the window, on probation; older ones are main. An entry that is promoted from the
/// window of a full cache stays if it was used or is frequent, and then the entry evicted is the one that the clock hand
/// finds unused. Keys that return soon after their eviction move the window's target. `Docs/Eviction.md` has the rules,
/// and the measurements behind the numbers.
extension EvictionQueue where Self: ~Copyable {
  /// Bounds the work of one insertion: promotions, and steps of the clock hand.
  private static var mostSteps: Int { 64 }

  /// The statistics that a new entry begins with, which takes `share` of the capacity; counts as an insertion.
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

  /// Evicts until no limit is exceeded or nothing more may leave.
  mutating func makeRoom() throws(Failure) {
    try shrinkWindow { queue, entry throws(Failure) in try queue.compete(entry) }
    while isOver, try evictOne(sparing: nil) {}
  }

  /// Promotes entries until the window is within its target.
  mutating func shrinkWindow(
    _ promoted: (inout Self, Entry) throws(Failure) -> Void
  ) throws(Failure) {
    var steps = 0
    while steps < Self.mostSteps, windowShare > policy.target.share, let entry = try promote() {
      try promoted(&self, entry)
      steps += 1
    }
  }

  /// Evicts the entry under the clock hand, or the oldest of the window if main is empty. False if nothing may
  /// leave.
  mutating func evictOne(sparing spared: Entry?) throws(Failure) -> Bool {
    if let victim = try victim(sparing: spared) {
      _ = try evict(victim, from: .main)
    } else if let oldest = try oldestInWindow(sparing: spared) {
      _ = try evict(oldest, from: .window)
    } else {
      return false
    }
    return true
  }

  /// Removes an entry and keeps its ghost; false if it must stay.
  @discardableResult
  mutating func evict(_ entry: Entry, from part: QueuePart) throws(Failure) -> Bool {
    let hash = hash(of: entry)
    let frequency = stats(of: entry).frequency
    // The entry counts until it is gone.
    let entries = entries
    guard try remove(entry) else { return false }
    putGhost(of: hash, from: part, frequency: frequency, entries: entries)
    policy.evicted(from: part, of: entries)
    return true
  }

  /// While the cache is over its limit, either the promoted entry leaves or one that the clock hand finds.
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

  /// Lowers the frequency of an idle victim that has won against a returning key, and moves on.
  ///
  /// After a change of the working set the old one would otherwise keep its frequencies for many insertions. Where many
  /// keys return, as in a loop, the victim is no worse than they are, and keeps its frequency.
  private mutating func wearDown(_ victim: Entry, _ stats: AccessStats) {
    guard stats.clock == 0, policy.returns.areRare else { return }
    if stats.frequency > 1 {
      setStats(AccessStats(frequency: stats.frequency - 1), of: victim)
    }
    clockHand = position(after: victim)
  }

  /// The first entry of main, from the clock hand on, that is unused since the hand passed last; after ``mostSteps`` the
  /// entry the hand has come to.
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
