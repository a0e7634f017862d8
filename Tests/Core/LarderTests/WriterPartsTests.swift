import LMDB
import TestSupport
import Testing

@testable import Larder

@Suite struct WriterPartsTests {
  private let one = NamespaceID(rawValue: 1)
  private let two = NamespaceID(rawValue: 2)

  /// Runs `body` in a transaction with new counters, and commits the transaction.
  private func transact(
    _ store: Store, _ body: (inout WriteSession) throws(LarderError) -> Void
  ) throws {
    try store.engine.environment.write { lmdb in
      var session = WriteSession(lmdb, Ledger(StoreState()), engine: store.engine)
      do throws(LarderError) {
        try body(&session)
        lmdb = session.end()
      } catch {
        lmdb = session.end()
        throw error
      }
    }
  }

  @Test func `counters are loaded once and written only if they changed`() throws {
    let store = try Store.temporary()
    try transact(store) { session throws(LarderError) in
      for weight in [
        EntryWeight(size: 10, stored: 30, queuePosition: 1),
        EntryWeight(size: 5, stored: 25, queuePosition: 0),
      ] { try session.charge(nil, weight, to: one, removing: nil) }
      let numbers = [try session.nextNumber(in: one), try session.nextNumber(in: one)]
      #expect(numbers == [1, 2])
      try session.load(two)
      try session.saveCounters()
      let isOneStored = try session.transaction.contains(MetadataKey.counters(one), in: .main)
      let isTwoStored = try session.transaction.contains(MetadataKey.counters(two), in: .main)
      #expect(isOneStored && !isTwoStored)
    }
    try transact(store) { session throws(LarderError) in
      let loaded = try session.counters(of: one)
      #expect(loaded.entries == 2 && loaded.bytes == 15 && loaded.stored == 55)
      #expect(loaded.pinned == 1 && loaded.queue.windowEntries == 1 && loaded.next == 3)
      let before = session.transaction.changes
      try session.saveCounters()
      let after = session.transaction.changes
      #expect(after == before, "nothing changed")
    }
  }

  @Test func `entries of one time share records, however their changes are mixed`() throws {
    let store = try Store.temporary()
    let deadlines = store.engine.indexes.deadlines
    var random = SeededRNG(seed: TestSettings.seed)
    var expected: Set<[UInt64]> = []
    for _ in 0..<20 {
      try transact(store) { session throws(LarderError) in
        for _ in 0..<random.next(in: 1..<60) {
          let (position, time) = (1 + random.next() % 100, random.next() % 3)
          let entryKey = StoredKey.entry([UInt8(position)].span, in: one)
          let header = EntryHeader(
            flags: [], codec: 0, written: 0, expires: Int64(time), staleUntil: Int64(time),
            deadline: Int64(time), sequence: position, version: position)
          if expected.remove([time, position]) != nil {
            try session.moveDeadline(of: entryKey, from: header, to: nil)
          } else {
            try session.moveDeadline(of: entryKey, from: nil, to: header)
            expected.insert([time, position])
          }
        }
        try session.flushDeadlines()
      }
      var found: Set<[UInt64]> = []
      var records = 0
      let read = try store.engine.beginRead()
      var cursor = try read.cursor(in: deadlines)
      while let next = try cursor.next() {
        records += 1
        let record = ExpiryRecord(next.key, next.value)
        for indexed in try #require(record) {
          found.insert([UInt64(indexed.deadline), indexed.position])
        }
      }
      #expect(found == expected, "seed \(random.seed)")
      #expect(records <= 12)
    }
  }
}
