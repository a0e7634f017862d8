import LMDB
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
}

/// Every change of an entry is made by ``replace(_:with:as:)`` or ``remove(_:as:)``. These functions also change the index
/// records and the counters, and record the change events. Before the change, `admit` enforces the limits.
extension WriteSession {
  /// Stores `new` in place of `old`, or as a new entry. If the record already has the same content, does not write it.
  mutating func replace(
    _ old: StoredEntry?, with new: Draft, as change: EntryChange
  ) throws(LarderError) {
    if wantsNextChange() { try tell(change, old, new) }
    if let old, new.isContent(of: old) { return }
    let id = new.id
    try charge(old?.weight, new.weight, to: id, removing: change.reason)
    try moveDeadline(of: new.entryKey, from: old?.header.indexed, to: new.header.indexed)
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
    if case .removed(let reason) = change, reason.isRemoval, let keyHash = old.keyHash {
      recordRemoval(of: keyHash)
    }
    if let reason = change.reason, wantsNextChange() {
      record(
        .removed, reason: reason, id: old.id, name: try nameForSubscribers(of: old.id),
        key: old.key ?? old.storedKey.bytes, before: old.valueCount)
    }
    if change.reason != nil {
      try charge(old.weight, nil, to: old.id, removing: change.reason)
    }
    try moveDeadline(of: old.entryKey, from: old.header.indexed, to: nil)
    try moveInQueue(old.entryKey, from: old.header.sequence, to: 0)
    if !old.fields.isEmpty { try replaceTags(old.fields, with: EntryFields(), of: old.entryKey) }
    if old.isCut { try removeChunks(of: old) }
    try transaction.remove(old.entryKey, from: .entries)
    if let keyHash = old.keyHash { engine.access.forget(keyHash) }
    if state.dependents > 0 { orphans.add(old.entryKey) }
  }

  private mutating func tell(
    _ change: EntryChange, _ old: StoredEntry?, _ new: Draft
  ) throws(LarderError) {
    let kind: ChangeRecord.Kind
    switch change {
    case .set, .committed: kind = .set
    case .touched: kind = .touched
    case .amended, .removed, .reclaimed: return
    }
    record(
      kind, id: new.id, name: try nameForSubscribers(of: new.id), key: new.key.copied,
      before: old?.valueCount, after: new.valueCount, expires: new.header.expires)
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
}

/// The place of an entry in the expiry index. The index names an entry by its queue position, but a pinned entry by its key.
struct IndexedDeadline: Equatable {
  var time: Int64
  var position: UInt64
}

extension EntryHeader {
  var indexed: IndexedDeadline { IndexedDeadline(time: deadline, position: sequence) }
}
