import LMDB
import LarderSystem

/// Compares everything the databases say with everything else they say.
struct Verifier {
  let engine: StoreEngine
  var result = Verification()
  private var listed: [StoreEngine.ListedNamespace] = []
  private var names: [NamespaceID: String] = [:]
  /// Where the window of each namespace begins.
  private var edges: [NamespaceID: UInt64] = [:]
  /// Entries with owners.
  private var dependents: UInt64 = 0
  private var recounted: [NamespaceID: NamespaceCounters] = [:]
  private var garbage: Set<NamespaceID> = []
  /// How many entries ids have that neither a namespace nor the garbage list knows.
  private var orphans: [NamespaceID: Int] = [:]
  /// The values in chunks that are there, by namespace and version, and their lengths.
  var chunked: [NamespaceID: [UInt64: Int]] = [:]

  private let shouldContinue: (_ done: Int, _ all: Int) -> Bool
  private var done = 0
  private var all = 0

  init(engine: StoreEngine, while shouldContinue: @escaping (_ done: Int, _ all: Int) -> Bool) {
    self.engine = engine
    self.shouldContinue = shouldContinue
  }

  /// False if it was stopped.
  mutating func run(in transaction: borrowing ReadTransaction) throws(LarderError) -> Bool {
    try readCatalogue(transaction)
    do throws(LMDBError) {
      try countRecords(transaction)
      try findGarbage(transaction)
      try findLostCounters(transaction)
      try checkTombstones(transaction)
      try checkEntries(transaction)
      try checkDeadlines(transaction)
      try checkQueue(transaction)
      try checkTags(transaction)
      try checkChunks(transaction)
      checkCounters(try transaction.state())
      return true
    } catch .stopped {
      return false
    } catch {
      throw engine.error(error)
    }
  }

  private mutating func countRecords(_ transaction: borrowing ReadTransaction) throws(LMDBError) {
    let indexes = engine.indexes
    for database in [.main, indexes.deadlines, indexes.queue, indexes.tags, indexes.chunks] {
      all += try transaction.statistics(of: database).records
    }
  }

  /// Another record was looked at.
  mutating func step() throws(LMDBError) {
    done += 1
    if done % 1000 == 0, !shouldContinue(done, all) { throw .stopped }
  }

  private mutating func readCatalogue(_ transaction: borrowing ReadTransaction) throws(LarderError)
  {
    for (name, bytes) in try engine.catalogue(in: transaction) {
      let record: NamespaceRecord
      do throws(LarderError) {
        record = try NamespaceRecord(bytes.span, name: name)
      } catch {
        fault(.catalogue, nil, error.message)
        continue
      }
      listed.append(try engine.facts(of: record, name: name, in: transaction))
      edges[record.id] = listed.last?.counters.queue.edge
      if let other = names.updateValue(name, forKey: record.id) {
        fault(.catalogue, nil, "namespaces \(other) and \(name) have the same id")
      }
    }
    result.namespaces = listed.count
  }

  mutating func fault(_ kind: Verification.Inconsistency.Kind, _ slot: [UInt8]?, _ detail: String) {
    var name: String?
    var key: Key?
    if let slot, slot.count > 4 {
      name = names[slot.span.namespaceID]
      key = Key(StoredKey(bytes: Array(slot.dropFirst(4))).short ?? Array(slot.dropFirst(4)))
    }
    result.faults.append(
      Verification.Inconsistency(kind: kind, namespace: name, key: key, detail: detail))
  }

  private mutating func findGarbage(_ transaction: borrowing ReadTransaction) throws(LMDBError) {
    let prefix = MetadataKey.garbage
    var cursor = try transaction.cursor(in: .main)
    var record = try cursor.seek(prefix.span)
    while let found = record, found.key.starts(with: prefix.span) {
      if found.key.count == prefix.count + 4 {
        let id = NamespaceID(rawValue: found.key.bigEndian(at: prefix.count))
        garbage.insert(id)
        if let name = names[id] {
          fault(.catalogue, nil, "namespace \(name) is on the garbage list")
        }
      } else {
        fault(.catalogue, nil, "a record of the garbage list has \(found.key.count) bytes")
      }
      record = try cursor.next()
    }
  }

  /// Counts of an id that nobody has would keep it from being given out again.
  private mutating func findLostCounters(
    _ transaction: borrowing ReadTransaction
  ) throws(LMDBError) {
    let prefix = Array(MetadataKey.counters(.store).dropLast(4))
    var cursor = try transaction.cursor(in: .main)
    var record = try cursor.seek(prefix.span)
    while let found = record, found.key.starts(with: prefix.span) {
      let id =
        found.key.count == prefix.count + 4
        ? NamespaceID(rawValue: found.key.bigEndian(at: prefix.count)) : .store
      if names[id] == nil, !garbage.contains(id) {
        fault(.catalogue, nil, "counts of namespace id \(id.rawValue), which does not exist")
      }
      record = try cursor.next()
    }
  }

  private mutating func checkEntries(_ transaction: borrowing ReadTransaction) throws(LMDBError) {
    var first: [UInt8] = []
    first.append(id: NamespaceID(rawValue: 1))
    var cursor = try transaction.cursor(in: .main)
    var record = try cursor.seek(first.span)
    while let found = record, found.key.count == 0 || found.key[0] == 0 {
      if found.key.count > 4 {
        try checkEntry(found.key.copied, found.value, transaction)
      } else {
        fault(.catalogue, nil, "a record with a key of \(found.key.count) bytes")
      }
      try step()
      record = try cursor.next()
    }
    for (id, count) in orphans {
      fault(
        .catalogue, nil, "\(count) entries of namespace id \(id.rawValue), which does not exist")
    }
  }

  private mutating func checkEntry(
    _ slot: [UInt8], _ record: Span<UInt8>, _ transaction: borrowing ReadTransaction
  ) throws(LMDBError) {
    let id = slot.span.namespaceID
    if let header = EntryHeader(record), header.flags.contains(.chunked) {
      let payload = record.extracting(header.payloadStart..<record.count)
      chunked[id, default: [:]][header.version] = ChunkedPayload(payload)?.count ?? 0
    }
    if garbage.contains(id) {
      result.garbage += 1
      return
    }
    guard names[id] != nil else {
      orphans[id, default: 0] += 1
      return
    }
    guard StoredKey.isWellFormed(slot.span.extracting(4..<slot.count)),
      let entry = StoredEntry(slot: slot, record: record), let key = entry.key,
      StoredKey(key.span).bytes == entry.storedKey.bytes
    else { return fault(.damagedEntry, slot, "the entry cannot be read") }
    var counters = recounted[id] ?? NamespaceCounters()
    counters.queue.edge = edges[id] ?? 0
    counters.add(Weight(entry))
    if !entry.owners.isEmpty { dependents += 1 }
    // The highest number given out so far.
    counters.next = max(counters.next, entry.header.version, entry.header.sequence)
    recounted[id] = counters
    result.entries += 1
    result.bytes += entry.valueCount

    let body = record.extracting(EntryHeader.size..<record.count)
    if entry.header.expectedChecksum(id: id, key: key.span, body: body) != entry.header.checksum {
      return fault(.damagedEntry, slot, "the checksum does not fit")
    }
    try checkIndexed(entry, transaction)
    if entry.header.flags.contains(.tagged) == entry.fields.tags.isEmpty {
      fault(.tags, slot, "its header does not say whether it carries tags")
    }
    if entry.header.flags.contains(.chunked) {
      let payload = record.extracting(entry.header.payloadStart..<record.count)
      if try assemble(payload, of: entry, transaction) == nil {
        fault(.damagedChunks, slot, "the chunks of the value are not what was written")
      }
    }
  }

  private func assemble(
    _ payload: Span<UInt8>, of entry: StoredEntry, _ transaction: borrowing ReadTransaction
  ) throws(LMDBError) -> [UInt8]? {
    do throws(LarderError) {
      return try engine.assemble(
        payload, id: entry.id, version: entry.header.version, in: transaction)
    } catch {
      throw .corrupted
    }
  }

  /// Every entry must be where each index says.
  private mutating func checkIndexed(
    _ entry: StoredEntry, _ transaction: borrowing ReadTransaction
  ) throws(LMDBError) {
    let header = entry.header
    if header.deadline > max(header.staleUntil, 0) {
      fault(.deadlines, entry.slot, "indexed after its end")
    }
    if header.deadline != EntryHeader.never,
      try transaction.find(
        IndexKey.deadline(header.deadline, entry: entry.slot), in: engine.indexes.deadlines) == nil
    {
      fault(.deadlines, entry.slot, "missing from the deadline index")
    }
    let place = try transaction.find(
      IndexKey.queue(header.sequence, in: entry.id), in: engine.indexes.queue)
    let isQueued =
      place.map { transaction.bytes(of: $0).elementsEqual(entry.storedKey.bytes.span) } ?? false
    if isQueued == header.flags.contains(.pinned) {
      fault(.queue, entry.slot, isQueued ? "pinned, and in the queue" : "missing from the queue")
    }
    for owner in entry.owners
    where try transaction.find(
      IndexKey.owner(owner.slot, entry: entry.slot), in: engine.indexes.tags) == nil
    {
      fault(.tags, entry.slot, "missing under its owner \(Key(owner.key))")
    }
    for tag in entry.fields.tags
    where try transaction.find(IndexKey.tag(tag, entry: entry.slot), in: engine.indexes.tags) == nil
    {
      fault(.tags, entry.slot, "missing under tag \(String(decoding: tag, as: UTF8.self))")
    }
  }

  private mutating func checkCounters(_ state: StoreState) {
    var totals = NamespaceCounters()
    for namespace in listed {
      let found = recounted[namespace.id] ?? NamespaceCounters()
      let counted = namespace.counters
      totals.entries &+= counted.entries
      totals.bytes &+= counted.bytes
      totals.stored &+= counted.stored
      if found.entries > 0, found.next >= counted.next {
        result.faults.append(
          .init(
            kind: .counters, namespace: namespace.facts.name, key: nil,
            detail: "the next number would be \(counted.next), and \(found.next) is in use"))
      }
      if (found.pinned, found.queue.windowEntries, found.queue.windowBytes) != (
        counted.pinned, counted.queue.windowEntries, counted.queue.windowBytes
      ) {
        result.faults.append(
          .init(
            kind: .counters, namespace: namespace.facts.name, key: nil,
            detail:
              "counted \(counted.pinned) pinned entries and \(counted.queue.windowEntries) new ones of "
              + "\(counted.queue.windowBytes) bytes, found \(found.pinned) and "
              + "\(found.queue.windowEntries) of \(found.queue.windowBytes)"))
      }
      if (found.entries, found.bytes, found.stored) != (
        counted.entries, counted.bytes, counted.stored
      ) {
        result.faults.append(
          .init(
            kind: .counters, namespace: namespace.facts.name, key: nil,
            detail:
              "counted \(counted.entries) entries of \(counted.bytes) bytes (\(counted.stored) stored), "
              + "found \(found.entries) of \(found.bytes) (\(found.stored))"))
      }
    }
    if (totals.entries, totals.bytes, totals.stored) != (state.entries, state.bytes, state.stored) {
      fault(.counters, nil, "the totals of the store are not the sums of its namespaces")
    }
    if state.dependents < dependents {
      fault(.counters, nil, "\(dependents) entries have owners, \(state.dependents) are counted")
    }
    if state.garbage != UInt64(garbage.count) {
      fault(.counters, nil, "\(state.garbage) cleared ids are counted, \(garbage.count) are listed")
    }
  }
}
