import LMDB

extension Batch {
  /// Stores a value; what the key held before is replaced.
  mutating func put(
    _ value: Span<UInt8>, for key: Span<UInt8>, in namespace: String, attributes: EntryAttributes
  ) throws(LarderError) {
    try checkKey(key, in: namespace)
    // Everything that can be refused is looked at before anything is changed.
    let rules = (try record(named: namespace)?.rules ?? NamespaceRecord.RuleSet()).effective
    guard value.count <= rules.largestValue else {
      throw LarderError(
        .overLimit,
        "a value of \(value.count) bytes is larger than namespace \(namespace) allows (\(rules.largestValue) bytes)",
        hint: "raise the namespace's largest value, or store less")
    }
    let isLong = key.count > StoredKey.longestShort
    let fields = try attributes.fields(longKey: isLong ? key.copied : nil)
    let encodedFields = fields.encoded()
    try account(value.count + key.count + encodedFields.count)
    let record = try recordMaking(namespace)
    let slot = StoredKey.entry(key, in: record.id)
    var counters = try loadCounters(record.id)
    let previous = try replaced(at: slot, key: key, counters: &counters)

    let expires = (attributes.expires ?? rules.expires).deadline(from: now)
    let staleUntil = lateEnd(expires, stale: attributes.stale ?? rules.stale)
    let version = counters.next
    counters.next &+= 1
    var flags: EntryHeader.Flags = isLong ? .longKey : []
    if attributes.isPinned { flags.insert(.pinned) }
    let isChunked = core.chunksAbove.map { value.count > $0 } ?? false
    if isChunked { flags.insert(.chunked) }
    var header = EntryHeader(
      flags: flags, codec: attributes.codec.rawValue,
      written: min(attributes.written ?? now, now).milliseconds, expires: expires,
      staleUntil: staleUntil, deadline: previous?.header.deadline ?? EntryHeader.never,
      sequence: previous?.header.sequence ?? version, version: version)
    header.deadline = try index(slot, due: staleUntil, indexed: header.deadline)
    if previous == nil { try enqueue(slot, sequence: header.sequence, id: record.id) }
    try indexTags(fields.tags, before: previous?.fields.tags ?? [], slot: slot)

    let payload = isChunked ? ChunkedPayload(of: value).encoded : []
    let stored = try writeRecord(
      slot: slot, header: header, fields: encodedFields,
      payload: isChunked ? payload.span : value, key: key)
    if isChunked { try writeChunks(value, version: version, id: record.id) }

    let storedCount = UInt64(stored + (isChunked ? value.count : 0))
    counters.entries &+= previous == nil ? 1 : 0
    counters.bytes &+= UInt64(value.count)
    counters.stored &+= storedCount
    state.entries &+= previous == nil ? 1 : 0
    state.bytes &+= UInt64(value.count)
    state.stored &+= storedCount
    stamp()
    self.counters[record.id] = counters
  }

  func checkKey(_ key: Span<UInt8>, in namespace: String) throws(LarderError) {
    guard (1...Key.longest).contains(key.count) else {
      throw LarderError(
        .invalidArgument, "a key of \(key.count) bytes cannot be stored in namespace \(namespace)",
        hint: "use 1 to \(Key.longest) bytes")
    }
  }

  func lateEnd(_ expires: Int64, stale: Duration) -> Int64 {
    expires == EntryHeader.never
      ? expires : max(expires, Timestamp(milliseconds: expires).advanced(by: stale).milliseconds)
  }

  /// Takes the entry that a write replaces out of the counts. One that cannot be kept in place, being damaged or another
  /// key's, is removed from every index first.
  private mutating func replaced(
    at slot: [UInt8], key: Span<UInt8>, counters: inout NamespaceCounters
  ) throws(LarderError) -> StoredEntry? {
    switch try occupant(of: slot) {
    case .nobody:
      return nil
    case .damaged:
      counters.removals[.damaged] &+= 1
      damaged.insert(slot.span.namespaceID)
      return nil
    case .entry(let previous) where previous.has(key):
      counters.removals[.replaced] &+= 1
      uncount(previous, &counters)
      if previous.header.flags.contains(.chunked) { try removeChunks(of: previous) }
      return previous
    case .entry(let other):
      counters.removals[.replaced] &+= 1
      self.counters[other.id] = counters
      try erase(other)
      counters = try loadCounters(other.id)
      return nil
    }
  }

  /// Takes a value's bytes, but not the entry, out of the counts.
  private mutating func uncount(_ entry: StoredEntry, _ counters: inout NamespaceCounters) {
    counters.bytes &-= UInt64(entry.valueCount)
    counters.stored &-= UInt64(entry.storedCount)
    state.bytes &-= UInt64(entry.valueCount)
    state.stored &-= UInt64(entry.storedCount)
  }

  /// Writes header, fields and payload under `slot` with the checksum of all; returns the record's length.
  mutating func writeRecord(
    slot: [UInt8], header: EntryHeader, fields: [UInt8], payload: Span<UInt8>, key: Span<UInt8>
  ) throws(LarderError) -> Int {
    var header = header
    header.fieldsCount = UInt32(fields.count)
    // The value may be large: it is copied once, and the header written over when the checksum is known.
    var record = [UInt8](repeating: 0, count: EntryHeader.size)
    record.reserveCapacity(EntryHeader.size + fields.count + payload.count)
    record += fields
    record.append(contentsOf: payload)
    header.checksum = header.expectedChecksum(
      id: slot.span.namespaceID, key: key,
      body: record.span.extracting(EntryHeader.size..<record.count))
    var head: [UInt8] = []
    header.append(to: &head)
    record.replaceSubrange(0..<EntryHeader.size, with: head)
    try change { transaction throws(LMDBError) in try transaction.put(record, for: slot, in: .main)
    }
    return record.count
  }

  private mutating func enqueue(_ slot: [UInt8], sequence: UInt64, id: NamespaceID)
    throws(LarderError)
  {
    let storedKey = Array(slot.dropFirst(4))
    let key = IndexKey.queue(sequence, in: id)
    let queue = core.indexes.queue
    try change { transaction throws(LMDBError) in
      try transaction.put(storedKey, for: key, in: queue)
    }
  }
}
