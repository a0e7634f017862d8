import LMDB
import LarderSystem

// The indexes: each record must lead to an entry with the same facts.

extension Verifier {
  /// Checks that every record of the expiry index leads to an entry, and is not earlier than the state of the store allows.
  mutating func checkDeadlines(_ transaction: borrowing ReadTransaction) throws(LMDBError) {
    let next = try transaction.state(engine.seal).map { Int64(clamping: $0.nextDue) } ?? 0
    var cursor = try transaction.cursor(in: engine.indexes.deadlines)
    var record = try cursor.first()
    while let found = record {
      if let expiry = ExpiryRecord(found.key, found.value) {
        for indexed in expiry { try check(indexed, at: found.key, from: next, transaction) }
      } else {
        report(.damagedDeadline(at: found.key.copied))
      }
      try step()
      record = try cursor.next()
    }
  }

  /// - Parameter next: the earliest time that the state of the store allows.
  private mutating func check(
    _ indexed: IndexedEntry, at key: Span<UInt8>, from next: Int64,
    _ transaction: borrowing ReadTransaction
  ) throws(LMDBError) {
    let entryKey = try indexed.entryKey(in: transaction, engine.indexes)
    let header = try entryKey.flatMap { key throws(LMDBError) in
      try self.header(at: key, transaction)
    }
    if header.map(indexed.leads) != true {
      report(.danglingDeadline(at: key.copied), of: entryKey)
    }
    if indexed.deadline < next {
      report(.earlyDeadline, of: entryKey)
    }
  }

  /// Checks that every record of the queue leads to an entry with that position.
  mutating func checkQueue(_ transaction: borrowing ReadTransaction) throws(LMDBError) {
    var cursor = try transaction.cursor(in: engine.indexes.queue)
    var record = try cursor.first()
    while let found = record {
      if let queued = QueueRecord(found.key, found.value) {
        if try header(at: queued.entryKey, transaction)?.sequence != queued.position {
          report(.danglingQueueRecord(at: found.key.copied), of: queued.entryKey)
        }
      } else {
        report(.damagedQueueRecord(at: found.key.copied))
      }
      try step()
      record = try cursor.next()
    }
  }

  /// Checks that every chunk is a part of a stored value.
  mutating func checkChunks(_ transaction: borrowing ReadTransaction) throws(LMDBError) {
    var cursor = try transaction.cursor(in: engine.indexes.chunks)
    var record = try cursor.first()
    while let found = record {
      if found.key.count != 16 {
        report(.damagedChunkKey(at: found.key.copied))
      } else {
        let index: UInt32 = found.key.bigEndian(at: 12)
        let count = chunked[found.key.namespaceID]?[found.key.bigEndian(at: 4)]
        if count.map({ Int(index) * engine.reader.chunkSize < $0 }) != true {
          report(.danglingChunk(at: found.key.copied))
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
