import LMDB
import LarderSystem

extension EntryWriter {
  /// Repairs a small namespace at once, and marks a large one for ``RepairJob``: until that has run, its counters are wrong by
  /// the damaged entries, and index records that lead to no entry stay.
  mutating func repairOrMark(_ id: NamespaceID) throws(LarderError) {
    let tags = engine.indexes.tags
    let tagRecords = try read { lmdb throws(LMDBError) in
      try lmdb.statistics(of: tags).records
    }
    let isSmall =
      try counters(of: id).entries <= UInt64(RepairJob.largestAtOnce)
      && tagRecords <= 10 * RepairJob.largestAtOnce
    let isMarked = try transaction.contains(MetadataKey.repair(id), in: .main)
    if isSmall { try repair(id) }
    if !isSmall || isMarked { try RepairMark.note(id, &transaction) }
  }

  /// Counts a namespace again after damage made its counters doubtful, and drops index records that lead to no entry.
  ///
  /// O(entries of the namespace + records of the tag index).
  mutating func repair(_ id: NamespaceID) throws(LarderError) {
    var survey = NamespaceSurvey(of: id, try counters(of: id))
    let before = survey.counters
    try withTransaction { transaction throws(LarderError) in
      try transaction.forEach(in: .entries, from: id.prefix) { survey.add($0, $1) }
    }
    survey.begin()
    for entryKey in survey.unreadable {
      survey.counters.removals.count(.damaged, bytes: 0)
      try recordDamagedRemoval(entryKey)
      try withTransaction { transaction throws(LarderError) in
        _ = try transaction.remove(entryKey, from: .entries)
      }
    }
    let counters = survey.counters
    updateStore { state in
      state.entries = state.entries &- before.entries &+ counters.entries
      state.bytes = state.bytes &- before.bytes &+ counters.bytes
      state.stored = state.stored &- before.stored &+ counters.stored
    }
    try update(id) { $0 = counters }
    try dropDangling(survey)
  }

  private mutating func dropDangling(_ survey: NamespaceSurvey) throws(LarderError) {
    let indexes = engine.indexes
    let prefix = survey.id.prefix
    try withTransaction { transaction throws(LarderError) in
      var dangling: [[UInt8]] = []
      try transaction.forEach(in: indexes.queue, from: prefix) { key, storedKey in
        if !survey.hasQueueRecord(key, storedKey) { dangling.append(key) }
      }
      try transaction.remove(dangling, from: indexes.queue)
      var changed: [(key: [UInt8], positions: UInt32)] = []
      try transaction.forEach(in: indexes.deadlines, from: prefix) { key, value in
        let record = ExpiryRecord(key.span, value)
        let positions = survey.deadlines[key, default: 0] & (record?.positions ?? 0)
        if positions != record?.positions { changed.append((key, positions)) }
      }
      for (key, positions) in changed {
        if positions == 0 {
          try transaction.remove(key, from: indexes.deadlines)
        } else {
          try transaction.put([UInt8](littleEndian: positions), for: key, in: indexes.deadlines)
        }
      }
      dangling = []
      try transaction.forEach(in: indexes.tags, from: []) { key, _ in
        if !survey.mayHaveTag(key) { dangling.append(key) }
      }
      try transaction.remove(dangling, from: indexes.tags)
      dangling = []
      try transaction.forEach(in: indexes.chunks, from: prefix) { key, _ in
        if !survey.hasChunk(key) { dangling.append(key) }
      }
      try transaction.remove(dangling, from: indexes.chunks)
    }
  }

  /// Drops the tags of entries that were too damaged to say which they carried.
  mutating func dropTags(of entryKeys: Set<[UInt8]>) throws(LarderError) {
    if entryKeys.isEmpty { return }
    let tags = engine.indexes.tags
    try withTransaction { transaction throws(LarderError) in
      var dangling: [[UInt8]] = []
      try transaction.forEach(in: tags, from: []) { key, _ in
        if let record = IndexKey.tagged(key), entryKeys.contains(record.entryKey) {
          dangling.append(key)
        }
      }
      try transaction.remove(dangling, from: tags)
    }
  }

  /// Drops a record that leads nowhere; an unreadable entry is counted as damaged.
  mutating func drop(
    _ key: [UInt8], from database: Database, isEntry: Bool
  ) throws(LarderError) {
    if isEntry {
      try count(.damaged, in: key.span.namespaceID)
      try recordDamagedRemoval(key)
    }
    try transaction.remove(key, from: database)
  }

  /// Corrects the counters of a namespace and takes its mark away.
  ///
  /// - Returns: false if damage was found after the correction was computed.
  mutating func correct(
    _ id: NamespaceID, by correction: NamespaceCounters, ifEvents events: UInt64
  ) throws(LarderError) -> Bool {
    let key = MetadataKey.repair(id)
    guard let record = try transaction.copy(of: key, in: .main) else { return true }
    if try transaction.contains(MetadataKey.counters(id), in: .main), try isLive(id) {
      guard RepairMark.events(record.span) == events else { return false }
      try update(id) { $0.correct(by: correction) }
      updateStore { state in
        state.entries &+= correction.entries
        state.bytes &+= correction.bytes
        state.stored &+= correction.stored
      }
    }
    try transaction.remove(key, from: .main)
    return true
  }
}

/// The metadata record that marks a namespace for repair: how often damage was found there.
enum RepairMark {
  static func events(_ record: Span<UInt8>) -> UInt64 {
    record.count == 8 ? record.word(at: 0) : 0
  }

  static func note(
    _ id: NamespaceID, _ transaction: inout StoreTransaction
  ) throws(LarderError) {
    let key = MetadataKey.repair(id)
    let record = try transaction.copy(of: key, in: .main) ?? []
    var next: [UInt8] = []
    next.append(word: events(record.span) &+ 1)
    try transaction.put(next, for: key, in: .main)
  }
}

/// A survey of the entries of a namespace, against which its index records are compared.
private struct NamespaceSurvey {
  let id: NamespaceID
  var counters: NamespaceCounters
  private(set) var unreadable: [[UInt8]] = []
  private var weights: [EntryWeight] = []
  private var positions: [UInt64: [UInt8]] = [:]
  /// The positions that each key of the expiry index stands for.
  private(set) var deadlines: [[UInt8]: UInt32] = [:]
  private var tagged: [[UInt8]: StoredEntry] = [:]
  private var chunked: Set<UInt64> = []

  init(of id: NamespaceID, _ counters: NamespaceCounters) {
    self.id = id
    self.counters = counters
  }

  mutating func add(_ entryKey: [UInt8], _ record: Span<UInt8>) {
    guard let entry = StoredEntry(entryKey: entryKey, record: record), entry.key != nil else {
      unreadable.append(entryKey)
      return
    }
    weights.append(EntryWeight(entry))
    if !entry.fields.tags.isEmpty || !entry.owners.isEmpty { tagged[entryKey] = entry }
    if entry.header.flags.contains(.chunked) { chunked.insert(entry.header.version) }
    positions[entry.header.sequence] = entryKey
    if entry.header.deadline != EntryHeader.never {
      deadlines[IndexKey.deadline(of: entry.header, entry: entryKey), default: 0] |=
        ExpiryBlock.bit(of: entry.header.sequence)
    }
  }

  /// Sets the counters to the sums of the survey.
  mutating func begin() {
    counters.entries = 0
    counters.bytes = 0
    counters.stored = 0
    counters.pinned = 0
    counters.queue.windowEntries = 0
    counters.queue.windowBytes = 0
    for weight in weights { counters.add(weight) }
  }

  func hasQueueRecord(_ key: [UInt8], _ storedKey: Span<UInt8>) -> Bool {
    guard let record = QueueRecord(key.span, storedKey) else { return false }
    return positions[record.position] == record.entryKey
  }

  /// Whether a tag record leads to an entry that has it; true for records of other namespaces.
  func mayHaveTag(_ key: [UInt8]) -> Bool {
    guard let record = IndexKey.tagged(key), record.entryKey.starts(with: id.prefix) else {
      return true
    }
    return tagged[record.entryKey]?.isIndexed(under: key) ?? false
  }

  func hasChunk(_ key: [UInt8]) -> Bool {
    key.count == 16 && chunked.contains(key.span.bigEndian(at: 4))
  }
}

extension NamespaceCounters {
  /// The difference from `recorded`; subtractions wrap around.
  func difference(from recorded: NamespaceCounters) -> NamespaceCounters {
    var difference = NamespaceCounters()
    difference.entries = entries &- recorded.entries
    difference.bytes = bytes &- recorded.bytes
    difference.stored = stored &- recorded.stored
    difference.pinned = pinned &- recorded.pinned
    difference.queue.windowEntries = queue.windowEntries &- recorded.queue.windowEntries
    difference.queue.windowBytes = queue.windowBytes &- recorded.queue.windowBytes
    return difference
  }

  mutating func correct(by difference: NamespaceCounters) {
    entries &+= difference.entries
    bytes &+= difference.bytes
    stored &+= difference.stored
    pinned &+= difference.pinned
    queue.windowEntries &+= difference.queue.windowEntries
    queue.windowBytes &+= difference.queue.windowBytes
  }
}
