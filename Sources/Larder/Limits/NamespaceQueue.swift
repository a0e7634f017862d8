import LMDB

/// The queue of a namespace that makes room, inside a batch: what a policy works on.
///
/// It takes the batch over and gives it back when the policy is done.
struct NamespaceQueue: ~Copyable, EvictionQueue {
  private(set) var batch: WriteBatch
  private var request: RoomRequest
  /// What left.
  private(set) var removal = RemovalResult()

  init(_ batch: consuming WriteBatch, _ request: RoomRequest) {
    self.batch = batch
    self.request = request
  }

  consuming func release() -> WriteBatch { batch }

  private var counters: NamespaceCounters { batch.counters[request.id] ?? NamespaceCounters() }

  var state: QueueState {
    get { counters.queue }
    set { batch.counters[request.id]?.queue = newValue }
  }

  var entries: UInt64 { counters.entries }

  var isOver: Bool { request.left > 0 && reason != nil }

  var isNearlyFull: Bool {
    request.limits.isNearlyReached(by: counters.entries, counters.bytes) || batch.isNearlyFull
  }

  private var reason: RemovalReason? {
    switch request.cause {
    case .namespace: request.limits.exceeded(by: counters)
    case .store(let reason): reason
    }
  }

  /// Whether bytes count, and not entries.
  private var countsBytes: Bool {
    request.limits.countsBytes(counters) ?? batch.countsStoreBytes
  }

  func cost(ofSize size: UInt64) -> UInt64 { countsBytes ? size : 1 }

  var capacity: UInt64 {
    countsBytes
      ? request.limits.bytes.map(UInt64.init) ?? counters.bytes
      : request.limits.entries.map(UInt64.init) ?? counters.entries
  }

  var windowCost: UInt64 {
    countsBytes ? counters.queue.windowBytes : counters.queue.windowEntries
  }

  mutating func first(from sequence: UInt64) throws(LarderError) -> Candidate? {
    let newest = try newest
    var sequence = sequence
    while let found = try batch.queued(from: sequence, in: request.id) {
      if mayLeave(found, newest: newest) { return found }
      sequence = found.sequence + 1
    }
    return nil
  }

  /// The sequence of the newest entry, if that must stay.
  private var newest: UInt64? {
    mutating get throws(LarderError) {
      request.sparesNewest ? try batch.newestSequence(in: request.id) : nil
    }
  }

  private func mayLeave(_ entry: Candidate, newest: UInt64?) -> Bool {
    !request.spared.contains(entry.sequence) && entry.sequence != newest
      && !request.kept.contains(entry.slot)
  }

  mutating func cross() throws(LarderError) -> Candidate? {
    // An entry that is being overwritten counts with its new size already and is found with its old one.
    guard let found = try batch.queued(from: state.edge, in: request.id),
      found.slot != batch.writing
    else { return nil }
    state.edge = found.sequence + 1
    state.windowEntries &-= 1
    state.windowBytes &-= found.size
    return found
  }

  mutating func evict(_ candidate: Candidate) throws(LarderError) -> Bool {
    guard let reason, mayLeave(candidate, newest: try newest) else { return false }
    let before = batch.state
    guard try batch.evict(candidate, reason: reason, keeping: request.kept) else {
      request.spared.insert(candidate.sequence)
      return false
    }
    request.left -= 1
    removal += RemovalResult(
      entries: Int(before.entries &- batch.state.entries),
      bytes: Int(before.bytes &- batch.state.bytes))
    return true
  }
}

extension Limits {
  /// Which limit the usage exceeds, if any.
  func exceeded(by counters: NamespaceCounters) -> RemovalReason? {
    if let entries, counters.entries > UInt64(entries) { return .evictedForEntries }
    if let bytes, counters.bytes > UInt64(bytes) { return .evictedForBytes }
    return nil
  }

  /// Whether bytes count, and not entries: the limit that is nearer, in shares of each. Nil if there is none.
  func countsBytes(_ counters: NamespaceCounters) -> Bool? {
    switch (entries, bytes) {
    case (nil, nil): nil
    case (nil, _): true
    case (_, nil): false
    case (let most?, let bytes?):
      Double(counters.bytes) / Double(max(bytes, 1)) >= Double(counters.entries)
        / Double(max(most, 1))
    }
  }

  /// Whether little room is left: a thirty-second.
  func isNearlyReached(by usedEntries: UInt64, _ usedBytes: UInt64) -> Bool {
    func isNear(_ used: UInt64, _ limit: Int?) -> Bool {
      limit.map { used > UInt64($0 - $0 / 32) } ?? false
    }
    return isNear(usedEntries, entries) || isNear(usedBytes, bytes)
  }

  var isEmpty: Bool { self == Limits() }
}
