import LMDB
import LarderSystem

/// Finds, stores and removes entries within one batch, with their index records, counters and change events.
///
/// `SpaceBudget`, and not this type, enforces the limits: it evicts entries before one is stored.
struct EntryWriter: ~Copyable {
  let engine: StoreEngine
  /// The time of the whole batch.
  let now: Timestamp
  // Only extensions of this type change these; others call its methods.
  var transaction: StoreTransaction
  var counters: BatchCounters
  var directory: NamespaceDirectory
  var indexes: IndexWriter
  var changes: ChangeRecorder
  var orphans = OrphanQueue()
  /// Namespaces in which this batch has found a damaged record.
  var damaged: Set<NamespaceID> = []

  init(_ transaction: consuming StoreTransaction, _ counters: BatchCounters, engine: StoreEngine) {
    self.engine = engine
    now = engine.clock.now
    self.counters = counters
    directory = NamespaceDirectory(engine)
    indexes = IndexWriter(engine.indexes, chunkSize: engine.reader.chunkSize)
    changes = ChangeRecorder(
      engine.changes.notes(for: transaction.id, in: counters.store), transaction: transaction.id,
      at: now)
    self.transaction = transaction
  }

  consuming func release() -> WriteTransaction { transaction.release() }

  /// The state of the store with the changes of this batch.
  var state: StoreState { counters.store }

  /// A number that grows with every change of the databases or the counters.
  var mutations: Int { transaction.changes &+ counters.changes &+ indexes.deadlineChanges }

  mutating func updateStore(_ change: (inout StoreState) -> Void) { counters.updateStore(change) }

  mutating func recordWriteTime() { counters.recordWriteTime(now) }

  func checkUsable() throws(LarderError) { try transaction.checkUsable() }

  mutating func fail(_ error: LarderError) -> LarderError { transaction.fail(error) }

  mutating func read<Result>(
    _ body: (borrowing WriteTransaction) throws(LMDBError) -> Result
  ) throws(LarderError) -> Result { try transaction.read(body) }

  /// Looks something up that the caller is about to change.
  mutating func change<Result>(
    _ body: (inout WriteTransaction) throws(LMDBError) -> Result
  ) throws(LarderError) -> Result { try transaction.change(body) }

  /// Runs an operation on LMDB that belongs to no entry, such as one on a metadata record.
  mutating func withTransaction<Result>(
    _ body: (inout StoreTransaction) throws(LarderError) -> Result
  ) throws(LarderError) -> Result { try body(&transaction) }

  /// Writes the counters, and the work that is left for later batches.
  mutating func finish() throws(LarderError) {
    try transaction.checkUsable()
    try flushIndexes()
    for id in damaged { try repairOrMark(id) }
    try orphans.save(from: engine.indexes.tags, &counters, &transaction)
    try counters.save(to: &transaction)
  }
}

// MARK: Namespaces

extension EntryWriter {
  mutating func namespace(_ name: String) throws(LarderError) -> KnownNamespace? {
    try directory.find(name, counters, &transaction)
  }

  mutating func findOrMakeNamespace(_ name: String) throws(LarderError) -> KnownNamespace {
    try directory.findOrMake(name, at: now, &counters, &transaction)
  }

  mutating func withDirectory<Result>(
    _ body: (
      inout NamespaceDirectory, inout BatchCounters, inout StoreTransaction
    ) throws(LarderError) -> Result
  ) throws(LarderError) -> Result { try body(&directory, &counters, &transaction) }

  mutating func names() throws(LarderError) -> [String] { try directory.names(&transaction) }

  mutating func name(of id: NamespaceID) throws(LarderError) -> String? {
    try directory.name(of: id, counters, &transaction)
  }

  mutating func settings() throws(LarderError) -> StoreSettings {
    try directory.settings(counters, &transaction)
  }

  /// Whether the id belongs to a namespace that was not cleared.
  mutating func isLive(_ id: NamespaceID) throws(LarderError) -> Bool {
    if counters.store.garbage == 0 { return true }
    return try !transaction.contains(MetadataKey.garbage(id), in: .main)
  }
}

// MARK: Counters

extension EntryWriter {
  mutating func counters(of id: NamespaceID) throws(LarderError) -> NamespaceCounters {
    try counters.counters(of: id, &transaction)
  }

  mutating func update(
    _ id: NamespaceID, _ change: (inout NamespaceCounters) -> Void
  ) throws(LarderError) {
    try counters.update(id, &transaction, change)
  }

  /// Changes the queue state of a namespace whose counters were loaded.
  mutating func updateQueue(_ id: NamespaceID, _ queue: QueueState) {
    counters.updateLoaded(id) { $0.queue = queue }
  }

  mutating func begin(_ id: NamespaceID, with new: NamespaceCounters) {
    counters.begin(id, with: new)
  }

  mutating func dropCounters(of id: NamespaceID) {
    counters.drop(id)
    damaged.remove(id)
  }

  mutating func nextNumber(in id: NamespaceID) throws(LarderError) -> UInt64 {
    try counters.nextNumber(in: id, &transaction)
  }

  mutating func add(_ weight: EntryWeight, to id: NamespaceID) throws(LarderError) {
    try counters.add(weight, to: id, &transaction)
  }

  mutating func subtract(_ weight: EntryWeight, from id: NamespaceID) throws(LarderError) {
    try counters.subtract(weight, from: id, &transaction)
  }

  mutating func count(
    _ reason: RemovalReason, bytes: Int = 0, in id: NamespaceID
  ) throws(LarderError) {
    try update(id) { $0.removals.count(reason, bytes: bytes) }
  }
}

// MARK: Indexes

extension EntryWriter {
  /// Writes the changes of the expiry index that are not written yet, before it is read.
  mutating func flushIndexes() throws(LarderError) { try indexes.flush(to: &transaction) }

  mutating func moveDeadline(
    of entryKey: [UInt8], to header: EntryHeader, from before: EntryHeader?
  ) throws(LarderError) {
    try indexes.moveDeadline(of: entryKey, to: header, from: before, &counters, &transaction)
  }

  mutating func removeDeadline(of indexed: IndexedEntry) throws(LarderError) {
    try indexes.removeDeadline(of: indexed, &transaction)
  }

  mutating func moveInQueue(
    _ entryKey: [UInt8], to position: UInt64, from before: UInt64
  ) throws(LarderError) {
    try indexes.moveInQueue(entryKey, to: position, from: before, &transaction)
  }

  mutating func replaceOwners(
    of entry: StoredEntry, with owners: [StoredOwner]
  ) throws(LarderError) {
    try indexes.replaceOwners(
      entry.owners, with: owners, of: entry.entryKey, &counters, &transaction)
  }
}
