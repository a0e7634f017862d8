import LMDB
import LarderSystem

/// An entry to be stored: everything but its key and value, which are lent beside it.
struct EntryDraft {
  var entryKey: [UInt8]
  /// As it is stored, but for the length of the fields and the checksum.
  var header: EntryHeader
  var fields: EntryFields
  var encodedFields: [UInt8]
  var owners: [StoredOwner]
}

extension EntryWriter {
  /// Stores an entry and its index records in place of `previous`. The counters include it already.
  mutating func store(
    _ entry: EntryDraft, _ value: Span<UInt8>, key: Span<UInt8>, replacing previous: StoredEntry?
  ) throws(LarderError) {
    let entryKey = entry.entryKey
    let header = entry.header
    try indexes.moveDeadline(
      of: entryKey, to: header, from: previous?.header, &context.counters, &context.transaction)
    if let previous, previous.header.flags.contains(.chunked) {
      try indexes.removeChunks(of: previous, &context.transaction)
    }
    try indexes.moveInQueue(
      entryKey, to: header.sequence, from: previous?.header.sequence ?? 0, &context.transaction)
    if !entry.fields.isEmpty || previous?.fields.isEmpty == false {
      try indexes.replaceTags(
        previous?.fields.tags ?? [], with: entry.fields.tags, of: entryKey, &context.transaction)
      try indexes.replaceOwners(
        previous?.owners ?? [], with: entry.owners, of: entryKey, &context.counters,
        &context.transaction)
    }
    guard header.flags.contains(.chunked) else {
      _ = try writeRecord(entryKey, header, entry.encodedFields, payload: value, key: key)
      return
    }
    let payload = ChunkedPayload(of: value).encoded
    _ = try writeRecord(entryKey, header, entry.encodedFields, payload: payload.span, key: key)
    try indexes.writeChunks(
      value, version: header.version, in: entryKey.span.namespaceID, &context.transaction)
  }

  /// Writes header, fields and payload under `entryKey`, with the checksum of all; returns the length of the record.
  private mutating func writeRecord(
    _ entryKey: [UInt8], _ newHeader: EntryHeader, _ fields: [UInt8], payload: Span<UInt8>,
    key: Span<UInt8>
  ) throws(LarderError) -> Int {
    var header = newHeader
    header.fieldsCount = UInt32(fields.count)
    let form = header.form
    let count = form.size + fields.count + payload.count
    let keyHash = Checksum.keyHash(of: key, in: entryKey.span.namespaceID)
    // A value may be large: it is copied once, to its final place, and the header's checksum follows.
    try context.transaction.put(count: count, for: entryKey.span, in: .entries) { record in
      header.append(to: &record, form)
      record.append(contentsOf: fields.span)
      record.append(contentsOf: payload)
      EntryHeader.seal(&record, keyHash: keyHash)
    }
    return count
  }

  /// Writes an entry's record again with another header or other fields; value and version stay.
  ///
  /// - Returns: false if the record is damaged. It is left as it is, because a new checksum would hide the damage.
  mutating func rewrite(
    _ entry: StoredEntry, fields newFields: EntryFields? = nil,
    _ change: (inout EntryHeader) -> Void = { _ in }
  ) throws(LarderError) -> Bool {
    guard let body = try intactBody(of: entry) else { return false }
    var header = entry.header
    change(&header)
    return try rewrite(entry, header, fields: newFields, body: body)
  }

  /// - Parameter body: the record after its header, found intact.
  private mutating func rewrite(
    _ entry: StoredEntry, _ header: EntryHeader, fields newFields: EntryFields?, body: [UInt8]
  ) throws(LarderError) -> Bool {
    guard let key = entry.key else { return false }
    let oldCount = Int(entry.header.fieldsCount)
    let fields = newFields?.encoded() ?? Array(body[..<oldCount])
    let count = try writeRecord(
      entry.entryKey, header, fields, payload: body.span.extracting(oldCount..<body.count),
      key: key.span)
    try context.counters.grow(entry.id, by: count - entry.recordCount, &context.transaction)
    return true
  }

  /// Gives an entry another end.
  ///
  /// - Parameters:
  ///   - idle: how long it may stay unused from now on.
  ///   - isIndexed: whether the expiry index still has the entry where its header says.
  /// - Returns: false if the record is damaged.
  mutating func reschedule(
    _ entry: StoredEntry, expires: Int64, staleUntil: Int64, idle: IdleInterval?,
    written: Int64? = nil, isIndexed: Bool = true
  ) throws(LarderError) -> Bool {
    guard let body = try intactBody(of: entry) else { return false }
    var header = entry.header
    header.written = written ?? header.written
    header.expires = expires
    header.staleUntil = staleUntil
    let before = isIndexed ? entry.header : nil
    header.deadline = header.indexedDeadline(replacing: before)
    try indexes.moveDeadline(
      of: entry.entryKey, to: header, from: before, &context.counters, &context.transaction)
    if idle == nil { header.flags.remove(.idle) } else { header.flags.insert(.idle) }
    var fields = entry.fields
    if fields.idle != idle { fields.idle = idle }
    return try rewrite(entry, header, fields: fields, body: body)
  }

  /// Gives an entry with a time to idle the end that follows from an access at `moment`.
  ///
  /// - Returns: whether it was written.
  @discardableResult
  mutating func extend(_ entry: StoredEntry, accessedAt moment: Int64) throws(LarderError) -> Bool {
    guard entry.header.flags.contains(.idle), let idle = entry.fields.idle,
      moment >= idle.due(end: entry.header.expires)
    else { return false }
    let end = idle.end(after: moment)
    return try reschedule(
      entry, expires: end, staleUntil: Lifetime.late(end, stale: entry.header.stale ?? .zero),
      idle: idle)
  }
  /// Protects an entry from eviction, or lets it be evicted again.
  ///
  /// - Returns: false if the record is damaged.
  mutating func setPinned(_ isPinned: Bool, _ entry: StoredEntry) throws(LarderError) -> Bool {
    // A pinned entry is outside the queue; when it returns there, it counts as new.
    let position =
      isPinned ? 0 : try context.counters.nextNumber(in: entry.id, &context.transaction)
    var pinned = entry.header
    pinned.sequence = position
    if isPinned { pinned.flags.insert(.pinned) } else { pinned.flags.remove(.pinned) }
    pinned.deadline = pinned.indexedDeadline(replacing: entry.header)
    guard try rewrite(entry, { [pinned] header in header = pinned }) else { return false }
    try indexes.moveDeadline(
      of: entry.entryKey, to: pinned, from: entry.header, &context.counters, &context.transaction)
    try indexes.moveInQueue(
      entry.entryKey, to: position, from: entry.header.sequence, &context.transaction)
    var weight = EntryWeight(entry)
    try context.counters.subtract(weight, from: entry.id, &context.transaction)
    weight.queuePosition = position
    try context.counters.add(weight, to: entry.id, &context.transaction)
    return true
  }
}
