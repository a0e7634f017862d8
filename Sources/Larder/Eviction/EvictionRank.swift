import LMDB

/// Where an entry stands in line for eviction.
public struct EvictionRank: Hashable, Sendable {
  /// Entries of the namespace that leave before it.
  public var ahead: Int
  /// Whether counting ended there: at least so many leave before it.
  public var isAtLeast: Bool

  public init(ahead: Int, isAtLeast: Bool) {
    self.ahead = ahead
    self.isAtLeast = isAtLeast
  }
}

extension Store.Namespace {
  /// How many entries the namespace's own limit would evict before this one, if new ones came and stayed, and nothing that
  /// is there now was used meanwhile; nil if there is no such entry, if it has expired or is pinned, and in a namespace that
  /// refuses.
  ///
  /// Exact for `fifo`. For `adaptive` an estimate: each use rearranges the line, and a new entry that is not used gives
  /// way before older ones that are. Not foreseen is that expired entries leave before all others, and owners together with
  /// what is theirs. A namespace that has room left, or no limit, is taken for one that is full as it is.
  ///
  /// The policy is tried on a snapshot until the entry leaves, or `most` others have left, or 20 times as many records were
  /// looked at: O(`most` log n), about 2 microseconds for each that is counted. It is no use of the entry.
  public func evictionRank(
    of key: some StoreKey, countingUpTo most: Int = 1000
  ) throws -> EvictionRank? {
    try key.withKeyBytes { key in
      try engine.evictionRank(of: key, in: handle, countingUpTo: max(0, most), engine.beginRead())
    }
  }
}

extension StoreEngine {
  fileprivate func evictionRank(
    of key: Span<UInt8>, in handle: NamespaceHandle, countingUpTo most: Int,
    _ transaction: consuming ReadTransaction
  ) throws(LarderError) -> EvictionRank? {
    guard let entry = try entry(key, of: handle, in: transaction),
      entry.state != .expired, !entry.isPinned,
      let record = try record(named: handle.name, in: transaction),
      let sequence = try sequence(of: key, in: record.id, transaction)
    else { return nil }
    let rules = record.rules.effective
    let counters = try counters(of: record.id, in: transaction)
    var queue = ForecastQueue(
      of: record.id, counters, rules.limits, until: sequence, most: most, in: transaction, self)
    switch rules.eviction {
    case .refuse: return nil
    case .fifo: try queue.foresee(FIFOPolicy(), atOnce: true)
    case .adaptive: try queue.foresee(AdaptivePolicy(table: ForecastMarks(access), minute: 0))
    }
    return queue.rank
  }

  private func sequence(
    of key: Span<UInt8>, in id: NamespaceID, _ transaction: borrowing ReadTransaction
  ) throws(LarderError) -> UInt64? {
    try find(key, id: id, in: transaction)
      .flatMap { EntryHeader(transaction.bytes(of: $0))?.sequence }
  }
}
