import LMDB
import LarderSystem
import Synchronization
import TestSupport
import Testing

@testable import Larder

@Suite struct WriterPartsTests {
  private let one = NamespaceID(rawValue: 1)
  private let two = NamespaceID(rawValue: 2)

  /// Runs `body` in a transaction with counters that begin with `state`, and commits the transaction.
  private func transact<Result>(
    _ store: Store, _ state: StoreState = StoreState(),
    _ body: (inout WriteSession) throws(LarderError) -> Result
  ) throws -> Result {
    try store.engine.environment.write { lmdb in
      var session = WriteSession(lmdb, Ledger.Balance(store: state), engine: store.engine)
      do throws(LarderError) {
        let result = try body(&session)
        lmdb = session.end()
        return result
      } catch {
        lmdb = session.end()
        throw error
      }
    }
  }

  @Test func `the table by namespace finds, changes and drops values in any order`() {
    var table = LatestTable<NamespaceID, Int>(unused: 0)
    let ids = (1...5).map { NamespaceID(rawValue: $0) }
    for (index, id) in ids.enumerated() { table[id] = index }
    for (index, id) in ids.enumerated().reversed() {
      #expect(table[id] == index)
      table.update(id) { $0 += 10 }
    }
    table[ids[2]] = nil
    table[ids[0]] = 7
    #expect(ids.map { table[$0] } == [7, 11, nil, 13, 14])
    #expect(!table.contains(ids[2]) && table.contains(ids[4]))
    table.update(ids[2]) { $0 = 1 }
    var all: [NamespaceID: Int] = [:]
    table.visit { id, value in all[id] = value }
    #expect(all == [ids[0]: 7, ids[1]: 11, ids[3]: 13, ids[4]: 14])
  }

  @Test func `counters are loaded once and written only if they changed`() throws {
    let store = try Store.temporary()
    try transact(store) { session throws(LarderError) in
      try session.charge(nil, EntryWeight(size: 10, stored: 30, queuePosition: 1), to: one)
      try session.charge(nil, EntryWeight(size: 5, stored: 25, queuePosition: 0), to: one)
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

  @Test func `the directory makes, finds and renames, and caches only what was committed`() throws {
    let store = try Store.temporary()
    let handle = store.engine.handle(for: "a")
    let state = try transact(store) { session throws(LarderError) in
      let before = try session.namespace("a")
      let made = try session.namespaceOrNew("a")
      let (found, name) = (try session.namespace("a"), try session.name(of: made.id))
      #expect(before == nil && found?.id == made.id && name == "a")
      #expect(handle.known.withLock { $0 == nil }, "it may be rolled back")
      try session.saveCounters()
      return session.state
    }
    try transact(store, state) { session throws(LarderError) in
      let found = try session.namespace("a")
      #expect(found != nil && handle.known.withLock { $0?.namespace.id } == found?.id)
      for name in ["b", "", String(repeating: "x", count: 300)] {
        let absent = try session.namespace(name)
        #expect(absent == nil)
      }
    }
  }

  @Test func `a budget of pages is overdrawn by large values, and by many changed pages`() {
    func room() -> BatchPages {
      BatchPages(limit: 8 << 20, pageSize: 4096, available: 400, used: 1000)
    }
    func isOverdrawn(_ room: BatchPages, _ changes: Int) -> Bool {
      room.spent(changing: changes) + BatchPages.kept > room.available
    }
    var large = room()
    #expect(large.reserve == 256 && large.usable == 2048 - 256)
    #expect(large.spent(changing: 0) == 0)
    large.spend(pages: large.pages(ofLargeRecord: 300 * 4096), stored: 300 * 4096)
    #expect(large.spent(changing: 3) > 300 && !isOverdrawn(large, 3))
    large.spend(pages: large.pages(ofLargeRecord: 100 * 4096), stored: 100 * 4096)
    #expect(isOverdrawn(large, 6))
    var small = room()
    var entries = 0
    while !isOverdrawn(small, 4 * entries) {
      small.spend(pages: 0, stored: 200)
      entries += 1
    }
    #expect(entries > 60 && entries < 100)
    // A batch copies each used page at most once, so the batch needs at most one copy for each used page.
    #expect(room().spent(changing: 1_000_000) == 1000)
    #expect(room().usable(leaving: 1000) == 1048 && room().usable(leaving: 10) == 1792)
    #expect(small.pages(ofLargeRecord: 2000) == 0 && small.pages(ofRecord: 4096) == 2)
  }
}
