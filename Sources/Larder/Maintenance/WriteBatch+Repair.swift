import LMDB
import LarderSystem

extension WriteBatch {
  /// Takes a namespace's counts anew and drops index records that lead nowhere, after damage made them doubtful.
  ///
  /// It walks the namespace and its records of the indexes once, and all tags, which only a damaged record makes necessary.
  mutating func repair(_ id: NamespaceID) throws(LarderError) {
    var counters = try loadCounters(id)
    state.entries &-= counters.entries
    state.bytes &-= counters.bytes
    state.stored &-= counters.stored
    counters.entries = 0
    counters.bytes = 0
    counters.stored = 0
    counters.pinned = 0
    counters.queue.windowEntries = 0
    counters.queue.windowBytes = 0
    var sequences: [UInt64: [UInt8]] = [:]
    var deadlines: [[UInt8]: Int64] = [:]
    var tagged: [[UInt8]: StoredEntry] = [:]
    var versions: Set<UInt64> = []
    var unreadable: [[UInt8]] = []
    try forEach(in: .main, from: id.prefix) { slot, record in
      guard let entry = StoredEntry(slot: slot, record: record), entry.key != nil else {
        unreadable.append(slot)
        return
      }
      counters.add(Weight(entry))
      if !entry.fields.tags.isEmpty || !entry.owners.isEmpty { tagged[slot] = entry }
      if entry.header.flags.contains(.chunked) { versions.insert(entry.header.version) }
      sequences[entry.header.sequence] = slot
      deadlines[slot] = entry.header.deadline
    }
    for slot in unreadable {
      counters.removals.count(.damaged, bytes: 0)
      try noteDamaged(slot)
      try change { transaction throws(LMDBError) in _ = try transaction.remove(slot, from: .main) }
    }
    state.entries &+= counters.entries
    state.bytes &+= counters.bytes
    state.stored &+= counters.stored
    self.counters[id] = counters
    try dropDangling(id, sequences: sequences, deadlines: deadlines)
    try dropDangling(id, tagged: tagged, versions: versions)
  }

  private mutating func dropDangling(
    _ id: NamespaceID, sequences: [UInt64: [UInt8]], deadlines: [[UInt8]: Int64]
  ) throws(LarderError) {
    let indexes = engine.indexes
    let prefix = id.prefix
    var dangling: [(key: [UInt8], database: Database)] = []
    try forEach(in: indexes.queue, from: prefix) { key, storedKey in
      let owner = key.count == 12 ? sequences[key.span.bigEndian(at: 4)] : nil
      if owner.map({ Array($0.dropFirst(4)).span.elementsEqual(storedKey) }) != true {
        dangling.append((key, indexes.queue))
      }
    }
    try forEach(in: indexes.deadlines, from: prefix) { key, _ in
      let record = DeadlineRecord(key.span)
      if record.map({ deadlines[$0.slot] == $0.deadline }) != true {
        dangling.append((key, indexes.deadlines))
      }
    }
    try drop(dangling)
  }

  private mutating func dropDangling(
    _ id: NamespaceID, tagged: [[UInt8]: StoredEntry], versions: Set<UInt64>
  ) throws(LarderError) {
    let indexes = engine.indexes
    let prefix = id.prefix
    var dangling: [(key: [UInt8], database: Database)] = []
    try forEach(in: indexes.tags, from: []) { key, _ in
      guard let record = IndexKey.tagged(key), record.slot.starts(with: prefix) else { return }
      if tagged[record.slot]?.isIndexed(under: key) != true { dangling.append((key, indexes.tags)) }
    }
    try forEach(in: indexes.chunks, from: prefix) { key, _ in
      if key.count != 16 || !versions.contains(key.span.bigEndian(at: 4)) {
        dangling.append((key, indexes.chunks))
      }
    }
    try drop(dangling)
  }

  /// Drops the tags of entries that were too damaged to say which they had.
  mutating func dropTags(of slots: Set<[UInt8]>) throws(LarderError) {
    if slots.isEmpty { return }
    let indexes = engine.indexes
    var dangling: [(key: [UInt8], database: Database)] = []
    try forEach(in: indexes.tags, from: []) { key, _ in
      guard let record = IndexKey.tagged(key) else { return }
      if slots.contains(record.slot) { dangling.append((key, indexes.tags)) }
    }
    try drop(dangling)
  }

  private mutating func drop(
    _ dangling: [(key: [UInt8], database: Database)]
  ) throws(LarderError) {
    for (key, database) in dangling {
      try change { transaction throws(LMDBError) in _ = try transaction.remove(key, from: database)
      }
    }
  }

  /// Walks the records whose keys begin with `prefix`.
  mutating func forEach(
    in database: Database, from prefix: [UInt8], _ body: ([UInt8], Span<UInt8>) -> Void
  ) throws(LarderError) {
    try read { transaction throws(LMDBError) in
      var cursor = try transaction.cursor(in: database)
      var record = try cursor.seek(prefix.span)
      while let found = record, found.key.starts(with: prefix.span) {
        body(found.key.copied, found.value)
        record = try cursor.next()
      }
    }
  }
}
