import LMDB
import LarderSystem

enum EntryChange {
  case set
  /// A change from the write buffer is committed. Loads and the access table already have it. The log of the buffer may already
  /// have counted the former value.
  case committed(RemovalReason, isCounted: Bool)
  /// A caller has changed attributes of the entry; its value stays.
  case touched
  /// A part of Larder has changed attributes of the entry; subscribers do not get the change.
  case amended
  case removed(RemovalReason)
  /// The entry belonged to a cleared namespace, whose counters no longer include the entry.
  case reclaimed

  var reason: RemovalReason? {
    switch self {
    case .set: .replaced
    case .removed(let reason), .committed(let reason, _): reason
    case .touched, .amended, .reclaimed: nil
    }
  }

  fileprivate var uncounted: RemovalReason? {
    if case .committed(_, isCounted: true) = self { nil } else { reason }
  }
}

/// ``replace(_:with:as:)`` and ``remove(_:as:)`` make every change of an entry, with its index records, its counters and the
/// change events. ``Admission`` enforces the limits before the change.
extension WriteSession {
  /// Stores `new` in place of `old`, or as a new entry. A record with the same content stays as it is.
  mutating func replace(
    _ old: StoredEntry?, with new: Draft, as change: EntryChange
  ) throws(LarderError) {
    if changes.wantsNext() { try tell(change, old, new) }
    if let old, new.isContent(of: old) { return }
    let id = new.id
    try charge(
      old.map { EntryWeight($0) }, new.weight, to: id, removing: change.uncounted)
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
      removals.record(keyHash)
    }
    if let reason = change.reason, changes.wantsNext() {
      record(
        .removed, reason: reason, id: old.id, name: try nameForSubscribers(of: old.id),
        key: old.key ?? old.storedKey.bytes, before: old.valueCount)
    }
    if change.reason != nil {
      try charge(EntryWeight(old), nil, to: old.id, removing: change.uncounted)
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
    // A value may be large, so it is copied once, to its final place, and the header's checksum is set afterwards.
    try transaction.put(count: count, for: draft.entryKey.span, in: .entries) { record in
      header.append(to: &record, form)
      record.append(contentsOf: fields.span)
      record.append(contentsOf: payload)
      EntryHeader.seal(&record, keyHash: keyHash)
    }
  }
}

/// A place in the expiry index. The index names an entry by its position in the queue, and a pinned entry by its key.
struct IndexedDeadline: Equatable {
  /// The time of the record; ``EntryHeader/never`` if the index does not have the entry.
  var time: Int64
  var position: UInt64
}

extension EntryHeader {
  var indexed: IndexedDeadline { IndexedDeadline(time: deadline, position: sequence) }
}

extension StoredEntry {
  var isCut: Bool { header.flags.contains(.chunked) }
}
