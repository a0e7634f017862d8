import LMDB
import LarderSystem

/// The change of an entry as counters and subscribers are told of it.
enum EntryChange {
  /// A value was set.
  case set
  /// Attributes of the entry were changed by a caller; its value stays.
  case touched
  /// The same, and nobody is told.
  case amended
  case removed(RemovalReason)
  /// The entry of a cleared namespace is gone, whose counters do not include it any more.
  case reclaimed
}

/// ``replace(_:with:as:)`` makes every change of an entry, with its index records, its counters and the change events.
/// ``Admission`` keeps the limits before it.
extension WriteSession {
  /// Stores `new` in place of `old`, and moves everything that follows from the difference. Without `new` the entry is removed,
  /// without `old` it is inserted. A record with the same content stays as it is.
  mutating func replace(_ old: StoredEntry?, with new: Draft?, as change: EntryChange)
    throws(LarderError)
  {
    try tell(change, old, new)
    if let old, let new, new.isContent(of: old) { return }
    try charge(change, old, new)
    try index(old, new)
    guard let new else {
      if let old { try erase(old) }
      return
    }
    if new.isCut {
      try write(new, payload: ChunkedPayload(of: new.payload).encoded.span)
    } else {
      try write(new, payload: new.payload)
    }
    guard case .set = change else { return }
    engine.access.written(
      new.keyHash, isNew: old == nil, sequence: new.header.sequence,
      of: new.entryKey.span.namespaceID, in: now.milliseconds / 60_000)
  }

  /// Tells subscribers of changes, and loads that began before.
  private mutating func tell(
    _ change: EntryChange, _ old: StoredEntry?, _ new: Draft?
  ) throws(LarderError) {
    switch change {
    case .set:
      guard let new, changes.wantsNext() else { return }
      let id = new.entryKey.span.namespaceID
      changes.add(
        .set, id: id, name: try nameForSubscribers(of: id), key: new.key.copied,
        before: old?.valueCount, after: new.valueCount, expires: new.header.expires)
    case .touched:
      guard let old, let new, changes.wantsNext() else { return }
      changes.add(
        .touched, id: old.id, name: try nameForSubscribers(of: old.id), key: old.bestKey,
        before: old.valueCount, after: old.valueCount, expires: new.header.expires)
    case .removed(let reason):
      guard let old else { return }
      if reason.isRemoval, let keyHash = old.keyHash { removals.record(keyHash) }
      guard changes.wantsNext() else { return }
      changes.add(
        .removed, reason: reason, id: old.id, name: try nameForSubscribers(of: old.id),
        key: old.bestKey, before: old.valueCount)
    case .amended, .reclaimed:
      break
    }
  }

  private mutating func charge(_ change: EntryChange, _ old: StoredEntry?, _ new: Draft?)
    throws(LarderError)
  {
    let reason: RemovalReason? =
      switch change {
      case .set: .replaced
      case .removed(let reason): reason
      case .touched, .amended, .reclaimed: nil
      }
    if case .reclaimed = change { return }
    guard let id = old?.id ?? new?.entryKey.span.namespaceID else { return }
    try charge(old.map { EntryWeight($0) }, new?.weight, to: id, removing: reason)
  }

  private mutating func index(_ old: StoredEntry?, _ new: Draft?) throws(LarderError) {
    guard let entryKey = new?.entryKey ?? old?.entryKey else { return }
    try moveDeadline(of: entryKey, from: old?.header, to: new?.header)
    try moveInQueue(
      entryKey, from: old?.header.sequence ?? 0, to: new?.header.sequence ?? 0)
    let (before, after) = (old?.fields ?? EntryFields(), new?.fields ?? EntryFields())
    if !before.isEmpty || !after.isEmpty {
      try replaceTags(before.tags, with: after.tags, of: entryKey)
      try replaceOwners(before.owners, with: after.owners, of: entryKey)
    }
    if let old, old.header.flags.contains(.chunked), old.header.version != new?.header.version {
      try removeChunks(of: old)
    }
    if let new, new.isCut {
      try writeChunks(
        new.payload, version: new.header.version, in: entryKey.span.namespaceID)
    }
  }

  /// Writes header, fields and payload, with the checksum of all.
  private mutating func write(_ draft: Draft, payload: Span<UInt8>) throws(LarderError) {
    let (header, fields, keyHash) = (draft.header, draft.encodedFields, draft.keyHash)
    let form = header.form
    let count = form.size + fields.count + payload.count
    // A value may be large: it is copied once, to its final place, and the header's checksum follows.
    try transaction.put(count: count, for: draft.entryKey.span, in: .entries) { record in
      header.append(to: &record, form)
      record.append(contentsOf: fields.span)
      record.append(contentsOf: payload)
      EntryHeader.seal(&record, keyHash: keyHash)
    }
  }

  private mutating func erase(_ entry: StoredEntry) throws(LarderError) {
    try transaction.remove(entry.entryKey, from: .entries)
    if let keyHash = entry.keyHash { engine.access.forget(keyHash) }
    if state.dependents > 0 { orphans.add(entry.entryKey) }
  }
}
