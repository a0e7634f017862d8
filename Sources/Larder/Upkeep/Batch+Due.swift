import LMDB

extension Batch {
  /// Removes expired entries of one namespace, or of any, as expired, looking at no more than `limit` records that are
  /// due; entries that live on, their end having moved later, are indexed anew.
  ///
  /// For a write that needs room: it trusts the clock, as reads do. Whether more is due afterwards says
  /// ``mayHaveExpired(in:)``. O(limit) in one namespace; in any, and only when something may be due, O(namespaces) more.
  ///
  /// - Parameter kept: entries that stay, such as the one that the write is about to replace.
  @discardableResult
  mutating func removeExpired(
    in id: NamespaceID?, limit: Int, keeping kept: Set<[UInt8]> = []
  ) throws(LarderError) -> Removal {
    try removeDue(in: id, limit: limit, behind: nil, keeping: kept).removal
  }

  /// Whether the namespace, or any, has a record that is due. It may be of an entry that lives on.
  mutating func mayHaveExpired(in id: NamespaceID?) throws(LarderError) -> Bool {
    guard state.mayBeDue(at: now) else { return false }
    return try !due(in: id, limit: 1, behind: nil).isEmpty
  }

  /// What ``purge(limit:behind:only:)`` and ``removeExpired(in:limit:)`` have in common.
  mutating func removeDue(
    in id: NamespaceID?, limit: Int, behind position: [UInt8]?, keeping kept: Set<[UInt8]> = []
  ) throws(LarderError) -> (removal: Removal, reached: [UInt8]?) {
    var removal = Removal()
    guard state.mayBeDue(at: now) else { return (removal, nil) }
    let keys = try due(in: id, limit: limit, behind: position)
    for key in keys where try !isKept(key, kept) { removal += try removeDue(key) }
    if keys.count >= limit { return (removal, keys.last) }
    if id == nil, kept.isEmpty { state.nextDue = UInt64(clamping: try earliestIndexed()) }
    return (removal, nil)
  }

  /// Whether the record leads to an entry that must stay, or to one that it would leave with.
  private mutating func isKept(_ indexKey: [UInt8], _ kept: Set<[UInt8]>) throws(LarderError)
    -> Bool
  {
    if kept.isEmpty { return false }
    guard let slot = DeadlineRecord(indexKey.span)?.slot else { return false }
    if kept.contains(slot) { return true }
    return try owns(slot, anyOf: kept)
  }

  /// What one due record of the index leads to.
  private mutating func removeDue(_ indexKey: [UInt8]) throws(LarderError) -> Removal {
    if let record = DeadlineRecord(indexKey.span) {
      let id = record.slot.span.namespaceID
      switch try occupant(of: record.slot) {
      case .entry(let entry) where entry.header.deadline == record.deadline:
        let isLive = try isLive(id)
        if !isLive {
          try eraseRecords(entry)
          return Removal()
        }
        if entry.header.staleUntil <= now.milliseconds {
          try remove(entry, reason: .expired)
          return Removal(entries: 1, bytes: entry.valueCount)
        }
        if try rearm(entry) { return Removal() }
      case .damaged where try isLive(id):
        // Nobody can read it, and nothing else would ever come by here again.
        damaged.insert(id)
        try count(.damaged, in: id)
        try change { transaction throws(LMDBError) in
          _ = try transaction.remove(record.slot, from: .main)
        }
      case .nobody, .entry, .damaged:
        break
      }
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

  /// Up to `limit` records of one namespace, or of all, that are due, or damaged beyond leading anywhere.
  ///
  /// From the first record of a namespace that is not due it leaps to the next namespace.
  private mutating func due(
    in only: NamespaceID?, limit: Int, behind position: [UInt8]?
  ) throws(LarderError) -> [[UInt8]] {
    let deadlines = core.indexes.deadlines
    let now = now.milliseconds
    let prefix = only?.prefix ?? []
    let start = position ?? prefix
    return try read { transaction throws(LMDBError) in
      var keys: [[UInt8]] = []
      var cursor = try transaction.cursor(in: deadlines)
      var record = try cursor.seek(start.span)
      while let found = record, keys.count < limit, found.key.starts(with: prefix.span) {
        let key = found.key.copied
        if key.count < DeadlineRecord.headCount || DeadlineRecord.deadline(of: found.key) <= now {
          if key != position { keys.append(key) }
          record = try cursor.next()
        } else if only == nil, let behind = found.key.namespaceID.next?.prefix {
          record = try cursor.seek(behind.span)
        } else {
          break
        }
      }
      return keys
    }
  }

  /// The earliest time the deadline index has, of all namespaces; ``EntryHeader/never`` if it has none. O(namespaces).
  private mutating func earliestIndexed() throws(LarderError) -> Int64 {
    let deadlines = core.indexes.deadlines
    return try read { transaction throws(LMDBError) in
      var earliest = EntryHeader.never
      var cursor = try transaction.cursor(in: deadlines)
      var record = try cursor.first()
      while let found = record {
        guard found.key.count >= DeadlineRecord.headCount else {
          record = try cursor.next()
          continue
        }
        earliest = min(earliest, DeadlineRecord.deadline(of: found.key))
        guard let behind = found.key.namespaceID.next?.prefix else { break }
        record = try cursor.seek(behind.span)
      }
      return earliest
    }
  }
}
