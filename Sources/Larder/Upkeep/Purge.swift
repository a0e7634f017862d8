import LMDB

extension Store {
  /// Removes every expired entry and returns exactly how many it was; then reclaims what clearing has left.
  ///
  /// O(expired): the deadline index has them in front. It works in batches of 500 and lets other writers in between.
  /// When the clock is more than a day past the newest write or purge, and no time passed that would explain it, nothing
  /// is removed and ``Removal/isPostponed`` is set; a purge at least a minute later goes ahead. A clock that jumped for a
  /// moment then costs nothing.
  @discardableResult
  public func purge() throws(LarderError) -> Removal {
    try checkWritable()
    return try core.purge(only: nil)
  }

  /// Purges like ``purge()``, or one namespace, for as long as `goesOn` says between batches.
  package func purge(
    only namespace: Namespace?, while goesOn: () -> Bool
  ) throws(LarderError) -> Removal {
    try checkWritable()
    return try core.purge(only: namespace, while: goesOn)
  }
}

extension StoreCore {
  static let purgedPerBatch = 500

  /// Purges everything or one namespace, and asks between batches whether to go on.
  ///
  /// Returns what was removed until then. What clearing has left is reclaimed only if nobody objected.
  func purge(
    only namespace: Namespace?, while goesOn: () -> Bool = { true }
  ) throws(LarderError) -> Removal {
    var total = Removal()
    var position: [UInt8]?
    repeat {
      let (removal, reached) = try write { batch in
        batch.leavesQueue = true
        return try batch.purge(
          limit: Self.purgedPerBatch, behind: position, only: namespace?.name)
      }
      total += removal
      position = reached
      guard goesOn() else { return total }
    } while position != nil
    while try write({ batch in try batch.reclaim(limit: Self.purgedPerBatch) }) > 0 {
      guard goesOn() else { return total }
    }
    return total
  }
}

extension Batch {
  /// Removes what is due among the next `limit` records of the deadline index, and gives entries whose end has moved
  /// later their record anew. Returns where to go on, nil at the end of what is due.
  mutating func purge(
    limit: Int, behind position: [UInt8]?, only namespace: String?
  ) throws(LarderError) -> (removal: Removal, reached: [UInt8]?) {
    guard trustsClock() else {
      var removal = Removal()
      removal.isPostponed = true
      return (removal, nil)
    }
    var only: NamespaceID?
    if let namespace {
      guard let record = try record(named: namespace) else { return (Removal(), nil) }
      only = record.id
    }
    let due = try due(limit: limit, behind: position)
    var removal = Removal()
    for key in due {
      if key.count > 12 {
        let slot = Array(key.dropFirst(8))
        if let only, slot.span.namespaceID != only { continue }
        removal += try purge(slot, indexKey: key)
      } else {
        // Damage: too short to lead anywhere.
        let deadlines = core.indexes.deadlines
        try change { transaction throws(LMDBError) in
          _ = try transaction.remove(key, from: deadlines)
        }
      }
    }
    stamp()
    return (removal, due.count < limit ? nil : due.last)
  }

  /// What one due record of the index leads to.
  private mutating func purge(_ slot: [UInt8], indexKey: [UInt8]) throws(LarderError) -> Removal {
    let deadline: Int64 = indexKey.span.bigEndian(at: 0)
    switch try occupant(of: slot) {
    case .entry(let entry) where entry.header.deadline == deadline:
      let isLive = try isLive(entry.id)
      if !isLive {
        try eraseRecords(entry)
        return Removal()
      }
      if entry.header.staleUntil <= now.milliseconds {
        try remove(entry, reason: .expired)
        return Removal(entries: 1, bytes: entry.valueCount)
      }
      if try rearm(entry) { return Removal() }
    case .damaged where try isLive(slot.span.namespaceID):
      // Nobody can read it, and nothing else would ever come by here again.
      damaged.insert(slot.span.namespaceID)
      try count(.damaged, in: slot.span.namespaceID)
      try change { transaction throws(LMDBError) in _ = try transaction.remove(slot, from: .main) }
    case .nobody, .entry, .damaged:
      break
    }
    // It leads to nothing that would miss it.
    let deadlines = core.indexes.deadlines
    try change { transaction throws(LMDBError) in
      _ = try transaction.remove(indexKey, from: deadlines)
    }
    return Removal()
  }

  /// Indexes an entry under the end it has now, after its old record came due.
  private mutating func rearm(_ entry: StoredEntry) throws(LarderError) -> Bool {
    try unindex(entry.slot, deadline: entry.header.deadline)
    return try reschedule(
      entry, expires: entry.header.expires, staleUntil: entry.header.staleUntil, isIndexed: false)
  }

  private mutating func due(limit: Int, behind position: [UInt8]?) throws(LarderError) -> [[UInt8]]
  {
    let deadlines = core.indexes.deadlines
    let now = now.milliseconds
    let start = position ?? []
    return try read { transaction throws(LMDBError) in
      var keys: [[UInt8]] = []
      var cursor = try transaction.cursor(in: deadlines)
      var record = try cursor.seek(start.span)
      while let found = record, keys.count < limit,
        found.key.count < 8 || found.key.bigEndian(at: 0, as: Int64.self) <= now
      {
        let key = found.key.copied
        if key != position { keys.append(key) }
        record = try cursor.next()
      }
      return keys
    }
  }

  /// Whether the wall clock can be believed about what has expired; notes a first doubt in the store.
  private mutating func trustsClock() -> Bool {
    let day: Int64 = 86_400_000
    let monotonic = core.clock.monotonic.milliseconds
    let newest = Int64(clamping: state.lastStamp)
    // The part of the gap in which this process saw the monotonic clock advance as well is no jump.
    let sinceOpening = monotonic - core.opened.monotonic.milliseconds
    let sinceStamp = core.opened.now.duration(to: Timestamp(milliseconds: newest)).milliseconds
    let watched = max(0, sinceOpening - max(0, sinceStamp))
    let gap = Timestamp(milliseconds: newest).duration(to: now).milliseconds
    if newest == 0 || gap <= day || gap - watched <= day {
      state.suspectSince = 0
      return true
    }
    // Kept one too large, because 0 stands for no doubt.
    let doubt = Int64(clamping: state.suspectSince)
    let since = doubt - 1
    if doubt != 0, monotonic >= since, monotonic - since >= 60_000 {
      state.suspectSince = 0
      return true
    }
    // A boot begins the monotonic clock anew: then the doubt begins anew too.
    if doubt == 0 || monotonic < since { state.suspectSince = UInt64(clamping: monotonic) &+ 1 }
    return false
  }
}
