import LarderSystem

extension WriteSession {
  /// Makes the change of a record, if the namespace of the record was not cleared.
  mutating func store(
    _ place: BufferPlace, _ entry: Span<UInt8>, for key: Span<UInt8>
  ) throws(LarderError) {
    let record = place.record
    guard let namespace = try namespace(of: record.id) else { return }
    let entryKey = StoredKey.entry(key, in: record.id)
    var previous = try clearPlace(at: entryKey, for: key)
    if record.isRemoval || place.followsRemoval, let former = previous {
      try remove(former, as: .committed(place.replacesData ? .replaced : .removed))
      previous = nil
    }
    guard !record.isRemoval, var header = EntryHeader(entry) else { return }
    if let previous, previous.header.version >= header.version { return }
    header.sequence = namespace.queuePosition(of: previous?.header, version: header.version)
    header.deadline = header.indexedDeadline(replacing: previous?.header)
    try store(
      entry.extracting(header.payloadStart..<entry.count), for: key, at: entryKey, header,
      (EntryFields(), []), replacing: previous, in: namespace, as: .committed(.replaced))
  }

  /// Evicts in full namespaces and in a full store, so that the next records have room and need no commit of their own. Evicts
  /// in the namespaces that the batch has changed, and in `crowded`.
  mutating func evictAhead(also crowded: NamespaceID?) throws(LarderError) {
    guard hasPages(for: BatchPages.forCleanup) else { return }
    var ids = Set(crowded.map { [$0] } ?? [])
    ledger.visitChanged { id, _ in ids.insert(id) }
    for id in ids {
      try load(id)
      guard ledger.read(id, { $0.entries }) >= Limits.leastEvictedAhead,
        let namespace = try namespaces().first(where: { $0.id == id })
      else { continue }
      _ = try lower(namespace, to: namespace.rules.limits.ahead)
    }
    guard state.entries >= Limits.leastEvictedAhead else { return }
    let limits = budget.limits
    defer { budget.limits = limits }
    budget.limits.counted = limits.counted.ahead
    _ = try lowerStore()
  }
}

extension Limits {
  /// A namespace or a store with fewer entries than this number does not make room for the next records.
  fileprivate static let leastEvictedAhead = 1000

  /// The limits without the room for the next records. That room is a 256th of a limit, but at most 2048 entries and 1 MB.
  fileprivate var ahead: Limits {
    Limits(
      entries: entries.map { $0 - min($0 / 256, 2048) },
      bytes: bytes.map { $0 - min($0 / 256, 1 << 20) })
  }
}
