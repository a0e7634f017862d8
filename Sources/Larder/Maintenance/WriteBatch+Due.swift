import LMDB
import LarderSystem

extension WriteBatch {
  /// How many due records a write that needs room looks at before others than the expired must give way.
  static let expiredPerWrite = 256

  /// Removes entries that have expired, of one namespace or of any, as expired, for as long as `shouldContinue` and no more than
  /// `limit` records that are due are looked at. Entries that live on, their end having moved later, are indexed anew.
  ///
  /// For a write that needs room: it trusts the clock, as reads do.
  /// - Parameter kept: places in the main database that must stay, and with them what they belong to.
  @discardableResult
  mutating func removeExpired(
    in id: NamespaceID?, limit: Int = Self.expiredPerWrite, keeping kept: Set<[UInt8]> = [],
    while shouldContinue: (borrowing WriteBatch) -> Bool = { _ in true }
  ) throws(LarderError) -> RemovalResult {
    var removal = RemovalResult()
    var left = limit
    var position: [UInt8]?
    var step = 4
    while left > 0, shouldContinue(self), state.mayBeDue(at: now) {
      let keys = try due(in: id, limit: min(step, left), behind: position)
      for key in keys where shouldContinue(self) { removal += try removeDue(key, keeping: kept) }
      if keys.count < min(step, left) {
        try settle(id)
        break
      }
      position = keys.last
      left -= keys.count
      step *= 4
    }
    return removal
  }

  /// Whether the namespace, or any, has a record that is due. It may be of an entry that lives on.
  mutating func mayHaveExpired(in id: NamespaceID?) throws(LarderError) -> Bool {
    guard state.mayBeDue(at: now) else { return false }
    return try !due(in: id, limit: 1, behind: nil).isEmpty
  }

  /// Removes what is due among the next `limit` records; returns where to go on, nil at the end of what is due.
  mutating func removeDue(
    in id: NamespaceID?, limit: Int, behind position: [UInt8]?
  ) throws(LarderError) -> (removal: RemovalResult, reached: [UInt8]?) {
    var removal = RemovalResult()
    guard state.mayBeDue(at: now) else { return (removal, nil) }
    let keys = try due(in: id, limit: limit, behind: position)
    for key in keys { removal += try removeDue(key, keeping: []) }
    if keys.count >= limit { return (removal, keys.last) }
    try settle(id)
    return (removal, nil)
  }

  /// After the end of what is due, of all namespaces: notes when something will be next.
  private mutating func settle(_ id: NamespaceID?) throws(LarderError) {
    if id == nil { state.nextDue = UInt64(clamping: try earliestIndexed()) }
  }

  /// What one due record of the index leads to.
  private mutating func removeDue(
    _ indexKey: [UInt8], keeping kept: Set<[UInt8]>
  ) throws(LarderError) -> RemovalResult {
    if let record = DeadlineRecord(indexKey.span) {
      // Whoever is writing it holds what its record said, and indexes it himself.
      if kept.contains(record.slot) { return RemovalResult() }
      let id = record.slot.span.namespaceID
      switch try occupant(of: record.slot) {
      case .entry(let entry) where entry.header.deadline == record.deadline:
        let isLive = try isLive(id)
        if !isLive {
          try eraseRecords(entry)
          return RemovalResult()
        }
        if entry.header.staleUntil <= now.milliseconds {
          if try owns(entry.slot, anyOf: kept) { return RemovalResult() }
          try remove(entry, reason: .expired)
          return RemovalResult(entries: 1, bytes: entry.valueCount)
        }
        if try reindex(entry) { return RemovalResult() }
      case .damaged where try isLive(id):
        // Nobody can read it, and nothing else would ever come by here again.
        try lose(record.slot)
        try change { transaction throws(LMDBError) in
          _ = try transaction.remove(record.slot, from: .main)
        }
      case .nobody, .entry, .damaged:
        break
      }
    }
    // It leads to nothing that would miss it.
    let deadlines = engine.indexes.deadlines
    try change { transaction throws(LMDBError) in
      _ = try transaction.remove(indexKey, from: deadlines)
    }
    return RemovalResult()
  }

  /// Indexes an entry under the end it has now, after its old record came due.
  private mutating func reindex(_ entry: StoredEntry) throws(LarderError) -> Bool {
    try unindex(entry.slot, deadline: entry.header.deadline)
    return try reschedule(
      entry, expires: entry.header.expires, staleUntil: entry.header.staleUntil,
      idle: entry.fields.idle, isIndexed: false)
  }

  /// Up to `limit` records of one namespace, or of all, that are due, or damaged beyond leading anywhere.
  ///
  /// From the first record of a namespace that is not due it leaps to the next namespace.
  private mutating func due(
    in only: NamespaceID?, limit: Int, behind position: [UInt8]?
  ) throws(LarderError) -> [[UInt8]] {
    let deadlines = engine.indexes.deadlines
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
    let deadlines = engine.indexes.deadlines
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
