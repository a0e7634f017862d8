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

  init(_ lmdb: consuming WriteTransaction, _ balance: Ledger.Balance, engine: StoreEngine) {
    let id = lmdb.id
    self.engine = engine
    now = engine.clock.now
    transaction = StoreTransaction(lmdb, path: engine.environment.path)
    ledger = Ledger(balance)
    changes = engine.changes.notes(for: id, in: balance.store)
  }

  /// Makes the transaction change something, so that it really commits: freed pages can be used only after two more commits.
  mutating func forceCommit() { ledger.updateStore { $0.forcedCommits &+= 1 } }

  /// Sets the time of the batch again, because storing the records of the write buffer takes some time.
  mutating func renewTime() { now = engine.clock.now }

  var state: StoreState { ledger.store }

  var mutations: Int { transaction.changes &+ ledger.changes &+ deadlines.count }

  mutating func finish() throws(LarderError) {
    try transaction.checkUsable()
    try flushDeadlines()
    for id in damaged {
      try NamespaceRepair(id: id, indexes: engine.indexes).runOrMark(&self)
    }
    try saveOrphans()
    try saveCounters()
  }

  consuming func end() -> WriteTransaction { transaction.end() }

  mutating func isLive(_ id: NamespaceID) throws(LarderError) -> Bool {
    if ledger.store.garbage == 0 { return true }
    return try !transaction.contains(MetadataKey.garbage(id), in: .main)
  }

  func usesMore(than pages: Int) -> Bool {
    do {
      return try transaction.usedPages(of: engine.indexes.all) > pages
    } catch {
      // This function cannot throw. The next change of the batch fails with the same error and reports it.
      return false
    }
  }
}
