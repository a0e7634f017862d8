import LarderSystem

enum EntryChange {
  case set
  /// A change from the write buffer is committed. Loads and the access table already know the change.
  case committed(RemovalReason)
  /// A caller has changed attributes of the entry, but not its value.
  case touched
  /// Larder itself has changed attributes of the entry. Subscribers are not told about this change.
  case amended
  case removed(RemovalReason)
  /// The entry belonged to a cleared namespace. The counters of that namespace no longer include the entry.
  case reclaimed

  var reason: RemovalReason? {
    switch self {
    case .set: .replaced
    case .removed(let reason), .committed(let reason): reason
    case .touched, .amended, .reclaimed: nil
    }
  }

  /// The kind of a change that subscribers get when ``WriteSession/replace(_:with:as:)`` makes the change; nil for no message.
  var kind: ChangeRecord.Kind? {
    switch self {
    case .set, .committed: .set
    case .touched: .touched
    case .amended, .removed, .reclaimed: nil
    }
  }
}

/// Every change of an entry is made by ``replace(_:with:as:)`` or ``remove(_:as:)``. These functions also change the index
/// records and the counters, and record the change events. Before the change, `admit` enforces the limits.
extension WriteSession {
  /// Stores `new` in place of `old`, or as a new entry. If the record already has this content, writes no record.
  mutating func replace(
    _ old: StoredEntry?, with new: Draft, as change: EntryChange
  ) throws(LarderError) {
    if wantsNextChange(), let kind = change.kind {
      record(
        kind, id: new.id, name: try nameForSubscribers(of: new.id), key: new.key.copied,
        before: old?.valueCount, after: new.valueCount, expires: new.header.expires)
    }
    if let old, new.isContent(of: old) { return }
    let id = new.id
    try charge(old?.weight, new.weight, to: id, removing: change.reason)
    try moveDeadline(of: new.entryKey, from: old?.header, to: new.header)
    try moveInQueue(new.entryKey, from: old?.header.sequence ?? 0, to: new.header.sequence)
    if !new.fields.isEmpty || old?.fields.isEmpty == false {
      try replaceTags(old?.fields ?? EntryFields(), with: new.fields, of: new.entryKey)
    }
    if let old, old.isCut, old.header.version != new.header.version { try removeChunks(of: old) }
    if new.isCut {
      try writeChunks(new.payload, version: new.header.version, in: id)
      try write(new, payload: ChunkedPayload(of: new.payload).encoded.span)
    } else {
      try write(new, payload: new.payload)
    }
    guard case .set = change else { return }
    engine.access.written(
      new.keyHash, isNew: old == nil, sequence: new.header.sequence, of: id,
      in: now.milliseconds / 60_000)
  }

  mutating func remove(_ old: StoredEntry, as change: EntryChange) throws(LarderError) {
    if case .removed(let reason) = change, [.removed, .invalidated, .orphaned].contains(reason),
      let keyHash = old.keyHash
    {
      recordRemoval(of: keyHash, at: reason == .invalidated ? invalidation(of: old) : 0)
    }
    if let reason = change.reason, wantsNextChange() {
      record(
        .removed, reason: reason, id: old.id, name: try nameForSubscribers(of: old.id),
        key: old.key ?? old.storedKey.bytes, before: old.valueCount)
    }
    if change.reason != nil { try charge(old.weight, nil, to: old.id, removing: change.reason) }
    try moveDeadline(of: old.entryKey, from: old.header, to: nil)
    try moveInQueue(old.entryKey, from: old.header.sequence, to: 0)
    if !old.fields.isEmpty { try replaceTags(old.fields, with: EntryFields(), of: old.entryKey) }
    if old.isCut { try removeChunks(of: old) }
    try transaction.remove(old.entryKey, from: .entries)
    if let keyHash = old.keyHash { engine.access.forget(keyHash) }
    orphanDependents(of: old.entryKey)
  }

  private mutating func write(_ draft: Draft, payload: Span<UInt8>) throws(LarderError) {
    let (header, fields, keyHash, form) = (
      draft.header, draft.encodedFields, draft.keyHash, draft.form
    )
    let count = form.size + fields.count + payload.count
    // A value may be large. So the value is copied once, to its final place, and the header's checksum is set after the copy.
    try transaction.put(count: count, for: draft.entryKey.span, in: .entries) { record in
      header.append(to: &record, form)
      record.append(contentsOf: fields.span)
      record.append(contentsOf: payload)
      EntryHeader.seal(&record, keyHash: keyHash)
    }
  }

  /// Edits the header and the fields of an entry, but neither its value nor its version. Cuts a large value if LMDB has too few
  /// consecutive pages. Returns false for a damaged record, which stays, because a new checksum would hide the damage.
  mutating func amend(
    _ entry: StoredEntry, as change: EntryChange = .amended,
    _ edit: (inout EntryHeader, inout EntryFields) -> Void
  ) throws(LarderError) -> Bool {
    guard let body = try intactBody(of: entry), let key = entry.key else { return false }
    var (header, fields) = (entry.header, entry.fields)
    edit(&header, &fields)
    let payload = body.span.extracting(droppingFirst: Int(entry.header.fieldsCount))
    let encoded = fields.encoded()
    let count = EntryHeader.largestSize + encoded.count + payload.count
    let isNewlyCut = try takePages(forCopyOf: entry, recordCount: count)
    if isNewlyCut { header.flags.insert(.chunked) }
    let draft = Draft(
      payload, for: key.span, at: entry.entryKey, header, fields, encoded: encoded,
      keepingValueOf: isNewlyCut ? nil : entry)
    try replace(entry, with: draft, as: change)
    return true
  }

  /// Replaces the expiry, the end of the stale window and the time to idle (nil for none). Returns false for a damaged record.
  mutating func reschedule(
    _ entry: StoredEntry, expires: Int64, staleUntil: Int64, idle: IdleInterval?,
    written: Int64? = nil, as change: EntryChange = .amended
  ) throws(LarderError) -> Bool {
    try amend(entry, as: change) { header, fields in
      header.written = written ?? header.written
      header.expires = expires
      header.staleUntil = staleUntil
      header.deadline = header.indexedDeadline(replacing: entry.header)
      if idle == nil { header.flags.remove(.idle) } else { header.flags.insert(.idle) }
      if fields.idle != idle { fields.idle = idle }
    }
  }

  /// Extends the lifetime of an entry with a time to idle after an access at `moment`. Returns whether the entry was written.
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

  mutating func setOwners(_ owners: [StoredOwner], of entry: StoredEntry) throws(LarderError)
    -> Bool
  {
    try amend(entry) { _, fields in
      if owners != entry.owners { fields.replaceAll(.owner, with: owners.map(\.field)) }
    }
  }
}
