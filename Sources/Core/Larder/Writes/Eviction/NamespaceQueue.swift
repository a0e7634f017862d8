/// The queue of a namespace in a batch that makes room. From `init` to ``end()``, the queue owns the session of the write.
struct NamespaceQueue: ~Copyable, SequencedQueue {
  var session: WriteSession
  var request: RoomRequest
  /// The number of removed entries, with the entries that left with their owners.
  private(set) var removed = 0
  /// No entry before this position may be evicted. Without this position, each search would read these entries again.
  private var firstEvictable: UInt64 = 0

  init(_ session: consuming WriteSession, _ request: RoomRequest) {
    self.session = session
    self.request = request
  }

  consuming func end() -> WriteSession { session }

  private var usage: Usage { session.ledger.expectedUsage(request.id) }

  var state: QueueState { session.ledger.expectedQueue(request.id) }

  var policy: PolicyState {
    get { session.ledger.read(request.id) { $0.queue.policy } }
    set { session.ledger.learn(request.id) { $0.queue.policy = newValue } }
  }

  var clockHand: UInt64 {
    get { session.ledger.read(request.id) { $0.queue.clockHand } }
    set { session.ledger.learn(request.id) { $0.queue.clockHand = newValue } }
  }

  var table: AccessTable { session.engine.access }

  var entries: UInt64 { usage.entries }

  var isOver: Bool { request.evictionsLeft > 0 && reason != nil }

  var isNearlyFull: Bool { request.limits.isNearlyReached(by: usage) || session.isNearlyFull }

  private var reason: RemovalReason? { request.reason ?? request.limits.exceeded(by: usage) }

  var countsBytes: Bool { request.limits.countsBytes(usage) ?? session.budget.countsBytes }

  var capacity: UInt64 {
    countsBytes
      ? request.limits.bytes.map { UInt64(clamping: $0) } ?? usage.bytes
      : request.limits.entries.map { UInt64(clamping: $0) } ?? usage.entries
  }

  mutating func first(from position: UInt64) throws(LarderError) -> Candidate? {
    var found = try read(from: max(position, firstEvictable))
    while let entry = found, !mayEvict(entry) { found = try read(from: entry.sequence + 1) }
    if position <= firstEvictable { firstEvictable = found?.sequence ?? .max }
    return found
  }

  mutating func promote() throws(LarderError) -> Candidate? {
    // The entry that is being overwritten stays in the window: its new size is counted, but the queue still has its old size.
    guard let found = try read(from: state.windowBoundary),
      found.entryKey != session.ledger.expected?.entryKey
    else { return nil }
    session.ledger.learn(request.id) { counters in
      counters.queue.windowBoundary = found.sequence + 1
      counters.queue.windowEntries &-= 1
      counters.queue.windowBytes &-= found.size
    }
    return found
  }

  mutating func remove(_ candidate: Candidate) throws(LarderError) -> Bool {
    guard let reason, mayEvict(candidate) else { return false }
    guard usage.bytes >= request.guaranteed &+ candidate.size else {
      // Smaller entries may be evictable, but the search for them could read all entries, so the eviction stops.
      request.evictionsLeft = 0
      return false
    }
    let before = session.state.entries
    guard try evict(candidate, for: reason) else {
      request.skipped.insert(candidate.sequence)
      return false
    }
    request.evictionsLeft -= 1
    removed += Int(truncatingIfNeeded: before &- session.state.entries)
    return true
  }

  private func mayEvict(_ entry: Candidate) -> Bool {
    !request.skipped.contains(entry.sequence) && !session.mustStay(entry.entryKey)
  }

  private mutating func evict(
    _ candidate: Candidate, for reason: RemovalReason
  ) throws(LarderError) -> Bool {
    switch try session.contents(of: candidate.entryKey) {
    case .empty: return false
    case .damaged:
      try session.removeDamaged(candidate.entryKey)
      // The bytes are unknown and count until the repair. But the entry itself must not make another entry leave.
      try session.update(request.id) { $0.entries &-= 1 }
      session.ledger.updateStore { $0.entries &-= 1 }
      return true
    case .entry(let entry): return try evict(entry, reason: reason)
    }
  }
}

extension Limits {
  func exceeded(
    by usage: Usage, _ entriesReason: RemovalReason = .evictedForEntries,
    _ bytesReason: RemovalReason = .evictedForBytes
  ) -> RemovalReason? {
    if let entries, usage.entries > UInt64(clamping: entries) { return entriesReason }
    if let bytes, usage.bytes > UInt64(clamping: bytes) { return bytesReason }
    return nil
  }

  /// Whether the limit of bytes is nearer than the limit of entries: a smaller share is left. Nil if there is no limit.
  func countsBytes(_ usage: Usage) -> Bool? {
    switch (entries, bytes) {
    case (nil, nil): nil
    case (nil, _): true
    case (_, nil): false
    case (let most?, let bytes?):
      Double(usage.bytes) / Double(max(bytes, 1)) >= Double(usage.entries) / Double(max(most, 1))
    }
  }

  func isNearlyReached(by usage: Usage) -> Bool {
    func isNear(_ used: UInt64, _ limit: Int?) -> Bool {
      limit.map { used > UInt64(clamping: $0 - $0 / 32) } ?? false
    }
    return isNear(usage.entries, entries) || isNear(usage.bytes, bytes)
  }

  var evicts: Bool { entries != nil || bytes != nil }
}
