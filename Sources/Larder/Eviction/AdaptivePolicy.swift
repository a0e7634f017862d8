/// One queue, an edge, a hand: what was used, or came back, stays.
///
/// Entries newer than the edge are the window, on probation; older ones are main. An entry that crosses the edge of a full
/// cache stays if it was used or was frequent, at the cost of the entry the hand finds unused. How large the window may be
/// follows regrets: keys that come back soon after they were evicted from one part say that this part is too small, and
/// the more of them in a row, the more so. `Docs/Eviction.md` says where the numbers come from.
struct AdaptivePolicy<Marks: UseMarks>: RoomPolicy {
  let table: Marks
  /// Now, since 1970.
  let minute: Int64

  /// How many entries an insertion lets cross the edge, and how many the hand passes.
  private static var mostSteps: Int { 64 }

  func makeRoom(in queue: inout some EvictionQueue & ~Copyable) throws(LarderError) {
    var steps = 0
    while isWindowTooLarge(queue), steps < Self.mostSteps, let crossing = try queue.cross() {
      try compete(crossing, in: &queue)
      steps += 1
    }
    while queue.isOver {
      if let victim = try victim(sparing: nil, in: &queue) {
        _ = try evict(victim, from: .main, in: &queue)
      } else if let victim = try queue.first(from: queue.state.edge) {
        _ = try evict(victim, from: .window, in: &queue)
      } else {
        return
      }
    }
  }

  private func isWindowTooLarge(_ queue: borrowing some EvictionQueue & ~Copyable) -> Bool {
    Double(queue.windowCost) > WindowTarget(queue.state).share * Double(queue.capacity)
  }

  /// An entry that just crossed the edge and the entries under the hand: either leaves a full cache.
  private func compete(
    _ crossing: Candidate, in queue: inout some EvictionQueue & ~Copyable
  ) throws(LarderError) {
    let mark = table.mark(of: crossing.hash)
    while queue.isOver {
      guard let victim = try victim(sparing: crossing.sequence, in: &queue),
        mark.clock > 0 || mark.frequency > max(1, table.mark(of: victim.hash).frequency)
      else {
        _ = try evict(crossing, from: .window, in: &queue)
        return
      }
      _ = try evict(victim, from: .main, in: &queue)
    }
  }

  /// The first unused entry of main from the hand on, or where the hand is after some steps.
  private func victim(
    sparing crossing: UInt64?, in queue: inout some EvictionQueue & ~Copyable
  ) throws(LarderError) -> Candidate? {
    guard var found = try main(from: queue.state.hand, sparing: crossing, in: &queue) else {
      return nil
    }
    for _ in 0..<Self.mostSteps where table.mark(of: found.hash).clock > 0 {
      table.lowerClock(of: found.hash)
      guard let next = try main(from: found.sequence + 1, sparing: crossing, in: &queue) else {
        break
      }
      found = next
    }
    queue.state.hand = found.sequence
    return found
  }

  /// The first entry of main with that sequence or a later one, going on with the oldest behind the newest.
  private func main(
    from sequence: UInt64, sparing crossing: UInt64?,
    in queue: inout some EvictionQueue & ~Copyable
  ) throws(LarderError) -> Candidate? {
    // What crossed last is main's newest.
    let end = crossing ?? queue.state.edge
    if let found = try queue.first(from: sequence), found.sequence < end { return found }
    if let found = try queue.first(from: 0), found.sequence < end { return found }
    return nil
  }

  private func evict(
    _ entry: Candidate, from part: QueuePart, in queue: inout some EvictionQueue & ~Copyable
  ) throws(LarderError) -> Bool {
    let frequency = table.mark(of: entry.hash).frequency
    let entries = queue.entries
    guard try queue.evict(entry) else { return false }
    var age = GhostAge(queue.state, entries: entries)
    table.putGhost(of: entry.hash, stamp: age.stamp, part: part, frequency: frequency)
    age.evicted()
    age.store(in: &queue.state)
    var target = WindowTarget(queue.state)
    target.evicted(from: part, of: entries)
    target.store(in: &queue.state)
    return true
  }
}

extension AdaptivePolicy: EvictionPolicy where Marks == AccessTable {
  func inserted(
    _ entry: Candidate, into queue: inout some EvictionQueue & ~Copyable
  ) throws(LarderError) {
    table.setMark(firstMark(of: entry, in: &queue), of: entry.hash, in: minute)
    table.sweep()
    var steps = 0
    // When the cache is full those that cross must compete, which they do when room is made.
    while !queue.isNearlyFull, isWindowTooLarge(queue), steps < Self.mostSteps,
      try queue.cross() != nil
    {
      steps += 1
    }
  }

  /// What a new entry begins with: something, if it was here before.
  private func firstMark(
    of entry: Candidate, in queue: inout some EvictionQueue & ~Copyable
  ) -> AccessStats {
    var mark = AccessStats(frequency: 1)
    guard let ghost = table.takeGhost(of: entry.hash) else { return mark }
    let age = GhostAge(queue.state, entries: queue.entries)
    guard age.isAlive(ghost) else { return mark }
    mark.frequency = min(AccessStats.mostFrequency, 1 + ghost.frequency)
    guard age.isRegret(ghost) else { return mark }
    mark.clock = 1
    var target = WindowTarget(queue.state)
    target.regret(
      ghost.part, share: Double(queue.cost(ofSize: entry.size)) / Double(max(1, queue.capacity)))
    target.store(in: &queue.state)
    return mark
  }
}
