import LMDB
import LarderSystem

// The indexes: each record must lead to an entry that knows of it.

extension Verifier {
  /// Every record of the expiry index must lead to an entry, and none may be earlier than the state's bound.
  mutating func checkDeadlines(_ transaction: borrowing ReadTransaction) throws(LMDBError) {
    let next = try transaction.state(engine.seal).map { Int64(clamping: $0.nextDue) } ?? 0
    var cursor = try transaction.cursor(in: engine.indexes.deadlines)
    var record = try cursor.first()
    while let found = record {
      if let expiry = ExpiryRecord(found.key, found.value) {
        for indexed in expiry { try check(indexed, from: next, transaction) }
      } else {
        report(.deadlines, nil, "a record of the expiry index is damaged")
      }
      try step()
      record = try cursor.next()
    }
  }

  /// - Parameter next: the earliest time that the state allows.
  private mutating func check(
    _ indexed: IndexedEntry, from next: Int64, _ transaction: borrowing ReadTransaction
  ) throws(LMDBError) {
    let entryKey = try indexed.entryKey(in: transaction, engine.indexes)
    let header = try entryKey.flatMap { key throws(LMDBError) in
      try self.header(at: key, transaction)
    }
    if header.map(indexed.leads) != true {
      report(.deadlines, entryKey, "the expiry index has a record without an entry")
    }
    if indexed.deadline < next {
      report(.deadlines, entryKey, "it expires before the earliest time that the state allows")
    }
  }

  /// Every record of the queue must lead to an entry with that position.
  mutating func checkQueue(_ transaction: borrowing ReadTransaction) throws(LMDBError) {
    var cursor = try transaction.cursor(in: engine.indexes.queue)
    var record = try cursor.first()
    while let found = record {
      if let queued = QueueRecord(found.key, found.value) {
        if try header(at: queued.entryKey, transaction)?.sequence != queued.position {
          report(.queue, queued.entryKey, "the queue has a record without an entry")
        }
      } else {
        report(.queue, nil, "a record of the queue is damaged")
      }
      try step()
      record = try cursor.next()
    }
  }

  /// Every chunk must be a part of a stored value.
  mutating func checkChunks(_ transaction: borrowing ReadTransaction) throws(LMDBError) {
    var cursor = try transaction.cursor(in: engine.indexes.chunks)
    var record = try cursor.first()
    while let found = record {
      if found.key.count != 16 {
        report(.chunks, nil, "the key of a chunk is damaged")
      } else {
        let index: UInt32 = found.key.bigEndian(at: 12)
        let count = chunked[found.key.namespaceID]?[found.key.bigEndian(at: 4)]
        if count.map({ Int(index) * engine.reader.chunkSize < $0 }) != true {
          report(.chunks, nil, "there is a chunk \(index) without a value")
        }
      }
      try step()
      record = try cursor.next()
    }
  }

  private func header(
    at entryKey: [UInt8], _ transaction: borrowing ReadTransaction
  ) throws(LMDBError) -> EntryHeader? {
    guard let region = try transaction.find(entryKey, in: .entries) else { return nil }
    return EntryHeader(transaction.bytes(of: region))
  }
}
