import LMDB
import LarderSystem

/// A write transaction with all state of the write. Its extensions are the parts of a write, by the kind of change.
///
/// The session belongs to the writing thread, because only one variable holds it. It ends with the transaction.
struct WriteSession: ~Copyable {
  let engine: StoreEngine
  /// The time that the whole batch uses.
  private(set) var now: Timestamp
  var transaction: StoreTransaction
  var ledger: Ledger
  var known = KnownNamespaces()
  var deadlines = PendingDeadlines()
  var changes: ChangeRecorder
  var removals: RemovalRecorder
  var orphans = OrphanQueue()
  /// The entry for which the batch makes room.
  var admission: Admission?
  /// Namespaces in which this batch has found a damaged record.
  var damaged: Set<NamespaceID> = []

  /// - Parameter balance: the counters at the begin of the transaction.
  init(_ lmdb: consuming WriteTransaction, _ balance: Ledger.Balance, engine: StoreEngine) {
    let id = lmdb.id
    self.engine = engine
    now = engine.clock.now
    transaction = StoreTransaction(lmdb, path: engine.environment.path)
    ledger = Ledger(balance)
    removals = RemovalRecorder(engine.removalTable)
    changes = ChangeRecorder(
      engine.changes.notes(for: id, in: balance.store), transaction: id, at: now)
  }

  /// Gives the batch the time of this call: storing the records of the write buffer takes a while.
  mutating func renewTime() {
    now = engine.clock.now
    changes.time = now
  }

  /// The state of the store with the changes of this batch.
  var state: StoreState { ledger.store }

  /// A number that grows with every change in the databases or the counters.
  var mutations: Int { transaction.changes &+ ledger.changes &+ deadlines.count }

  /// Writes the counters, and the work for later batches.
  mutating func finish() throws(LarderError) {
    try transaction.checkUsable()
    try flushDeadlines()
    for id in damaged { try NamespaceRepair(of: id, engine.indexes).runOrMark(&self) }
    try saveOrphans()
    try saveCounters()
  }

  /// Ends the session; LMDB's transaction goes back to its owner.
  consuming func end() -> WriteTransaction { transaction.end() }

  /// Whether the id belongs to a namespace that was not cleared.
  mutating func isLive(_ id: NamespaceID) throws(LarderError) -> Bool {
    if ledger.store.garbage == 0 { return true }
    return try !transaction.contains(MetadataKey.garbage(id), in: .main)
  }

  /// Whether the databases use more than `pages` pages.
  func usesMore(than pages: Int) -> Bool {
    do {
      return try transaction.usedPages(of: engine.indexes.all) > pages
    } catch {
      // The next change fails with the same error, and reports it.
      return false
    }
  }
}
