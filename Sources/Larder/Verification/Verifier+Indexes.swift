import LMDB
import LarderSystem

extension Verifier {
  /// Every tombstone must be readable, and counted.
  mutating func checkTombstones(_ transaction: borrowing ReadTransaction) throws(LMDBError) {
    let prefix = MetadataKey.tombstones
    var count: UInt64 = 0
    var cursor = try transaction.cursor(in: .main)
    var record = try cursor.seek(prefix.span)
    while let found = record, found.key.starts(with: prefix.span) {
      count += 1
      if Tombstone(found.value) == nil {
        fault(.catalogue, nil, "the record of an invalidated tag is damaged")
      }
      record = try cursor.next()
    }
    let counted = try transaction.state().tombstones
    if counted != count {
      fault(.counters, nil, "\(counted) invalidated tags are counted, \(count) are listed")
    }
  }

  /// Every record of the deadline index must lead to an entry that says so, and none be before the store's next.
  mutating func checkDeadlines(_ transaction: borrowing ReadTransaction) throws(LMDBError) {
    let next = Int64(clamping: try transaction.state().nextDue)
    var cursor = try transaction.cursor(in: engine.indexes.deadlines)
    var record = try cursor.first()
    while let found = record {
      if let indexed = DeadlineRecord(found.key) {
        if try header(at: indexed.slot, transaction)?.deadline != indexed.deadline {
          fault(.deadlines, indexed.slot, "the deadline index has a record that no entry knows")
        }
        if indexed.deadline < next {
          fault(.deadlines, indexed.slot, "indexed before the store's next deadline")
        }
      } else {
        fault(.deadlines, nil, "a record of \(found.key.count) bytes")
      }
      try step()
      record = try cursor.next()
    }
  }

  /// Every record of the queue must lead to an entry with that sequence.
  mutating func checkQueue(_ transaction: borrowing ReadTransaction) throws(LMDBError) {
    var cursor = try transaction.cursor(in: engine.indexes.queue)
    var record = try cursor.first()
    while let found = record {
      let slot =
        found.key.count == 12 ? found.key.extracting(0..<4).copied + found.value.copied : []
      if slot.isEmpty {
        fault(.queue, nil, "a record of \(found.key.count) bytes")
      } else if try header(at: slot, transaction)?.sequence != found.key.bigEndian(at: 4) {
        fault(.queue, slot, "the queue has a record that no entry knows")
      }
      try step()
      record = try cursor.next()
    }
  }

  /// Every record of the tags must lead to an entry that carries the tag.
  mutating func checkTags(_ transaction: borrowing ReadTransaction) throws(LMDBError) {
    var cursor = try transaction.cursor(in: engine.indexes.tags)
    var record = try cursor.first()
    while let found = record {
      let bytes = found.key.copied
      if let (_, slot) = IndexKey.tagged(bytes) {
        let entry = try transaction.find(slot, in: .main).flatMap {
          StoredEntry(slot: slot, record: transaction.bytes(of: $0))
        }
        if entry?.isIndexed(under: bytes) != true {
          fault(.tags, slot, "the tags have a record that no entry knows")
        }
      } else {
        fault(.tags, nil, "a record of \(bytes.count) bytes")
      }
      try step()
      record = try cursor.next()
    }
  }

  /// Every chunk must be one of a value that is there, and none beyond its end.
  mutating func checkChunks(_ transaction: borrowing ReadTransaction) throws(LMDBError) {
    var cursor = try transaction.cursor(in: engine.indexes.chunks)
    var record = try cursor.first()
    while let found = record {
      if found.key.count != 16 {
        fault(.chunks, nil, "a record of \(found.key.count) bytes")
      } else {
        let index: UInt32 = found.key.bigEndian(at: 12)
        let count = chunked[found.key.namespaceID]?[found.key.bigEndian(at: 4)]
        if count.map({ Int(index) * engine.chunkSize < $0 }) != true {
          fault(.chunks, nil, "chunk \(index) of a value that no entry knows")
        }
      }
      try step()
      record = try cursor.next()
    }
  }

  private func header(
    at slot: [UInt8], _ transaction: borrowing ReadTransaction
  ) throws(LMDBError) -> EntryHeader? {
    guard let region = try transaction.find(slot, in: .main) else { return nil }
    return EntryHeader(transaction.bytes(of: region))
  }
}
