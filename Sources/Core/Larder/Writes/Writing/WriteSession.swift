import LMDB
import LarderSystem

/// A write transaction and all state of the write. The session is in one variable of the writing thread and is never copied.
struct WriteSession: ~Copyable {
  let engine: StoreEngine
  private(set) var now: Timestamp
  var transaction: StoreTransaction
  var ledger: Ledger
  var budget = SpaceBudget(limits: StoreLimits())
  var known = LatestTable<ExactString, KnownNamespace>(unused: .new)
  var deadlines = PendingDeadlines()
  var changes: PendingChanges?
  var effects = BatchEffects()
  var orphans = OrphanQueue()
  /// Namespaces in which this batch has found a damaged record. Their entries must be counted again.
  var damaged: Set<NamespaceID> = []
  // Lists as of a generation of the metadata.
  var listed: (generation: UInt64, namespaces: [KnownNamespace])?
  var hiding: (generation: UInt64, tombstones: [Tombstone])?

  init(_ lmdb: consuming WriteTransaction, _ ledger: Ledger, engine: StoreEngine) {
    let id = lmdb.id
    self.engine = engine
    now = engine.clock.now
    transaction = StoreTransaction(lmdb, path: engine.environment.path)
    self.ledger = ledger
    changes = engine.changes.notes(for: id, in: ledger.store)
  }

  /// Changes something, so that the transaction really commits: only the second commit after a commit can use its freed pages.
  mutating func forceCommit() { ledger.updateStore { $0.forcedCommits &+= 1 } }

  /// Sets the time of the batch again, because storing the records of the write buffer takes some time.
  mutating func renewTime() { now = engine.clock.now }

  var state: StoreState { ledger.store }

  var mutations: Int { transaction.changes &+ ledger.changes &+ deadlines.count }

  mutating func finish() throws(LarderError) {
    try transaction.checkUsable()
    try flushDeadlines()
    for id in damaged { try NamespaceRepair(id: id, indexes: engine.indexes).runOrMark(&self) }
    try saveOrphans()
    try saveCounters()
  }

  consuming func end() -> WriteTransaction { transaction.end() }

  /// Whether the namespace with this id was not cleared.
  mutating func isLive(_ id: NamespaceID) throws(LarderError) -> Bool {
    if ledger.store.garbage == 0 { return true }
    return try !transaction.contains(MetadataKey.garbage(id), in: .main)
  }

  func usesMore(than pages: Int) -> Bool {
    // This function cannot throw. If the number cannot be read, the result is false, and the next change throws the error.
    guard let used = try? transaction.usedPages(of: engine.indexes.all) else { return false }
    return used > pages
  }

  mutating func load(_ id: NamespaceID) throws(LarderError) {
    if ledger.isLoaded(id) { return }
    let (seal, now) = (engine.seal, now)
    var isDamaged = false
    let counters = try transaction.read { lmdb throws(LMDBError) -> NamespaceCounters in
      try MetadataKey.withCounters(id) { key throws(LMDBError) in
        let record = try lmdb.value(for: key, in: .main)
        if let record, let counters = NamespaceCounters(record, of: id, seal: seal) {
          return counters
        }
        let counted = try NamespaceCounters.recounted(id, since: now, in: lmdb)
        // If entries have no record of counters, its key is damaged. New counters would give versions in use again.
        isDamaged = record != nil || counted.entries > 0
        return isDamaged ? counted : NamespaceCounters()
      }
    }
    ledger.add(counters, of: id, isCounted: isDamaged)
  }

  mutating func counters(of id: NamespaceID) throws(LarderError) -> NamespaceCounters {
    try load(id)
    return ledger.read(id) { $0 }
  }

  mutating func update(
    _ id: NamespaceID, _ change: (inout NamespaceCounters) -> Void
  ) throws(LarderError) {
    try load(id)
    ledger.updateLoaded(id, change)
  }

  /// Replaces the weight of an old entry by the weight of a new entry; nil means none. Without `reason` no removal counts.
  mutating func charge(
    _ old: EntryWeight?, _ new: EntryWeight?, to id: NamespaceID, removing reason: RemovalReason?
  ) throws(LarderError) {
    if old == new, reason == nil { return }
    try update(id) { counters in
      if let old {
        counters.count(old, &-)
        if let reason { counters.removals.count(reason, bytes: old.size) }
      }
      if let new { counters.count(new) }
    }
    ledger.updateStore { store in
      if let old {
        store.entries &-= 1
        store.bytes &-= UInt64(old.size)
        store.stored &-= UInt64(old.stored)
      }
      if let new {
        store.entries &+= 1
        store.bytes &+= UInt64(new.size)
        store.stored &+= UInt64(new.stored)
      }
    }
  }

  /// Takes the next number of a namespace, for the version of a value or the queue position of a new entry.
  mutating func nextNumber(in id: NamespaceID) throws(LarderError) -> UInt64 {
    try load(id)
    let number = ledger.read(id) { $0.next }
    ledger.updateLoaded(id) { $0.next &+= 1 }
    guard number < QueuePosition.limit - 1 else {
      throw transaction.fail(
        LarderError(
          .overLimit, "a namespace has used all of its \(QueuePosition.limit) version numbers",
          hint: "move its entries to another namespace"))
    }
    return number
  }

  mutating func saveCounters() throws(LarderError) {
    let seal = engine.seal
    try ledger.visitChanged { id, counters throws(LarderError) in
      try MetadataKey.withCounters(id) { key throws(LarderError) in
        try transaction.put(count: NamespaceCounters.recordSize, for: key, in: .main) {
          counters.write(to: &$0, of: id, seal: seal)
        }
      }
    }
    guard ledger.isStoreChanged else { return }
    let (key, store) = (MetadataKey.state, ledger.store)
    try transaction.put(count: StoreState.recordSize, for: key.span, in: .main) {
      store.write(to: &$0, seal: seal)
    }
  }

  // In milliseconds: the largest plausible jump of the wall clock, and the time after which a purge trusts a clock that jumped.
  private static let mostAhead: Int64 = 86_400_000
  private static let doubtTime: Int64 = 60_000

  /// Whether the wall clock is at most a day after the last recorded time. Time that passed in this process does not count.
  var isClockPlausible: Bool { isPlausible(now) }

  private func isPlausible(_ now: Timestamp) -> Bool {
    let recorded = ledger.store.lastStamp
    let lastStamp = Timestamp(milliseconds: Int64(clamping: recorded))
    let gap = lastStamp.duration(to: now).roundedUpMilliseconds
    if recorded == 0 || gap <= Self.mostAhead { return true }
    // If this process's monotonic clock has also advanced during a part of the gap, that part is no jump. The store's clock may
    // go back, although the contract of a program's own clock forbids that. So negative times count as 0.
    let opened = engine.opened
    let sinceOpening = max(0, monotonic &- opened.monotonic.roundedUpMilliseconds)
    let sinceStamp = opened.now.duration(to: lastStamp).roundedUpMilliseconds
    return gap - max(0, sinceOpening - max(0, sinceStamp)) <= Self.mostAhead
  }

  private var monotonic: Int64 { engine.clock.monotonic.roundedUpMilliseconds }

  /// Records the time of a write. An implausible time is not recorded: a write must not confirm a clock that has jumped.
  mutating func recordWriteTime() { recordWrite(at: now) }

  mutating func recordWrite(at time: Timestamp) {
    if !ledger.hasRecorded(time), isPlausible(time) { ledger.recordTime(time) }
  }

  /// Whether a purge may trust the wall clock: the clock is plausible, or was first found not plausible at least a minute ago.
  mutating func recordPurgeTime() -> Bool {
    let since = Int64(clamping: ledger.store.suspectSince) - 1
    if isClockPlausible || since >= 0 && monotonic >= since && monotonic - since >= Self.doubtTime {
      ledger.recordTime(now)
      return true
    }
    // The stored value is the time plus 1; 0 means a trusted clock. A restart of the machine resets the clock and the minute.
    if since < 0 || monotonic < since {
      let stored = UInt64(clamping: monotonic) &+ 1
      ledger.updateStore { $0.suspectSince = stored }
    }
    return false
  }
}
