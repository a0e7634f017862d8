import LMDB
import LarderSystem

extension WriteBatch {
  /// Stores a value; what the key held before is replaced, and what must leave for it leaves. Returns where it lies and
  /// its header as the memory tier may remember it, without the checksum.
  @discardableResult
  mutating func put(
    _ value: Span<UInt8>, for key: Span<UInt8>, in namespace: String, attributes: EntryAttributes
  ) throws(LarderError) -> (id: NamespaceID, header: EntryHeader) {
    try checkKey(key, in: namespace)
    // Everything that can be refused is looked at before anything is changed.
    let rules = try self.namespace(namespace)?.rules ?? Rules()
    try checkSize(value.count, rules: rules, namespace: namespace)
    let isLong = key.count > StoredKey.longestShort
    let owners = try stored(attributes.owners, awaits: attributes.awaitsOwners)
    let lifetime = try Lifetime(
      attributes.expires, stale: attributes.stale, rules: rules, at: now)
    var fields = try attributes.fields(longKey: isLong ? key.copied : nil, owners: owners)
    let idle = attributes.idle.flatMap { IdleInterval($0) } ?? lifetime.idle
    fields.idle = idle
    let encodedFields = fields.encoded()
    try account(value.count + key.count + encodedFields.count)
    let id = try namespaceMaking(namespace).id
    let slot = StoredKey.entry(key, in: id)
    let previous = try replaced(at: slot, key: key)

    let version = try number(in: id)
    let isPinned = attributes.isPinned ?? previous?.header.flags.contains(.pinned) ?? false
    let recordCount = EntryHeader.size + encodedFields.count + value.count
    let isChunked = try needsChunks(value: value.count, recordCount: recordCount)
    var flags: EntryHeader.Flags = isLong ? .longKey : []
    if isPinned { flags.insert(.pinned) }
    if idle != nil { flags.insert(.idle) }
    if isChunked { flags.insert(.chunked) }
    if !fields.tags.isEmpty { flags.insert(.tagged) }
    if attributes.isNegative { flags.insert(.negative) }
    let sequence = isPinned ? 0 : place(of: previous, version: version, rules: rules)
    let weight = Weight(
      size: value.count,
      stored: recordCount + (isChunked ? ChunkedPayload.size : 0),
      sequence: sequence)
    try admit(
      weight, replacing: previous, at: slot, key: key, owners: owners, isChunked: isChunked,
      rules: rules, namespace: namespace)

    let expires = lifetime.expires(key, version: version)
    let staleUntil = Lifetime.late(expires, stale: lifetime.stale)
    var header = EntryHeader(
      flags: flags, codec: attributes.codec.rawValue,
      written: min(attributes.written ?? now, now).milliseconds, expires: expires,
      staleUntil: staleUntil, deadline: previous?.header.deadline ?? EntryHeader.never,
      sequence: sequence, version: version)
    header.deadline = try index(slot, due: staleUntil, indexed: header.deadline)
    if let previous, previous.header.flags.contains(.chunked) { try removeChunks(of: previous) }
    try enqueue(slot, sequence: sequence, before: previous?.header.sequence ?? 0)
    try indexTags(fields.tags, before: previous?.fields.tags ?? [], slot: slot)
    try indexOwners(owners, before: previous?.owners ?? [], slot: slot)

    let payload = isChunked ? ChunkedPayload(of: value).encoded : []
    _ = try writeRecord(
      slot: slot, header: header, fields: encodedFields,
      payload: isChunked ? payload.span : value, key: key)
    if isChunked { try writeChunks(value, version: version, id: id) }
    engine.access.written(
      Checksum.place(of: key, in: id), isNew: previous == nil, in: now.milliseconds / 60_000)
    try note(.set, key, in: id, before: previous?.valueCount, after: value.count)
    stamp()
    return (id, header.remembered(idle))
  }

  /// An overwrite keeps its place in the queue, except where the order is that of writing.
  private func place(of previous: StoredEntry?, version: UInt64, rules: Rules) -> UInt64 {
    guard let previous, previous.header.sequence != 0, rules.eviction != .fifo else {
      return version
    }
    return previous.header.sequence
  }

  func checkKey(_ key: Span<UInt8>, in namespace: String) throws(LarderError) {
    guard (1...Key.longest).contains(key.count) else {
      throw LarderError(
        .invalidArgument, "a key of \(key.count) bytes cannot be stored in namespace \(namespace)",
        hint: "use 1 to \(Key.longest) bytes")
    }
  }

  /// What a write finds under its key. One that cannot be kept in place, being damaged or another key's, is removed from
  /// every index first.
  private mutating func replaced(
    at slot: [UInt8], key: Span<UInt8>
  ) throws(LarderError) -> StoredEntry? {
    switch try occupant(of: slot) {
    case .nobody:
      return nil
    case .damaged:
      try lose(slot)
      return nil
    case .entry(let previous) where previous.has(key):
      return previous
    case .entry(let other):
      try remove(other, reason: .replaced)
      return nil
    }
  }

  /// Writes header, fields and payload under `slot` with the checksum of all; returns the record's length.
  mutating func writeRecord(
    slot: [UInt8], header: EntryHeader, fields: [UInt8], payload: Span<UInt8>, key: Span<UInt8>
  ) throws(LarderError) -> Int {
    var header = header
    header.fieldsCount = UInt32(fields.count)
    let count = EntryHeader.size + fields.count + payload.count
    let place = Checksum.place(of: key, in: slot.span.namespaceID)
    do throws(LMDBError) {
      // A value may be large: it is copied once, to where it stays, and the header's checksum follows.
      try transaction.put(count: count, for: slot.span, in: .main) { record in
        header.append(to: &record)
        record.append(contentsOf: fields.span)
        record.append(contentsOf: payload)
        header.checksum = header.expectedChecksum(
          place: place, body: record.span.extracting(EntryHeader.size..<count))
        record.replaceWord(at: EntryHeader.checksumOffset, with: header.checksum)
      }
    } catch {
      throw failed(error)
    }
    return count
  }

  /// Gives an entry its place in the queue; 0 is none.
  mutating func enqueue(_ slot: [UInt8], sequence: UInt64, before: UInt64) throws(LarderError) {
    guard sequence != before else { return }
    let id = slot.span.namespaceID
    let queue = engine.indexes.queue
    if before != 0 {
      let key = IndexKey.queue(before, in: id)
      try change { transaction throws(LMDBError) in _ = try transaction.remove(key, from: queue) }
    }
    if sequence != 0 { try place(slot, at: sequence) }
  }

  /// Puts an entry at a place of its namespace's queue. Nearly always that is the end of all queues; a search is spared
  /// then, and the pages before it stay full.
  private mutating func place(_ slot: [UInt8], at sequence: UInt64) throws(LarderError) {
    let id = slot.span.namespaceID
    let key = IndexKey.queue(sequence, in: id)
    let storedKey = slot.span.extracting(droppingFirst: 4)
    let queue = engine.indexes.queue
    do throws(LMDBError) {
      if id != followed {
        if try transaction.append(storedKey, for: key.span, in: queue) { return }
        followed = id
      }
      try transaction.put(storedKey, for: key.span, in: queue)
    } catch {
      throw failed(error)
    }
  }
}
