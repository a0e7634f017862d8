import LMDB
import LarderSystem

/// The repair of a namespace in which damage was found: records that lead to no entry are dropped, and the entries are
/// counted again.
///
/// The write that finds the damage repairs a small namespace before its commit. It marks a large one for ``RepairJob``:
/// until that has run, the counters are wrong by the damaged entries, and index records that lead to no entry stay.
struct NamespaceRepair {
  /// A namespace with more entries is not repaired by the write that finds the damage.
  static let largestAtOnce = 1000

  /// The databases, in the order in which they are repaired.
  enum Part: CaseIterable {
    case entries, queue, deadlines, tags, chunks
  }

  /// How much one step does.
  struct StepSize {
    var reads: Int
    var drops: Int

    static let all = StepSize(reads: .max, drops: .max)
  }

  /// The entries of the namespace, counted in one view.
  struct Survey {
    /// How much the counters must be corrected by.
    var correction = NamespaceCounters()
    /// How often damage was found until then.
    var events: UInt64 = 0
    /// The versions of values in chunks.
    var chunked: Set<UInt64> = []
  }

  let id: NamespaceID
  private let indexes: Indexes

  init(of id: NamespaceID, _ indexes: Indexes) {
    self.id = id
    self.indexes = indexes
  }

  private func database(of part: Part) -> Database {
    switch part {
    case .entries: .entries
    case .queue: indexes.queue
    case .deadlines: indexes.deadlines
    case .tags: indexes.tags
    case .chunks: indexes.chunks
    }
  }
}

// MARK: Reading a view

extension NamespaceRepair {
  /// The next keys that lead nowhere, and the position to continue after; nil at the end.
  ///
  /// - Parameter chunked: the versions of values in chunks, for that part.
  func dangling(
    _ part: Part, after position: [UInt8]? = nil, atMost size: StepSize, _ chunked: Set<UInt64>,
    in view: borrowing some DatabaseView & ~Copyable
  ) throws(LMDBError) -> (keys: [[UInt8]], reached: [UInt8]?) {
    // A record of the tag index begins with the tag.
    let prefix = part == .tags ? [] : id.prefix
    let start = position ?? prefix
    var keys: [[UInt8]] = []
    var last: [UInt8] = []
    var count = 0
    var cursor = try view.cursor(in: database(of: part))
    var record = try cursor.seek(start.span)
    while let found = record, found.key.starts(with: prefix.span) {
      if count == size.reads || keys.count == size.drops { return (keys, last) }
      count += 1
      last = found.key.copied
      if last != position, try isDangling(part, last, found.value, chunked, in: view) {
        keys.append(last)
      }
      record = try cursor.next()
    }
    return (keys, nil)
  }

  private func isDangling(
    _ part: Part, _ key: [UInt8], _ value: Span<UInt8>, _ chunked: Set<UInt64>,
    in view: borrowing some DatabaseView & ~Copyable
  ) throws(LMDBError) -> Bool {
    switch part {
    case .entries:
      return StoredEntry(entryKey: key, record: value)?.key == nil
    case .queue:
      guard let record = QueueRecord(key.span, value) else { return true }
      return try entry(record.entryKey, in: view)?.header.sequence != record.position
    case .deadlines:
      guard let record = ExpiryRecord(key.span, value) else { return true }
      for indexed in record where try !isSound(indexed, in: view) { return true }
      return false
    case .tags:
      guard let record = IndexKey.tagged(key), record.entryKey.starts(with: id.prefix) else {
        return false
      }
      return try entry(record.entryKey, in: view)?.isIndexed(under: key) != true
    case .chunks:
      return key.count != 16 || !chunked.contains(key.span.bigEndian(at: 4))
    }
  }

  private func isSound(
    _ indexed: IndexedEntry, in view: borrowing some DatabaseView & ~Copyable
  ) throws(LMDBError) -> Bool {
    guard let entryKey = try indexed.entryKey(in: view, indexes) else { return false }
    return try entry(entryKey, in: view).map { indexed.leads(to: $0.header) } ?? false
  }

  private func entry(
    _ entryKey: [UInt8], in view: borrowing some DatabaseView & ~Copyable
  ) throws(LMDBError) -> StoredEntry? {
    guard let record = try view.value(for: entryKey.span, in: .entries) else { return nil }
    return StoredEntry(entryKey: entryKey, record: record)
  }

  /// Counts the entries. Later writes change the counters by exact amounts, so the correction stays valid until damage is
  /// found again.
  ///
  /// - Parameter recorded: the counters in the same view.
  func survey(
    _ recorded: NamespaceCounters, in view: borrowing some DatabaseView & ~Copyable
  ) throws(LMDBError) -> Survey {
    var survey = Survey()
    var counted = NamespaceCounters()
    counted.queue.windowBoundary = recorded.queue.windowBoundary
    if let mark = try view.value(for: MetadataKey.repair(id).span, in: .main) {
      survey.events = RepairMark.events(mark)
    }
    var cursor = try view.cursor(in: .entries)
    let prefix = id.prefix
    var record = try cursor.seek(prefix.span)
    while let found = record, found.key.starts(with: prefix.span) {
      if let entry = StoredEntry(entryKey: found.key.copied, record: found.value) {
        counted.add(EntryWeight(entry))
        if entry.header.flags.contains(.chunked) { survey.chunked.insert(entry.header.version) }
      }
      record = try cursor.next()
    }
    survey.correction = counted.difference(from: recorded)
    return survey
  }
}

// MARK: Changes

extension NamespaceRepair {
  /// Repairs a small namespace at once, and marks a large one.
  ///
  /// O(entries of the namespace + records of the tag index).
  func runOrMark(_ writer: inout EntryWriter) throws(LarderError) {
    let tagRecords = try writer.context.transaction.read { lmdb throws(LMDBError) in
      try lmdb.statistics(of: indexes.tags).records
    }
    let entries = try writer.context.counters.counters(of: id, &writer.context.transaction).entries
    let isSmall =
      entries <= UInt64(Self.largestAtOnce) && tagRecords <= 10 * Self.largestAtOnce
    let isMarked = try writer.context.transaction.contains(MetadataKey.repair(id), in: .main)
    if isSmall { try run(&writer) }
    if !isSmall || isMarked { try RepairMark.note(id, &writer.context.transaction) }
  }

  private func run(_ writer: inout EntryWriter) throws(LarderError) {
    for part in Part.allCases {
      let chunked = part == .chunks ? try survey(&writer.context).chunked : []
      let (keys, _) = try writer.context.transaction.read { lmdb throws(LMDBError) in
        try dangling(part, atMost: .all, chunked, in: lmdb)
      }
      try drop(keys, part, &writer)
    }
    try correct(by: survey(&writer.context).correction, &writer.context)
  }

  private func survey(_ context: inout WriteContext) throws(LarderError) -> Survey {
    let recorded = try context.counters.counters(of: id, &context.transaction)
    return try context.transaction.read { lmdb throws(LMDBError) in
      try survey(recorded, in: lmdb)
    }
  }

  /// Drops those of the keys that lead nowhere in this write: other writes may have come between.
  func drop(
    _ keys: [[UInt8]], _ part: Part, _ writer: inout EntryWriter
  ) throws(LarderError) {
    if keys.isEmpty { return }
    let database = database(of: part)
    try writer.indexes.flush(to: &writer.context.transaction)
    let chunked = part == .chunks ? try survey(&writer.context).chunked : []
    for key in keys {
      let (leadsNowhere, unsound) = try writer.context.transaction.read {
        lmdb throws(LMDBError) -> (Bool, [IndexedEntry]?) in
        guard let value = try lmdb.value(for: key, in: database),
          try isDangling(part, key, value, chunked, in: lmdb)
        else { return (false, nil) }
        guard part == .deadlines, let record = ExpiryRecord(key.span, value) else {
          return (true, nil)
        }
        var unsound: [IndexedEntry] = []
        for indexed in record where try !isSound(indexed, in: lmdb) { unsound.append(indexed) }
        return (true, unsound)
      }
      guard leadsNowhere else { continue }
      if let unsound {
        for indexed in unsound {
          try writer.indexes.removeDeadline(of: indexed, &writer.context.transaction)
        }
        continue
      }
      if part == .entries {
        try writer.context.counters.update(id, &writer.context.transaction) {
          $0.removals.count(.damaged, bytes: 0)
        }
        try writer.changes.recordDamagedRemoval(key, &writer.directory, &writer.context)
      }
      try writer.context.transaction.remove(key, from: database)
    }
    try writer.indexes.flush(to: &writer.context.transaction)
  }

  /// Corrects the counters and takes the mark away.
  ///
  /// - Returns: false if damage was found after the survey.
  func finish(_ survey: Survey, _ context: inout WriteContext) throws(LarderError) -> Bool {
    let key = MetadataKey.repair(id)
    guard let record = try context.transaction.copy(of: key, in: .main) else { return true }
    if try context.transaction.contains(MetadataKey.counters(id), in: .main),
      try context.isLive(id)
    {
      guard RepairMark.events(record.span) == survey.events else { return false }
      try correct(by: survey.correction, &context)
    }
    try context.transaction.remove(key, from: .main)
    return true
  }

  private func correct(
    by correction: NamespaceCounters, _ context: inout WriteContext
  ) throws(LarderError) {
    try context.counters.update(id, &context.transaction) { $0.correct(by: correction) }
    context.counters.updateStore { state in
      state.entries &+= correction.entries
      state.bytes &+= correction.bytes
      state.stored &+= correction.stored
    }
  }
}
