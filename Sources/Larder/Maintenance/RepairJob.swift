import LMDB
import LarderSystem

/// Repairs namespaces in which damage was found: drops index records that lead to no entry and counts the entries again.
///
/// The walk runs in read transactions, beside other writers. Only the corrections need write transactions, each of which
/// is small.
struct RepairJob {
  /// A namespace with more entries is not repaired by the write that finds the damage.
  static let largestAtOnce = 1000
  private static let droppedPerStep = 500
  private static let readPerStep = 10_000
  private static let attempts = 3

  private enum Part: CaseIterable {
    case entries, queue, deadlines, tags, chunks
  }

  private let engine: StoreEngine

  init(_ engine: StoreEngine) { self.engine = engine }

  /// Repairs every marked namespace.
  ///
  /// - Parameter shouldContinue: called between steps; an unfinished namespace stays marked.
  /// - Returns: how many namespaces were repaired.
  func run(while shouldContinue: () -> Bool = { true }) throws(LarderError) -> Int {
    var repaired = 0
    for id in try marked() {
      var isDone = false
      var attempts = 0
      while !isDone, attempts < Self.attempts {
        for part in Part.allCases {
          guard try drop(part, of: id, while: shouldContinue) else { return repaired }
        }
        isDone = try correctCounters(of: id)
        attempts += 1
      }
      repaired += isDone ? 1 : 0
    }
    return repaired
  }

  private func marked() throws(LarderError) -> [NamespaceID] {
    let prefix = MetadataKey.repairs
    let transaction = try engine.beginRead()
    do throws(LMDBError) {
      var ids: [NamespaceID] = []
      var cursor = try transaction.cursor(in: .main)
      var record = try cursor.seek(prefix.span)
      while let found = record, found.key.starts(with: prefix.span) {
        if found.key.count == prefix.count + 4 {
          ids.append(NamespaceID(rawValue: found.key.bigEndian(at: prefix.count)))
        }
        record = try cursor.next()
      }
      return ids
    } catch {
      throw engine.error(error)
    }
  }

  // MARK: Records that lead nowhere

  /// - Returns: false if it was stopped.
  private func drop(
    _ part: Part, of id: NamespaceID, while shouldContinue: () -> Bool
  ) throws(LarderError) -> Bool {
    var chunked: Set<UInt64> = []
    if part == .chunks { chunked = try survey(id).chunked }
    var position: [UInt8]?
    repeat {
      guard shouldContinue() else { return false }
      let (keys, reached) = try dangling(part, of: id, after: position, chunked)
      position = reached
      if !keys.isEmpty { try drop(keys, part, of: id, chunked) }
    } while position != nil
    return true
  }

  private func database(of part: Part) -> Database {
    switch part {
    case .entries: .entries
    case .queue: engine.indexes.queue
    case .deadlines: engine.indexes.deadlines
    case .tags: engine.indexes.tags
    case .chunks: engine.indexes.chunks
    }
  }

  /// The next keys that lead nowhere, and the position to continue after; nil at the end.
  private func dangling(
    _ part: Part, of id: NamespaceID, after position: [UInt8]?, _ chunked: Set<UInt64>
  ) throws(LarderError) -> (keys: [[UInt8]], reached: [UInt8]?) {
    let transaction = try engine.beginRead()
    let prefix = part == .tags ? [] : id.prefix
    let start = position ?? prefix
    do throws(LMDBError) {
      var keys: [[UInt8]] = []
      var last: [UInt8] = []
      var count = 0
      var cursor = try transaction.cursor(in: database(of: part))
      var record = try cursor.seek(start.span)
      while let found = record, found.key.starts(with: prefix.span) {
        if count == Self.readPerStep || keys.count == Self.droppedPerStep { return (keys, last) }
        count += 1
        last = found.key.copied
        if last != position,
          try isDangling(part, last, found.value, of: id, chunked, transaction)
        {
          keys.append(last)
        }
        record = try cursor.next()
      }
      return (keys, nil)
    } catch {
      throw engine.error(error)
    }
  }

  private func isDangling(
    _ part: Part, _ key: [UInt8], _ value: Span<UInt8>, of id: NamespaceID,
    _ chunked: Set<UInt64>, _ transaction: borrowing ReadTransaction
  ) throws(LMDBError) -> Bool {
    switch part {
    case .entries:
      return StoredEntry(entryKey: key, record: value)?.key == nil
    case .queue:
      guard let record = QueueRecord(key.span, value) else { return true }
      return try entry(record.entryKey, transaction)?.header.sequence != record.position
    case .deadlines:
      guard let record = ExpiryRecord(key.span, value) else { return true }
      for indexed in record where try !isSound(indexed, transaction) { return true }
      return false
    case .tags:
      guard let record = IndexKey.tagged(key), record.entryKey.starts(with: id.prefix) else {
        return false
      }
      return try entry(record.entryKey, transaction)?.isIndexed(under: key) != true
    case .chunks:
      return key.count != 16 || !chunked.contains(key.span.bigEndian(at: 4))
    }
  }

  private func isSound(
    _ indexed: IndexedEntry, _ transaction: borrowing ReadTransaction
  ) throws(LMDBError) -> Bool {
    guard let entryKey = try indexed.entryKey(in: transaction, engine.indexes) else { return false }
    return try entry(entryKey, transaction).map { indexed.leads(to: $0.header) } ?? false
  }

  private func entry(
    _ entryKey: [UInt8], _ transaction: borrowing ReadTransaction
  ) throws(LMDBError) -> StoredEntry? {
    try transaction.find(entryKey, in: .entries).flatMap {
      StoredEntry(entryKey: entryKey, record: transaction.bytes(of: $0))
    }
  }

  /// Drops keys that still lead nowhere. A chunk is dropped only if no value was written since the survey.
  private func drop(
    _ keys: [[UInt8]], _ part: Part, of id: NamespaceID, _ chunked: Set<UInt64>
  ) throws(LarderError) {
    let database = database(of: part)
    try engine.commit(.cleanup) { batch in
      // Inside a write, a new snapshot shows the last commit, which is what this transaction began with.
      let snapshot = try engine.beginRead()
      let chunked = part == .chunks ? try survey(id).chunked : chunked
      for key in keys {
        guard let region = try snapshot.find(key.span, in: database),
          try isDangling(part, key, snapshot.bytes(of: region), of: id, chunked, snapshot)
        else { continue }
        if part == .deadlines,
          let record = ExpiryRecord(key.span, snapshot.bytes(of: region))
        {
          for indexed in record where try !isSound(indexed, snapshot) {
            try batch.writer.removeDeadline(of: indexed)
          }
          continue
        }
        try batch.writer.drop(key, from: database, isEntry: part == .entries)
      }
    }
  }

  // MARK: Counters

  private struct Survey {
    /// How much the counters must be corrected by.
    var correction = NamespaceCounters()
    /// How often damage was found until then.
    var events: UInt64 = 0
    /// The versions of values in chunks.
    var chunked: Set<UInt64> = []
  }

  /// Counts the entries in one snapshot. Later writes change the counters by exact amounts, so the correction stays valid until
  /// damage is found again.
  private func survey(_ id: NamespaceID) throws(LarderError) -> Survey {
    let transaction = try engine.beginRead()
    let recorded = try engine.metadata.counters(of: id, in: transaction)
    var survey = Survey()
    var counted = NamespaceCounters()
    counted.queue.windowBoundary = recorded.queue.windowBoundary
    let prefix = id.prefix
    do throws(LMDBError) {
      if let mark = try transaction.find(MetadataKey.repair(id), in: .main) {
        survey.events = RepairMark.events(transaction.bytes(of: mark))
      }
      var cursor = try transaction.cursor(in: .entries)
      var record = try cursor.seek(prefix.span)
      while let found = record, found.key.starts(with: prefix.span) {
        if let entry = StoredEntry(entryKey: found.key.copied, record: found.value) {
          counted.add(EntryWeight(entry))
          if entry.header.flags.contains(.chunked) { survey.chunked.insert(entry.header.version) }
        }
        record = try cursor.next()
      }
    } catch {
      throw engine.error(error)
    }
    survey.correction = counted.difference(from: recorded)
    return survey
  }

  /// - Returns: false if damage was found again meanwhile.
  private func correctCounters(of id: NamespaceID) throws(LarderError) -> Bool {
    let survey = try survey(id)
    return try engine.commit(.cleanup) { batch in
      try batch.writer.correct(id, by: survey.correction, ifEvents: survey.events)
    }
  }
}
