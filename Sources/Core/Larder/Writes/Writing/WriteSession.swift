import LMDB
import LarderSystem

/// A write transaction and all that a write keeps beside it: each part of a write reaches the others through it.
///
/// It belongs to the thread that writes and ends with the transaction; ``StoreTransaction`` checks the thread in debug builds.
final class WriteSession {
  let engine: StoreEngine
  /// The time of the whole batch.
  let now: Timestamp
  let transaction: StoreTransaction
  let ledger: Ledger
  let directory: NamespaceDirectory
  let indexes: IndexWriter
  var changes: ChangeRecorder
  var removals: RemovalRecorder
  var orphans = OrphanQueue()
  /// Namespaces in which this batch has found a damaged record.
  var damaged: Set<NamespaceID> = []

  /// - Parameter balance: what the counters are when the transaction begins.
  init(_ lmdb: consuming WriteTransaction, _ balance: Ledger.Balance, engine: StoreEngine) {
    self.engine = engine
    now = engine.clock.now
    let transaction = StoreTransaction(lmdb, in: engine.environment)
    let ledger = Ledger(balance, of: transaction, seal: engine.seal)
    self.transaction = transaction
    self.ledger = ledger
    directory = NamespaceDirectory(transaction, ledger, engine: engine, now: now)
    indexes = IndexWriter(engine.indexes, transaction, ledger, chunkSize: engine.reader.chunkSize)
    removals = RemovalRecorder(engine.removalTable)
    changes = ChangeRecorder(
      engine.changes.notes(for: transaction.id, in: balance.store), transaction: transaction.id,
      at: now)
  }

  var entries: EntryTable { EntryTable(session: self) }

  /// The state of the store with the changes of this batch.
  var state: StoreState { ledger.store }

  /// A number that grows with every change of the databases or the counters.
  var mutations: Int { transaction.changes &+ ledger.changes &+ indexes.deadlineChanges }

  /// Writes the counters, and the work that is left for later batches.
  func finish() throws(LarderError) {
    try transaction.checkUsable()
    try indexes.flush()
    for id in damaged { try NamespaceRepair(of: id, engine.indexes).runOrMark(self) }
    try orphans.save(self)
    try ledger.save()
  }

  /// Whether the id belongs to a namespace that was not cleared.
  func isLive(_ id: NamespaceID) throws(LarderError) -> Bool {
    if ledger.store.garbage == 0 { return true }
    return try !transaction.contains(MetadataKey.garbage(id), in: .main)
  }

  /// Whether the databases use more than so many pages.
  func usesMore(than pages: Int) -> Bool {
    do {
      return try transaction.usedPages(of: engine.indexes.all) > pages
    } catch {
      // The next change fails with the same error, and reports it.
      return false
    }
  }
}
