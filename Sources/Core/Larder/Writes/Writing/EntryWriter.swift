import LMDB
import LarderSystem

/// Finds, stores and removes entries within one batch, with their index records, counters and change events.
///
/// `SpaceBudget`, and not this type, enforces the limits: it evicts entries before one is stored.
struct EntryWriter: ~Copyable {
  var context: WriteContext
  var directory = NamespaceDirectory()
  var indexes: IndexWriter
  var changes: ChangeRecorder
  var removals: RemovalRecorder
  var orphans = OrphanQueue()
  /// Namespaces in which this batch has found a damaged record.
  var damaged: Set<NamespaceID> = []

  init(_ transaction: consuming StoreTransaction, _ counters: BatchCounters, engine: StoreEngine) {
    indexes = IndexWriter(engine.indexes, chunkSize: engine.reader.chunkSize)
    let id = transaction.id
    let context = WriteContext(transaction, counters, engine: engine)
    removals = RemovalRecorder(engine.removalTable)
    changes = ChangeRecorder(
      engine.changes.notes(for: id, in: counters.store), transaction: id, at: context.now)
    self.context = context
  }

  consuming func release() -> WriteTransaction { context.release() }

  /// A number that grows with every change of the databases or the counters.
  var mutations: Int {
    context.transaction.changes &+ context.counters.changes &+ indexes.deadlineChanges
  }

  /// Writes the counters, and the work that is left for later batches.
  mutating func finish() throws(LarderError) {
    try context.transaction.checkUsable()
    try indexes.flush(to: &context.transaction)
    for id in damaged {
      try NamespaceRepair(of: id, context.engine.indexes).runOrMark(&self)
    }
    try orphans.save(
      from: context.engine.indexes.tags, &context.counters, &context.transaction)
    try context.counters.save(to: &context.transaction)
  }
}

/// The write transaction of a batch and the counters it changes: the parts of a write take it beside their own state.
struct WriteContext: ~Copyable {
  let engine: StoreEngine
  /// The time of the whole batch.
  let now: Timestamp
  var transaction: StoreTransaction
  var counters: BatchCounters

  init(_ transaction: consuming StoreTransaction, _ counters: BatchCounters, engine: StoreEngine) {
    self.engine = engine
    now = engine.clock.now
    self.counters = counters
    self.transaction = transaction
  }

  consuming func release() -> WriteTransaction { transaction.release() }

  /// The state of the store with the changes of this batch.
  var state: StoreState { counters.store }

  /// Whether the id belongs to a namespace that was not cleared.
  mutating func isLive(_ id: NamespaceID) throws(LarderError) -> Bool {
    if counters.store.garbage == 0 { return true }
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
