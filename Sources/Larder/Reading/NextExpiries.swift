import LMDB
import LarderSystem

extension Store {
  /// The time at which the next entry of each namespace expires, stale window included, by namespace. A namespace without
  /// such an entry is left out.
  ///
  /// For each namespace one look into the deadline index, and one more for each entry that expired and was not purged
  /// yet, or was refreshed since it was indexed.
  package func nextExpiries() throws(LarderError) -> [String: Timestamp] {
    let transaction = try engine.beginRead()
    var ends: [String: Timestamp] = [:]
    for namespace in try engine.metadata.namespaces(in: transaction) {
      do throws(LMDBError) {
        if let end = try engine.reader.nextExpiry(of: namespace.id, in: transaction) {
          ends[namespace.facts.name] = Timestamp(milliseconds: end)
        }
      } catch {
        throw engine.error(error)
      }
    }
    return ends
  }
}

extension EntryReader {
  /// An entry is indexed at its end or earlier. So no record behind the earliest end that was found can lead to an earlier one.
  fileprivate func nextExpiry(
    of id: NamespaceID, in transaction: borrowing ReadTransaction
  ) throws(LMDBError) -> Int64? {
    let now = clock.now.milliseconds
    let prefix = id.prefix
    var earliest = EntryHeader.never
    var cursor = try transaction.cursor(in: indexes.deadlines)
    var record = try cursor.seek(prefix.span)
    while let found = record, found.key.starts(with: prefix.span) {
      if let expiry = ExpiryRecord(found.key, found.value) {
        if expiry.block.deadline >= earliest { break }
        for indexed in expiry {
          if let entryKey = try indexed.entryKey(in: transaction, indexes),
            let region = try transaction.find(entryKey, in: .main),
            let header = EntryHeader(transaction.bytes(of: region)),
            indexed.leads(to: header), header.staleUntil > now
          {
            earliest = min(earliest, header.staleUntil)
          }
        }
      }
      record = try cursor.next()
    }
    return earliest == EntryHeader.never ? nil : earliest
  }
}
