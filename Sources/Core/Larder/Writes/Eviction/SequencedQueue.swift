struct Candidate: Equatable {
  var sequence: UInt64
  var size: UInt64
  var hash: UInt64
  var entryKey: [UInt8]
}

/// The queue of a namespace. The positions give the order of the entries, and the access table has their statistics.
protocol SequencedQueue: EvictionQueue, ~Copyable
where Entry == Candidate, Position == UInt64, Failure == LarderError {
  var state: QueueState { get }
  var table: AccessTable { get }
  /// Whether the nearest limit is a limit of bytes, not of entries.
  var countsBytes: Bool { get }
  /// The nearest limit, in bytes or entries; if there is no limit, the current usage.
  var capacity: UInt64 { get }
  /// Whether little room is left under any limit, so that entries that move to main must soon compete with entries of main.
  var isNearlyFull: Bool { get }
  /// The first entry that may be removed, at the position `sequence` or after it.
  mutating func first(from sequence: UInt64) throws(LarderError) -> Candidate?
}

extension SequencedQueue where Self: ~Copyable {
  var windowShare: Double {
    Double(countsBytes ? state.windowBytes : state.windowEntries) / Double(max(1, capacity))
  }

  func position(of entry: Candidate) -> UInt64 { entry.sequence }
  func position(after entry: Candidate) -> UInt64 { entry.sequence &+ 1 }

  mutating func oldestInWindow(sparing spared: Candidate?) throws(LarderError) -> Candidate? {
    // The spared entry has just moved to main, so a search in the window cannot find it.
    try first(from: state.windowBoundary)
  }

  mutating func main(
    from position: UInt64, sparing spared: Candidate?
  ) throws(LarderError) -> Candidate? {
    let end = spared?.sequence ?? state.windowBoundary
    if let found = try first(from: position), found.sequence < end { return found }
    if let found = try first(from: 0), found.sequence < end { return found }
    return nil
  }

  func stats(of entry: Candidate) -> AccessStats { table.stats(of: entry.hash) }

  func setStats(_ stats: AccessStats, of entry: Candidate) {
    table.changeStats(stats, of: entry.hash)
  }

  func hash(of entry: Candidate) -> UInt64 { entry.hash }

  mutating func takeGhost(of hash: UInt64) -> Ghost? {
    table.takeGhost(of: hash).flatMap { policy.ghost($0, entries: entries) }
  }

  mutating func putGhost(
    of hash: UInt64, from part: QueuePart, frequency: UInt32, entries: UInt64
  ) {
    let stamp = policy.ghostStamp(entries: entries)
    table.putGhost(of: hash, stamp: stamp, part: part, frequency: frequency)
  }

  /// Notes a new entry at the end of the queue. The caller has already added the entry to the counts of the window.
  mutating func inserted(
    _ entry: Candidate, of id: NamespaceID, in minute: Int64
  ) throws(LarderError) {
    let share = Double(countsBytes ? entry.size : 1) / Double(max(1, capacity))
    table.setStats(firstStats(ofHash: entry.hash, share: share), of: entry.hash, in: minute)
    table.sweep()
    let newest = entry.sequence
    let recent = (max(1, state.windowEntries) - 1) / 4
    table.setRecent(from: newest &+ 1 &- min(newest, recent), through: newest, of: id)
    // In a full cache an entry that moves to main must compete. So the window shrinks later, when the batch makes room.
    if !isNearlyFull { try shrinkWindow { _, _ throws(LarderError) in } }
  }

  mutating func makeRoomOldestFirst() throws(LarderError) {
    var sequence: UInt64 = 0
    while isOver, let next = try first(from: sequence) {
      sequence = next.sequence + 1
      _ = try remove(next)
    }
  }
}
