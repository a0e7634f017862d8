import LMDB
import LarderSystem

/// Checks of entries: each entry must be readable and undamaged, and have the right record in every index.
extension Verifier {
  mutating func checkEntries(_ transaction: borrowing ReadTransaction) throws(LMDBError) {
    try transaction.forEach(in: .entries) { key, record throws(LMDBError) in
      if key.count > 4 {
        try checkEntry(key.copied, record, transaction)
      } else {
        report(.damaged(.entries, at: key.copied))
      }
      try step()
    }
    for (id, count) in orphans { report(.orphanedEntries(of: id, count)) }
  }

  private mutating func checkEntry(
    _ entryKey: [UInt8], _ record: Span<UInt8>, _ transaction: borrowing ReadTransaction
  ) throws(LMDBError) {
    let id = entryKey.span.namespaceID
    if let header = EntryHeader(record), header.flags.contains(.chunked) {
      let payload = record.extracting(header.payloadStart..<record.count)
      // A damaged header may have the version of another value, and that value needs all of its chunks.
      let known = chunked[id]?[header.version] ?? 0
      chunked[id, default: [:]][header.version] = max(known, ChunkedPayload(payload)?.count ?? 0)
    }
    // The entries of cleared namespaces are decoded, too, because the tag index still has records of these entries.
    let decoded = StoredEntry(entryKey: entryKey, record: record)
    let missingTags = try decoded.map { entry throws(LMDBError) in
      try takeTags(of: entry, transaction)
    }
    if garbage.contains(id) {
      result.garbage += 1
      return
    }
    guard names[id] != nil else {
      orphans[id, default: 0] += 1
      return
    }
    guard let entry = decoded, entry.key != nil, entry.storedKey.isWellFormed else {
      return report(.unreadableEntry, of: entryKey)
    }
    let isIntact = entry.isIntact(record)
    count(entry, isIntact: isIntact)
    guard isIntact else { return report(.wrongChecksum, of: entryKey) }
    if entry.header.flags.contains(.tagged) == entry.fields.tags.isEmpty {
      report(.contradictedTags, of: entryKey)
    }
    for fault in missingTags ?? [] { report(fault, of: entryKey) }
    if entry.header.deadline > max(entry.header.staleUntil, 0) {
      report(.lateDeadline, of: entryKey)
    }
    if try !entry.isInExpiryIndex(transaction, engine.indexes) {
      report(.missingDeadline, of: entryKey)
    }
    if try !entry.isInQueue(transaction, engine.indexes) { report(.missingInQueue, of: entryKey) }
    if try !hasChunks(entry, record, transaction) { report(.missingChunk, of: entryKey) }
  }

  private mutating func count(_ entry: StoredEntry, isIntact: Bool) {
    var counters = recounted[entry.id] ?? NamespaceCounters()
    counters.count(entry.weight)
    // The highest number in use, for a later check of the namespace's next number. A damaged header may have any number.
    if isIntact { counters.next = max(counters.next, entry.header.version, entry.header.sequence) }
    recounted[entry.id] = counters
    result.entries += 1
    result.bytes += entry.valueCount
    if !entry.owners.isEmpty { dependents += 1 }
  }

  /// Whether an entry has all of its chunks. A chunk on a damaged page counts as missing; the page was reported before.
  private func hasChunks(
    _ entry: StoredEntry, _ record: Span<UInt8>, _ transaction: borrowing ReadTransaction
  ) throws(LMDBError) -> Bool {
    guard entry.isCut else { return true }
    let (id, version) = (entry.id, entry.header.version)
    let payload = record.extracting(entry.header.payloadStart..<record.count)
    do throws(LMDBError) {
      return try transaction.assemble(payload, version: version, in: id, engine.indexes.chunks)
        != nil
    } catch  where isDamaged { return false }
  }
}
