import LMDB
import LarderSystem

extension WriteBatch {
  /// Stores records of the write buffer before the batch makes its own changes. Throws ``RolledBack`` if damage prevents
  /// storing a record, because a part of this record may already be stored.
  mutating func drain(
    _ buffer: WriteBuffer, to state: BufferState, _ drained: inout DrainedRecords,
    without lost: LostRecords
  ) throws {
    if state.end <= drained.end { return }
    // If all records are damaged, the batch changes nothing else. But this generation of records ends only with a commit.
    forceCommit()
    let contents = BufferContents(of: buffer, from: drained.end, to: state)
    for id in contents.namespaces.keys where drained.firstVersions[id] == nil {
      if try session.isLive(id) { drained.firstVersions[id] = try session.counters(of: id).next }
    }
    let places = lost.remaining(contents.places, of: state)
    let bytes = contents.bytes.span
    session.deadlines.keepsAll = true
    defer { session.deadlines.keepsAll = false }
    for place in places {
      do throws(LarderError) {
        try store(
          place, bytes.extracting(place.entry), for: bytes.extracting(place.key),
          onVersionsFrom: drained.firstVersions[place.record.id])
      } catch {
        guard error.code == .damaged else { throw error }
        throw RolledBack.recordUnstorable(offset: place.offset, generation: state.generation)
      }
    }
    for (id, namespace) in contents.namespaces where try session.isLive(id) {
      try session.update(id) { counters in
        counters.next = max(counters.next, namespace.next)
        counters.removals = counters.removals + namespace.removals
      }
    }
    if contents.isDamaged { try skipVersions(of: buffer) }
    for time in contents.times {
      session.recordWrite(
        at: min(max(Timestamp(milliseconds: time), Timestamp(milliseconds: 0)), session.now))
    }
    drained.end = state.end
    drained.count += places.count
  }

  /// Skips the versions that damaged records may have had, because readers may have seen other values with these versions.
  private mutating func skipVersions(of buffer: WriteBuffer) throws(LarderError) {
    for id in Set(buffer.namespaceIDs) where try session.name(of: id) != nil {
      try session.update(id) { $0.next &+= 1 << 20 }
    }
  }

  private mutating func store(
    _ place: BufferPlace, _ entry: Span<UInt8>, for key: Span<UInt8>,
    onVersionsFrom first: UInt64?
  ) throws(LarderError) {
    let record = place.record
    guard let name = try session.name(of: record.id), let namespace = try session.namespace(name)
    else { return }
    let entryKey = StoredKey.entry(key, in: record.id)
    var previous = try clearPlace(at: entryKey, for: key)
    // The former entry may come from an earlier record of the key, which this transaction has already stored. If so, the log
    // has already counted the removal of that entry's value.
    let isOfBuffer = previous.map { $0.header.version >= first ?? .max } ?? false
    let leaves =
      isOfBuffer
      ? record.isRemoval || place.followsRemoval
      : !record.kind.isDisjoint(with: [.removal, .afterRemoval])
    if leaves, let former = previous {
      let reason: RemovalReason = record.kind.contains(.replacesData) ? .replaced : .removed
      try session.remove(former, as: .committed(reason, isCounted: isOfBuffer))
      previous = nil
    }
    guard !record.isRemoval, var header = EntryHeader(entry) else { return }
    if let previous, previous.header.version >= header.version { return }
    header.sequence = namespace.queuePosition(of: previous?.header, version: header.version)
    header.deadline = header.indexedDeadline(replacing: previous?.header)
    try store(
      entry.extracting(header.payloadStart..<entry.count), for: key, at: entryKey, header,
      (EntryFields(), []), replacing: previous, in: namespace,
      as: .committed(.replaced, isCounted: isOfBuffer))
  }
}

extension WriteSession {
  /// Evicts in full namespaces and in a full store, so that the next records have room and need no commit of their own. Evicts
  /// in the namespaces that the batch has changed, and in `crowded`.
  mutating func evictAhead(also crowded: NamespaceID?) throws(LarderError) {
    guard hasPages(for: BatchPages.forCleanup) else { return }
    for id in Set(ledger.changedNamespaces).union(crowded.map { [$0] } ?? []) {
      try load(id)
      guard let name = try self.name(of: id), let namespace = try self.namespace(name),
        ledger[id].entries >= Limits.leastEvictedAhead
      else { continue }
      _ = try lower(namespace, to: namespace.rules.limits.ahead)
    }
    guard state.entries >= Limits.leastEvictedAhead else { return }
    let limits = budget.limits
    defer { budget.limits = limits }
    budget.limits.counted = limits.counted.ahead
    _ = try lowerStore()
  }

  var bufferTerms: BufferTerms {
    BufferTerms(
      metadata: state.generation, room: BufferRoom(budget.limits.counted, used: state.usage),
      pages: pagesForRecords, isWatched: state.watched != 0, hasDependents: state.dependents != 0)
  }
}

extension Limits {
  /// A namespace or a store with fewer entries than this does not make room for the next records.
  fileprivate static let leastEvictedAhead = 1000

  /// The limits without the room for the next records. That room is a 400th of a limit, but at most 2048 entries and 1 MB.
  fileprivate var ahead: Limits {
    Limits(
      entries: entries.map { $0 - min($0 / 400, 2048) },
      bytes: bytes.map { $0 - min($0 / 400, 1 << 20) })
  }
}

struct DrainedRecords {
  var end = 0
  var count = 0
  /// For each namespace, the version of the first value that comes from these records. All later versions come from them, too.
  var firstVersions: [NamespaceID: UInt64] = [:]
}
