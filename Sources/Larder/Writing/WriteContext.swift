import LMDB
import LarderSystem

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
