import LMDB
import LarderSystem

extension Store {
  /// When the next entry of each namespace comes to its end and is gone, by namespace; one whose entries never do, or
  /// all have, is left out.
  ///
  /// For each namespace one look into the deadline index, and one more for each entry that expired and was not purged
  /// yet, or was refreshed since it was indexed.
  public func nextExpiries() throws(LarderError) -> [String: Timestamp] {
    let transaction = try engine.beginRead()
    var ends: [String: Timestamp] = [:]
    for namespace in try engine.namespaces(in: transaction) {
      do throws(LMDBError) {
        if let end = try engine.nextExpiry(of: namespace.id, in: transaction) {
          ends[namespace.facts.name] = Timestamp(milliseconds: end)
        }
      } catch {
        throw engine.error(error)
      }
    }
    return ends
  }
}

extension StoreEngine {
  /// An entry is indexed at its end or earlier, never later. So once the index has come to the earliest end found, none
  /// behind it is earlier.
  fileprivate func nextExpiry(
    of id: NamespaceID, in transaction: borrowing ReadTransaction
  ) throws(LMDBError) -> Int64? {
    let now = clock.now.milliseconds
    let prefix = id.prefix
    var earliest = EntryHeader.never
    var cursor = try transaction.cursor(in: indexes.deadlines)
    var record = try cursor.seek(prefix.span)
    while let found = record, found.key.starts(with: prefix.span) {
      if let indexed = DeadlineRecord(found.key) {
        if indexed.deadline >= earliest { break }
        if let region = try transaction.find(indexed.slot, in: .main),
          let header = EntryHeader(transaction.bytes(of: region)),
          header.deadline == indexed.deadline, header.staleUntil > now
        {
          earliest = min(earliest, header.staleUntil)
        }
      }
      record = try cursor.next()
    }
    return earliest == EntryHeader.never ? nil : earliest
  }
}
