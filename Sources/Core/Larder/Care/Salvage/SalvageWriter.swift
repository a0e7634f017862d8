import LMDB
import LarderSystem

struct SalvageWriter {
  let store: Store
  let metadata: SalvageMetadata
  var result = Salvage()
  private typealias SavedEntry = (
    key: [UInt8], name: String, value: [UInt8], attributes: EntryAttributes
  )

  private var waiting: [SavedEntry] = []
  private var waitingBytes = 0
  /// The version of each saved value. Pages without a reference may contain older versions, which are not saved.
  private var saved: [[UInt8]: UInt64] = [:]
  /// The keys that have a record in the write buffer. This record is newer than each entry of the key in the file.
  private var outdated: Set<[UInt8]> = []

  private static let entriesPerBatch = 500
  private static let bytesPerBatch = 8 << 20

  init(store: Store, metadata: SalvageMetadata) { (self.store, self.metadata) = (store, metadata) }

  /// Takes the records of a log of the write buffer. The caller adds newer logs first, and the entries of the file last.
  mutating func add(_ records: BufferContents, from file: borrowing SalvageFile) throws {
    let bytes = records.bytes.span
    for place in records.places {
      let entryKey = StoredKey.entry(bytes.extracting(place.key), in: place.record.id)
      if !place.record.isRemoval,
        !(try add(entryKey.span, bytes.extracting(place.entry), from: file))
      {
        result.damagedEntries += 1
      }
      outdated.insert(entryKey)
    }
    if records.isDamaged { result.damage.append("the write buffer has a damaged record") }
  }

  /// Takes a record of the database of entries. Returns false if the record is a damaged entry.
  mutating func add(
    _ entryKey: Span<UInt8>, _ record: Span<UInt8>, from file: borrowing SalvageFile
  ) throws -> Bool {
    guard entryKey.count > 4, NamespaceID.possible.contains(entryKey.namespaceID) else {
      return true
    }
    guard let entry = StoredEntry(entryKey: entryKey.copied, record: record),
      let key = entry.key, entry.storedKey.isWellFormed, entry.isIntact(record),
      let value = value(of: entry, record, from: file)
    else { return false }
    if outdated.contains(entry.entryKey) { return true }
    // Transforms bind a value to its store. The new store could not read the value, so the entry is left out.
    let isTransformed =
      entry.header.flags.contains(.transformed) || entry.fields[.transformedMetadata] != nil
    guard !isTransformed, let name = metadata.name(of: entry.id), !metadata.isHidden(entry),
      entry.header.state(at: store.now.milliseconds) != .expired
    else {
      result.leftOut += 1
      result.transformed += isTransformed ? 1 : 0
      return true
    }
    let before = saved[entry.entryKey]
    if let before, before >= entry.header.version { return true }
    saved[entry.entryKey] = entry.header.version
    result.entries += before == nil ? 1 : 0
    waiting.append((key, name, value, attributes(of: entry)))
    waitingBytes += value.count
    if waiting.count >= Self.entriesPerBatch || waitingBytes >= Self.bytesPerBatch { try flush() }
    return true
  }

  mutating func flush() throws {
    let entries = waiting
    waiting.removeAll(keepingCapacity: true)
    waitingBytes = 0
    if try entries.isEmpty || isWritten(entries) { return }
    for entry in entries where try !isWritten([entry]) {
      result.damagedEntries += 1
      result.entries -= 1
    }
  }

  /// Writes all entries. If an entry is invalid, for example because of an empty tag, writes no entry and returns false.
  private func isWritten(_ entries: [SavedEntry]) throws -> Bool {
    let loose = Rules(largestValue: Rules.largestPossibleValue)
    do {
      try store.write { batch in
        for entry in entries {
          try batch.declareOnce(loose, for: store.namespace(entry.name))
          _ = try batch.put(
            entry.value.span, for: entry.key.span, in: entry.name, attributes: entry.attributes)
        }
      }
      return true
    } catch let error as LarderError where [.invalidArgument, .overLimit].contains(error.code) {
      return false
    }
  }

  private func value(
    of entry: StoredEntry, _ record: Span<UInt8>, from file: borrowing SalvageFile
  ) -> [UInt8]? {
    let payload = record.extracting(entry.header.payloadStart..<record.count)
    guard entry.header.flags.contains(.chunked) else { return payload.copied }
    let version = entry.header.version
    guard let expected = ChunkedPayload(payload) else { return nil }
    var value: [UInt8] = []
    value.reserveCapacity(min(expected.count, 64 << 20))
    var index: UInt32 = 0
    while value.count < expected.count {
      let key = IndexKey.chunk(index, of: version, in: entry.id)
      guard let chunk = file.withValue(for: key, in: Indexes.names[4], { $0.copied }) else { break }
      value += chunk
      index += 1
    }
    return ChunkedPayload(of: value.span) == expected ? value : nil
  }

  private func attributes(of entry: StoredEntry) -> EntryAttributes {
    let header = entry.header
    var attributes = EntryAttributes(keeping: header, expires: nil)
    if header.flags.contains(.idle), let idle = entry.fields.idle {
      attributes.idle = .milliseconds(idle.milliseconds)
    }
    attributes.tags = entry.fields.tags.map { String(decoding: $0, as: UTF8.self) }
    attributes.owners = entry.owners.compactMap { owner in
      metadata.name(of: owner.id).map { Owner(Key(owner.key), in: $0) }
    }
    attributes.awaitsOwners = true
    attributes.entityTag = entry.fields[.entityTag]
    attributes.lastModified = entry.fields[.lastModified]
    attributes.metadata = entry.fields[.metadata]
    attributes.isPinned = header.flags.contains(.pinned)
    attributes.isNegative = header.flags.contains(.negative)
    attributes.written = Timestamp(milliseconds: header.written)
    return attributes
  }
}

/// The records that killed processes have left in a store's write buffer: no commit has stored these records.
struct SalvagedRecords {
  private let state: BufferState
  private let base: UInt64
  private let logs: [(generation: UInt64, contents: BufferContents)]

  /// Reads the records through a read-only handle, which changes nothing in the store. Nil if the write buffer has no records.
  init?(at path: String, _ own: Store.Options) throws(LarderError) {
    guard FileStatus.of(path + "/" + MappedFile.buffer.rawValue) != nil else { return nil }
    var options = own
    (options.create, options.readOnly, options.durability) = (false, true, nil)
    let store = try Store(at: path, options: options)
    guard let buffer = store.engine.reader.buffer, buffer.hasRecords else { return nil }
    state = buffer.state
    base = buffer.base(of: state)
    logs = buffer.logs(of: state).map { ($0.generation, BufferContents(of: buffer, $0)) }
  }

  /// The contents of the logs that the commit `commit` does not contain, the newest log first.
  func contents(after commit: UInt64) -> [BufferContents] {
    guard let first = state.firstGeneration(after: commit, base: base) else { return [] }
    return logs.filter { $0.generation >= first }.reversed().map(\.contents)
  }
}
