import LMDB
import LarderSystem

/// The change of an entry as counters and subscribers are told of it.
enum EntryChange {
  /// A value is set.
  case set
  /// A change that was made in the write buffer is committed. Loads and the access table know of it.
  case committed(RemovalReason)
  /// Attributes of the entry were changed by a caller; its value stays.
  case touched
  /// Attributes of the entry were changed by a part of Larder; subscribers are not told.
  case amended
  case removed(RemovalReason)
  /// The entry of a cleared namespace is gone, whose counters do not include it any more.
  case reclaimed

  /// Why the former value leaves, if that is counted.
  var reason: RemovalReason? {
    switch self {
    case .set: .replaced
    case .removed(let reason), .committed(let reason): reason
    case .touched, .amended, .reclaimed: nil
    }
  }
}

/// ``replace(_:with:as:)`` and ``remove(_:as:)`` make every change of an entry, with its index records, its counters and the
/// change events. ``Admission`` keeps the limits before them.
extension WriteSession {
  /// Stores `new` in place of `old`, or of nothing, and moves everything that follows from the difference. A record with the
  /// same content stays as it is.
  mutating func replace(
    _ old: StoredEntry?, with new: Draft, as change: EntryChange
  ) throws(LarderError) {
    if changes.wantsNext() { try tell(change, old, new) }
    if let old, new.isContent(of: old) { return }
    let id = new.id
    let (before, after) = (old?.trace, new.trace)
    try charge(before?.weight, after.weight, to: id, removing: change.reason)
    try move(new.entryKey, from: before, to: after)
    if !new.fields.isEmpty || old?.fields.isEmpty == false {
      let (fields, former) = (new.fields, old?.fields ?? EntryFields())
      try replaceTags(former.tags, with: fields.tags, of: new.entryKey)
      try replaceOwners(former.owners, with: fields.owners, of: new.entryKey)
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

  /// Removes an entry, and everything that follows from it.
  mutating func remove(_ old: StoredEntry, as change: EntryChange) throws(LarderError) {
    if let reason = change.reason {
      if case .removed = change, reason.isRemoval, let keyHash = old.keyHash {
        removals.record(keyHash)
      }
      if changes.wantsNext() {
        changes.add(
          .removed, reason: reason, id: old.id, name: try nameForSubscribers(of: old.id),
          key: old.bestKey, before: old.valueCount)
      }
      try charge(old.trace.weight, nil, to: old.id, removing: reason)
    }
    try move(old.entryKey, from: old.trace, to: nil)
    if !old.fields.isEmpty {
      try replaceTags(old.fields.tags, with: [], of: old.entryKey)
      try replaceOwners(old.owners, with: [], of: old.entryKey)
    }
    if old.isCut { try removeChunks(of: old) }
    try transaction.remove(old.entryKey, from: .entries)
    if let keyHash = old.keyHash { engine.access.forget(keyHash) }
    if state.dependents > 0 { orphans.add(old.entryKey) }
  }

  /// Tells subscribers of a stored entry.
  private mutating func tell(
    _ change: EntryChange, _ old: StoredEntry?, _ new: Draft
  ) throws(LarderError) {
    let kind: ChangeRecord.Kind
    switch change {
    case .set, .committed: kind = .set
    case .touched: kind = .touched
    case .amended, .removed, .reclaimed: return
    }
    changes.add(
      kind, id: new.id, name: try nameForSubscribers(of: new.id), key: new.key.copied,
      before: old?.valueCount, after: new.valueCount, expires: new.header.expires)
  }

  private mutating func move(
    _ entryKey: [UInt8], from before: EntryTrace?, to after: EntryTrace?
  ) throws(LarderError) {
    try moveDeadline(of: entryKey, from: before?.deadline, to: after?.deadline)
    try moveInQueue(
      entryKey, from: before?.weight.queuePosition ?? 0, to: after?.weight.queuePosition ?? 0)
  }

  /// Writes header, fields and payload, with the checksum of all.
  private mutating func write(_ draft: Draft, payload: Span<UInt8>) throws(LarderError) {
    let (header, fields, keyHash, form) = (
      draft.header, draft.encodedFields, draft.keyHash, draft.form
    )
    let count = form.size + fields.count + payload.count
    // A value may be large: it is copied once, to its final place, and the header's checksum follows.
    try transaction.put(count: count, for: draft.entryKey.span, in: .entries) { record in
      header.append(to: &record, form)
      record.append(contentsOf: fields.span)
      record.append(contentsOf: payload)
      EntryHeader.seal(&record, keyHash: keyHash)
    }
  }
}

/// The facts of an entry that the counters, the queue and the expiry index hold.
struct EntryTrace {
  var weight: EntryWeight
  var deadline: IndexedDeadline
}

/// A place in the expiry index, which names an entry by its position in the queue.
struct IndexedDeadline: Equatable {
  /// ``EntryHeader/never`` is outside the index.
  var time: Int64
  var position: UInt64
}

extension EntryHeader {
  var indexed: IndexedDeadline { IndexedDeadline(time: deadline, position: sequence) }
}

extension StoredEntry {
  var trace: EntryTrace { EntryTrace(weight: EntryWeight(self), deadline: header.indexed) }

  /// Whether the value is in chunks.
  var isCut: Bool { header.flags.contains(.chunked) }
}
