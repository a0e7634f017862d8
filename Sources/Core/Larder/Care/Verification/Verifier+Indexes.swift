import LMDB
import LarderSystem

// Checks of the indexes: each record must lead to an entry with the same facts.

extension Verifier {
  mutating func checkDeadlines(_ transaction: borrowing ReadTransaction) throws(LMDBError) {
    let next = try transaction.state(engine.seal).map { Int64(clamping: $0.nextDue) } ?? 0
    try transaction.forEach(in: engine.indexes.deadlines) { key, record throws(LMDBError) in
      if let expiry = ExpiryRecord(key, record) {
        for indexed in expiry { try check(indexed, at: key, from: next, transaction) }
      } else {
        report(.damaged(.deadlines, at: key.copied))
      }
      try step()
    }
  }

  /// - Parameter next: the earliest time that an index record may have, by the state of the store.
  private mutating func check(
    _ indexed: IndexedEntry, at key: Span<UInt8>, from next: Int64,
    _ transaction: borrowing ReadTransaction
  ) throws(LMDBError) {
    let entryKey = try indexed.entryKey(in: transaction, engine.indexes)
    let header = try entryKey.flatMap { key throws(LMDBError) in
      try self.header(at: key, transaction)
    }
    if header.map(indexed.leads) != true {
      report(.dangling(.deadlines, at: key.copied), of: entryKey)
    }
    if indexed.deadline < next {
      report(.earlyDeadline, of: entryKey)
    }
  }

  mutating func checkQueue(_ transaction: borrowing ReadTransaction) throws(LMDBError) {
    try transaction.forEach(in: engine.indexes.queue) { key, record throws(LMDBError) in
      if let queued = QueueRecord(key, record) {
        if try header(at: queued.entryKey, transaction)?.sequence != queued.position {
          report(.dangling(.queue, at: key.copied), of: queued.entryKey)
        }
      } else {
        report(.damaged(.queue, at: key.copied))
      }
      try step()
    }
  }

  mutating func checkChunks(_ transaction: borrowing ReadTransaction) throws(LMDBError) {
    try transaction.forEach(in: engine.indexes.chunks) { key, _ throws(LMDBError) in
      if key.count != 16 {
        report(.damaged(.chunks, at: key.copied))
      } else {
        let index: UInt32 = key.bigEndian(at: 12)
        let count = chunked[key.namespaceID]?[key.bigEndian(at: 4)]
        if count.map({ Int(index) * engine.reader.chunkSize < $0 }) != true {
          report(.dangling(.chunks, at: key.copied))
        }
      }
      try step()
    }
  }

  private func header(
    at entryKey: [UInt8], _ transaction: borrowing ReadTransaction
  ) throws(LMDBError) -> EntryHeader? {
    guard let region = try transaction.find(entryKey, in: .entries) else { return nil }
    return EntryHeader(transaction.bytes(of: region))
  }
}
