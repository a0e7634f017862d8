import LMDB
import LarderSystem

/// Removes expired entries in the order of the expiry index. If an entry now expires at a later time than in the index, the
/// sweep adds the entry to the index with the later time.
struct ExpirySweep {
  /// The largest number of index records that a write checks to make room, before it evicts entries that have not expired.
  static let perWrite = 256

  /// A record of the expiry index with one of its entries; `entry` is nil for a damaged record, whose entries are unknown.
  typealias Due = (record: [UInt8], entry: IndexedEntry?)

  private let id: NamespaceID?
  private var left: Int
  /// The last checked entry.
  private(set) var position: Due?
  /// Whether the sweep has read the last due entry. Entries of the current write, large entries without free pages for a copy,
  /// and unchecked entries after a stop stay due.
  private(set) var isDone = false

  init(of id: NamespaceID?, limit: Int = Self.perWrite, after position: Due? = nil) {
    self.id = id
    left = limit
    self.position = position
  }

  /// Removes entries in steps of growing size, while `shouldContinue` returns true between the steps.
  @discardableResult
  mutating func run(
    _ session: inout WriteSession,
    while shouldContinue: (borrowing WriteSession) -> Bool = { _ in true }
  ) throws(LarderError) -> RemovalResult {
    var removal = RemovalResult()
    var step = 4
    while !isDone, left > 0, shouldContinue(session) {
      isDone = !session.state.mayBeDue(at: session.now)
      if isDone { break }
      let limit = min(step, left)
      let found = try due(limit: limit, &session)
      for due in found where shouldContinue(session) {
        if let entry = due.entry {
          removal += try remove(entry, &session)
        } else {
          try session.transaction.remove(due.record, from: session.engine.indexes.deadlines)
        }
      }
      left -= found.count
      step *= 4
      position = found.last ?? position
      guard found.count < limit else { continue }
      isDone = true
      if id == nil {
        let next = UInt64(clamping: try earliestIndexed(&session))
        session.ledger.updateStore { $0.nextDue = next }
      }
    }
    return removal
  }

  private func remove(
    _ indexed: IndexedEntry, _ session: inout WriteSession
  ) throws(LarderError) -> RemovalResult {
    let indexes = session.engine.indexes
    if let entryKey = try session.transaction.change({ lmdb throws(LMDBError) in
      try indexed.entryKey(in: &lmdb, indexes)
    }) {
      // The current write has read the entry, and will add the entry to the index itself, so the sweep does nothing.
      if session.mustStay(entryKey) { return RemovalResult() }
      let isLive = try session.isLive(indexed.id)
      switch try session.contents(of: entryKey) {
      case .entry(let entry) where indexed.leads(to: entry.header):
        if !isLive {
          try session.remove(entry, reason: nil)
          return RemovalResult()
        }
        if session.state(of: entry) == .expired {
          try session.remove(entry, reason: .expired)
          return RemovalResult(entries: 1, bytes: entry.valueCount)
        }
        // The use of the entry is only in memory. The entry stays due until a commit writes the use.
        if entry.header.state(at: session.now.milliseconds) == .expired { return RemovalResult() }
        // Without pages for a large copy the entry stays due: the sweep must not fail the write for which it makes room.
        guard entry.recordCount <= session.engine.pageSize / 2 || session.hasPages(forCopyOf: entry)
        else { return RemovalResult() }
        // Adds the entry to the index with its present end. The result is false if the record of the entry is damaged.
        let isIndexed = try session.amend(entry) { header, _ in
          header.deadline = header.indexedDeadline(replacing: nil)
        }
        if isIndexed { return RemovalResult() }
      case .damaged where isLive:
        // Removes the damaged entry now: the index record is removed next, so no later sweep would find the entry.
        try session.removeDamaged(entryKey)
      case .empty, .entry, .damaged: break
      }
    }
    try session.removeDeadline(of: indexed)
    return RemovalResult()
  }

  /// The next due entries, and the damaged index records that are due or are too short to contain a time.
  func due(limit: Int, _ session: inout WriteSession) throws(LarderError) -> [Due] {
    try session.flushDeadlines()
    let deadlines = session.engine.indexes.deadlines
    let now = session.now.milliseconds
    let (only, position) = (id, position)
    let prefix = only?.prefix ?? []
    let start = position?.record ?? prefix
    return try session.transaction.read { lmdb throws(LMDBError) in
      var found: [Due] = []
      var cursor = try lmdb.cursor(in: deadlines)
      var record = try cursor.seek(start.span)
      while let next = record, found.count < limit, next.key.starts(with: prefix.span) {
        let isShort = next.key.count < ExpiryRecord.headSize
        if isShort || ExpiryRecord.deadline(of: next.key) <= now {
          let key = next.key.copied
          let done: UInt64? = position.flatMap {
            $0.record == key ? $0.entry?.position ?? .max : nil
          }
          if let expiry = ExpiryRecord(next.key, next.value) {
            for indexed in expiry where found.count < limit {
              if let done, indexed.position <= done { continue }
              found.append((key, indexed))
            }
          } else if done == nil {
            found.append((key, nil))
          }
          record = try cursor.next()
        } else if only == nil, let id = next.key.namespaceID.next?.prefix {
          record = try cursor.seek(id.span)
        } else {
          break
        }
      }
      return found
    }
  }

  /// The earliest time in the index of any namespace; ``EntryHeader/never`` if the index is empty. O(namespaces).
  private func earliestIndexed(_ session: inout WriteSession) throws(LarderError) -> Int64 {
    try session.flushDeadlines()
    let deadlines = session.engine.indexes.deadlines
    var earliest = EntryHeader.never
    var start: [UInt8]?
    while let key = try session.transaction.keys(
      in: deadlines, from: [], after: start, limit: 1
    ).first {
      start = key
      guard key.count >= ExpiryRecord.headSize else { continue }
      earliest = min(earliest, ExpiryRecord.deadline(of: key.span))
      guard let next = key.span.namespaceID.next else { break }
      start = next.prefix
    }
    return earliest
  }
}
