import LMDB

/// Compares every record of the store with the records that depend on that record, and collects the faults in ``result``.
struct Verifier {
  let engine: StoreEngine
  var result: Verification

  var namespaces: [MetadataReader.ListedNamespace] = []
  var names: [NamespaceID: String] = [:]
  var recounted: [NamespaceID: NamespaceCounters] = [:]
  var garbage: Set<NamespaceID> = []
  /// The number of entries for each id that has no namespace and is not cleared.
  var orphans: [NamespaceID: Int] = [:]
  var dependents: UInt64 = 0
  /// The lengths of the values in chunks, by namespace and version.
  var chunked: [NamespaceID: [UInt64: Int]] = [:]
  /// The records of the tag index that no entry has explained yet.
  var unexplained = KeyCounts()

  /// The number of records of the tag index whose check had to read all tags of an entry.
  var tagLookups = 0

  private let shouldContinue: (_ done: Int, _ all: Int) -> Bool
  private var done = 0
  private var all = 0
  private var looks = 0

  init(engine: StoreEngine, while shouldContinue: @escaping (_ done: Int, _ all: Int) -> Bool) {
    self.engine = engine
    result = Verification(store: engine.identity)
    self.shouldContinue = shouldContinue
  }

  /// Runs all checks. Returns false if `shouldContinue` stopped the checks.
  mutating func run(in transaction: borrowing ReadTransaction) throws(LarderError) -> Bool {
    let damaged = try engine.typed { try transaction.damagedPages(databases: engine.indexes.all) }
    for damage in damaged { report(.damagedPage(damage)) }
    do throws(LarderError) {
      try checkSettings(transaction)
      try checkNamespaces(transaction)
    } catch {
      if !isDamaged { throw error }
      result.unfinished = Set(Verification.Part.allCases)
    }
    do throws(LMDBError) {
      for part in Verification.Part.allCases { try checkReachable(part, transaction) }
      return true
    } catch .stopped { return false } catch { throw engine.error(error) }
  }

  var isDamaged: Bool { result.faults.contains { $0.kind == .pages } }

  /// Runs a part of the check. A damaged page ends the part without a report, because damaged pages were reported before.
  private mutating func checkReachable(
    _ part: Verification.Part, _ transaction: borrowing ReadTransaction
  ) throws(LMDBError) {
    do throws(LMDBError) {
      switch part {
      case .sizes:
        for database in [.main] + engine.indexes.all {
          all += try transaction.statistics(of: database).records
        }
      case .garbage: try checkGarbage(transaction)
      case .counterRecords: try checkCounterRecords(transaction)
      case .entries: try checkEntries(transaction)
      case .deadlines: try checkDeadlines(transaction)
      case .queue: try checkQueue(transaction)
      case .tags: try checkTags(transaction)
      case .chunks: try checkChunks(transaction)
      case .counts: try checkCounts(transaction)
      }
    } catch .damagedPage where isDamaged { result.unfinished.insert(part) }
  }

  mutating func step() throws(LMDBError) {
    done += 1
    try look()
  }

  /// Counts a record that is read. After each thousand records, calls `shouldContinue`, and throws if the result is false.
  mutating func look() throws(LMDBError) {
    looks += 1
    if looks % 1000 == 0, !shouldContinue(done, all) { throw .stopped }
  }

  mutating func report(_ fault: Fault, of entryKey: [UInt8]? = nil, in namespace: String? = nil) {
    var found = Verification.Inconsistency(fault: fault, namespace: namespace)
    if let entryKey, entryKey.count > 4 {
      found.entryKey = entryKey
      found.namespace = names[entryKey.span.namespaceID]
      let stored = StoredKey(bytes: Array(entryKey.dropFirst(4)))
      found.key = Key(stored.short ?? stored.bytes)
    }
    result.faults.append(found)
  }
}
