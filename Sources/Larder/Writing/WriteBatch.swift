import LMDB
import LarderSystem
import Synchronization

/// Several changes that become visible together, or not at all.
///
/// It is made by ``Store/write(_:)`` and ends with it. Reads through it see its own changes. A batch takes at most
/// 100,000 changes and 64 MB (one larger value by itself is fine); beyond that the write fails and nothing is changed.
public struct WriteBatch: ~Copyable {
  static let largestCount = 100_000
  static let largestSize = 64 << 20

  var transaction: WriteTransaction
  let engine: StoreEngine
  /// The moment of the whole batch: what it writes was written then.
  let now: Timestamp
  var state: StoreState
  /// The namespaces this batch has met, by name and by id.
  var known: [String: KnownNamespace] = [:] { didSet { latest = nil } }
  /// The one of these that was asked for last.
  private var latest: KnownNamespace?
  var counters = ByNamespace<NamespaceCounters>()
  var storedCounters: [NamespaceID: NamespaceCounters] = [:]
  private let storedState: StoreState
  /// Namespaces in which a damaged record was met: their counts are taken anew before the commit.
  var damaged: Set<NamespaceID> = []
  /// Counts of reads that this batch takes into the store; if it fails they are pending again.
  var merged: [(handle: NamespaceHandle, counts: ReadCounters)] = []
  /// Removals asked for by reads that this batch carries out; if it fails they are waiting again.
  var removing: [[UInt8]] = []
  /// Uses that this batch puts down; if it fails they are waiting again.
  var using: [PendingAccesses.Use] = []
  /// The changes so far, if somebody watches.
  var notes: PendingChanges?
  /// Whether there were changes while nobody watched.
  var hasUnnoted = false
  /// The store's limits, once this batch has looked them up.
  var knownLimits: StoreLimits?
  /// What the data file's limit leaves; nil without one.
  var disk: DiskRoom?
  /// How many pages a write found missing, for which the batch failed.
  var pagesShort: Int?
  /// The place of the entry that is being written, while room is made for it.
  var writing: [UInt8]?
  /// A namespace behind whose queue others lie.
  var followed: NamespaceID?
  /// Set by who finds by itself what is to be removed, and counts it: nothing else is taken along.
  var leavesQueue = false
  private var changes = 0
  private var size = 0
  /// How often counts were changed, which are written at the end.
  private var countings = 0
  /// Why nothing of this batch can be committed any more: a change went wrong midway, whether or not the caller caught
  /// the error.
  private(set) var failure: (error: LarderError, cause: LMDBError?)?

  /// - Parameter state: the store's state as the transaction finds it.
  init(_ transaction: consuming WriteTransaction, state: StoreState, engine: StoreEngine) {
    self.engine = engine
    now = engine.clock.now
    self.state = state
    storedState = state
    notes = engine.changes.notes(for: transaction.id, in: state)
    self.transaction = transaction
  }

  /// A number that is another after anything was changed, in the databases or in the counts.
  var mutations: Int { transaction.changes &+ countings }

  /// Counts a change against the batch's bounds.
  mutating func account(_ bytes: Int) throws(LarderError) {
    if let failure { throw failure.error }
    changes += 1
    size += bytes
    if changes > 1, changes > Self.largestCount || size > Self.largestSize {
      let error = LarderError(
        .overLimit, "a batch of \(changes) changes and \(size) bytes is too large",
        hint: "split it: at most \(Self.largestCount) changes and \(Self.largestSize) bytes")
      throw fail(error)
    }
  }

  /// Lets nothing of this batch be committed any more.
  mutating func fail(_ error: LarderError) -> LarderError {
    if failure == nil { failure = (error, nil) }
    return error
  }

  /// Writes what was accumulated: each namespace's counters once, and the store's state.
  mutating func finish() throws(LarderError) {
    if let failure { throw failure.error }
    for id in damaged { try repair(id) }
    for (id, counters) in counters.all where counters != storedCounters[id] {
      try change { transaction throws(LMDBError) in
        try transaction.put(counters.encoded, for: MetadataKey.counters(id), in: .main)
      }
    }
    guard state != storedState else { return }
    let bytes = state.encoded
    try change { transaction throws(LMDBError) in
      try transaction.put(bytes, for: MetadataKey.state, in: .main)
    }
  }

  consuming func release() -> WriteTransaction { transaction }
}

extension WriteBatch {
  /// The namespace of that name; nil if there is none.
  mutating func namespace(_ name: String) throws(LarderError) -> KnownNamespace? {
    if let latest, latest.name == name { return latest }
    latest = try lookUp(name)
    return latest
  }

  private mutating func lookUp(_ name: String) throws(LarderError) -> KnownNamespace? {
    if let known = known[name] { return known }
    let handle = engine.handle(for: name)
    // What this batch itself changed in the catalogue may yet be taken back: only what is committed is remembered.
    let generation = isCatalogueCommitted ? state.generation : nil
    if let generation,
      let namespace = handle.known.withLock({ $0?.generation == generation ? $0?.namespace : nil })
    {
      known[name] = namespace
      return namespace
    }
    guard
      let bytes = try read({ transaction throws(LMDBError) in
        try transaction.value(for: MetadataKey.namespace(name), in: .main)?.copied
      })
    else { return nil }
    let namespace = KnownNamespace(try NamespaceRecord(bytes.span, name: name), named: name)
    if let generation { handle.known.withLock { $0 = (generation, namespace) } }
    known[name] = namespace
    return namespace
  }

  /// What the catalogue says of the namespace of that name; nil if there is none.
  mutating func record(named name: String) throws(LarderError) -> NamespaceRecord? {
    try namespace(name)?.record
  }

  /// Whether the catalogue is as it was before this batch: what it says may then be remembered.
  var isCatalogueCommitted: Bool { state.generation == storedState.generation }

  /// The namespace of that name, made if there is none.
  mutating func namespaceMaking(_ name: String) throws(LarderError) -> KnownNamespace {
    if let namespace = try namespace(name) { return namespace }
    try Store.Namespace.validate(name)
    let record = NamespaceRecord(id: try newID(), created: now.milliseconds)
    return try store(record, named: name)
  }

  @discardableResult
  mutating func store(
    _ record: NamespaceRecord, named name: String
  ) throws(LarderError) -> KnownNamespace {
    let bytes = try record.encoded(name: name)
    try change { transaction throws(LMDBError) in
      try transaction.put(bytes, for: MetadataKey.namespace(name), in: .main)
    }
    let namespace = KnownNamespace(record, named: name)
    known[name] = namespace
    state.generation &+= 1
    return namespace
  }

  /// An id that neither a namespace nor garbage has.
  mutating func newID() throws(LarderError) -> NamespaceID {
    for _ in 0..<NamespaceID.limit {
      if !(1..<UInt64(NamespaceID.limit)).contains(state.nextID) { state.nextID = 1 }
      let id = NamespaceID(rawValue: UInt32(state.nextID))
      state.nextID += 1
      let key = MetadataKey.counters(id)
      let isTaken = try read { transaction throws(LMDBError) in
        try transaction.value(for: key, in: .main) != nil
      }
      if !isTaken {
        counters[id] = NamespaceCounters(since: now, epoch: transaction.id)
        return id
      }
    }
    throw LarderError(
      .overLimit, "\(engine.environment.path) has no namespace id left", hint: "remove namespaces")
  }

  mutating func loadCounters(_ id: NamespaceID) throws(LarderError) -> NamespaceCounters {
    try meet(id)
    return counters[id] ?? NamespaceCounters()
  }

  /// Sees to it that a namespace's counters are at hand.
  mutating func meet(_ id: NamespaceID) throws(LarderError) {
    if counters.contains(id) { return }
    let loaded = try read { transaction throws(LMDBError) -> NamespaceCounters in
      guard let bytes = try transaction.value(for: MetadataKey.counters(id), in: .main) else {
        return NamespaceCounters()
      }
      return NamespaceCounters(bytes)
    }
    counters[id] = loaded
    storedCounters[id] = loaded
  }

  mutating func read<Result>(
    _ body: (borrowing WriteTransaction) throws(LMDBError) -> Result
  ) throws(LarderError) -> Result {
    do throws(LMDBError) { return try body(transaction) } catch { throw failed(error) }
  }

  mutating func change<Result>(
    _ body: (inout WriteTransaction) throws(LMDBError) -> Result
  ) throws(LarderError) -> Result {
    do throws(LMDBError) { return try body(&transaction) } catch { throw failed(error) }
  }

  /// Changes the counts of a namespace, which are written at the end.
  mutating func update(
    _ id: NamespaceID, _ change: (inout NamespaceCounters) -> Void
  ) throws(LarderError) {
    try meet(id)
    countings &+= 1
    change(&counters[id]!)
  }

  mutating func put(
    _ value: Span<UInt8>, for key: [UInt8], in database: Database
  ) throws(LarderError) {
    do throws(LMDBError) {
      try transaction.put(value, for: key.span, in: database)
    } catch {
      throw failed(error)
    }
  }

  mutating func failed(_ cause: LMDBError) -> LarderError {
    let error = engine.error(cause)
    if failure == nil { failure = (error, cause) }
    return error
  }

  /// Notes the moment of a write or a purge, against which a later purge judges its clock.
  ///
  /// The last one and not the largest: a clock that was ahead for a while must not leave a mark that excuses the next
  /// jump.
  mutating func stamp() {
    state.lastStamp = UInt64(clamping: now.milliseconds)
    state.suspectSince = 0
  }
}
