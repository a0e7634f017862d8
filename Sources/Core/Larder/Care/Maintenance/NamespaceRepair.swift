import LMDB
import LarderSystem

/// The repair of a namespace with damage. Removes records that lead to no entry, and counts the entries again. The write that
/// finds the damage repairs a small namespace before its commit, or marks a large namespace for ``RepairJob``. Until that job
/// has run, the counters include the damaged entries, and index records that lead to no entry remain.
struct NamespaceRepair {
  /// With more entries than this, or ten times as many tag records, the write that finds damage only marks the namespace.
  static let largestAtOnce = 1000

  /// The databases of the namespace's records, in the order of the repair.
  enum Part: CaseIterable { case entries, queue, deadlines, tags, chunks }

  /// A count of the entries of the namespace, in one snapshot or write.
  struct Survey {
    let recorded: NamespaceCounters
    var counted: NamespaceCounters
    /// How many times damage had been found before the survey.
    var events: UInt64 = 0
    var chunks = ChunkOwners()
  }

  /// The versions whose values are in chunks. A chunk of another version below `next` belongs to no entry.
  struct ChunkOwners {
    var versions: Set<UInt64> = []
    var next: UInt64 = 0

    func lacks(_ key: [UInt8]) -> Bool {
      guard key.count == 16 else { return true }
      let version = key.span.bigEndian(at: 4) as UInt64
      return version < next && !versions.contains(version)
    }
  }

  let id: NamespaceID
  let indexes: Indexes

  func database(of part: Part) -> Database {
    switch part {
    case .entries: .entries
    case .queue: indexes.queue
    case .deadlines: indexes.deadlines
    case .tags: indexes.tags
    case .chunks: indexes.chunks
    }
  }

  /// Reads at most `most` records. Returns keys that lead to no entry. `reached` is where the next call begins; nil at the end.
  func dangling(
    _ part: Part, after position: [UInt8]? = nil, atMost most: Int = .max, _ chunks: ChunkOwners,
    in view: borrowing some DatabaseView & ~Copyable
  ) throws(LMDBError) -> (keys: [[UInt8]], reached: [UInt8]?) {
    // Records of the tag index begin with a tag, so the repair of a namespace must read the records of all namespaces.
    let prefix = part == .tags ? [] : id.prefix
    let start = position ?? prefix
    var keys: [[UInt8]] = []
    var last: [UInt8] = []
    var count = 0
    var cursor = try view.cursor(in: database(of: part))
    var record = try cursor.seek(start.span)
    while count < most, let found = record, found.key.starts(with: prefix.span) {
      count += 1
      last = found.key.copied
      if last != position, try mayDangle(part, last, found.value, chunks, in: view) {
        keys.append(last)
      }
      record = try cursor.next()
    }
    if part == .tags { keys = try unexplained(keys, in: view) }
    return (keys, count == most ? last : nil)
  }

  /// Those of the given keys of the tag index whose entry is absent or lacks the tag. Reads an entry only once for all tags.
  func unexplained(
    _ keys: [[UInt8]], in view: borrowing some DatabaseView & ~Copyable
  ) throws(LMDBError) -> [[UInt8]] {
    var unexplained: [[UInt8]] = []
    for (entryKey, keys) in Dictionary(grouping: keys, by: { IndexKey.tagged($0) ?? [] }) {
      let explained = entryKey.isEmpty ? [] : try view.entry(at: entryKey)?.tagKeys ?? []
      unexplained += keys.filter { !explained.contains($0) }
    }
    return unexplained
  }

  /// Whether a record leads to no entry. For the tag index, whether a record is of this namespace; see ``unexplained(_:in:)``.
  func mayDangle(
    _ part: Part, _ key: [UInt8], _ value: Span<UInt8>, _ chunks: ChunkOwners,
    in view: borrowing some DatabaseView & ~Copyable
  ) throws(LMDBError) -> Bool {
    switch part {
    case .entries: return StoredEntry(entryKey: key, record: value)?.key == nil
    case .queue:
      guard let record = QueueRecord(key.span, value) else { return true }
      return try view.entry(at: record.entryKey)?.header.sequence != record.position
    case .deadlines:
      guard let record = ExpiryRecord(key.span, value) else { return true }
      for indexed in record where try !isSound(indexed, in: view) { return true }
      return false
    case .tags:
      // A malformed key belongs to no namespace, so the repair of each namespace removes such keys.
      return IndexKey.tagged(key)?.starts(with: id.prefix) ?? true
    case .chunks: return chunks.lacks(key)
    }
  }

  func isSound(
    _ indexed: IndexedEntry, in view: borrowing some DatabaseView & ~Copyable
  ) throws(LMDBError) -> Bool {
    guard let entryKey = try indexed.entryKey(in: view, indexes) else { return false }
    return try view.entry(at: entryKey).map { indexed.leads(to: $0.header) } ?? false
  }

  /// Counts the entries. `recorded` are the counters in `view`. Later changes are exact, so the result holds until new damage.
  func survey(
    _ recorded: NamespaceCounters, in view: borrowing some DatabaseView & ~Copyable
  ) throws(LMDBError) -> Survey {
    var survey = Survey(recorded: recorded, counted: NamespaceCounters(recounting: recorded))
    survey.chunks.next = recorded.next
    if let mark = try view.value(for: MetadataKey.repair(id).span, in: .main) {
      survey.events = RepairMark.events(mark)
    }
    try view.forEach(in: .entries, from: id.prefix) { key, record throws(LMDBError) in
      guard let entry = StoredEntry(entryKey: key.copied, record: record) else { return }
      survey.counted.count(entry.weight)
      if entry.header.flags.contains(.chunked) {
        survey.chunks.versions.insert(entry.header.version)
      }
    }
    return survey
  }
}

extension DatabaseView where Self: ~Copyable {
  /// The header of an entry; nil if the entry is absent or its header is damaged.
  func header(at entryKey: [UInt8]) throws(LMDBError) -> EntryHeader? {
    guard let record = try value(for: entryKey.span, in: .entries) else { return nil }
    return EntryHeader(record)
  }

  /// The parsed entry; nil if the entry is absent or damaged. The checksum is not verified.
  func entry(at entryKey: [UInt8]) throws(LMDBError) -> StoredEntry? {
    guard let record = try value(for: entryKey.span, in: .entries) else { return nil }
    return StoredEntry(entryKey: entryKey, record: record)
  }
}
