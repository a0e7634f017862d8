import LMDB
import LarderSystem
import Synchronization
import TestSupport
import Testing

@testable import Larder

/// The parts of a write batch, each by itself.
@Suite struct WriterPartsTests {
  private let one = NamespaceID(rawValue: 1)
  private let two = NamespaceID(rawValue: 2)

  /// Runs `body` in a transaction that is committed, with counters that begin with `state`.
  private func transact<Result>(
    _ store: Store, _ state: StoreState = StoreState(),
    _ body: (WriteSession) throws(LarderError) -> Result
  ) throws -> Result {
    try store.engine.environment.write { lmdb in
      let session = WriteSession(lmdb, Ledger.Balance(store: state), engine: store.engine)
      do throws(LarderError) {
        let result = try body(session)
        lmdb = session.transaction.end()
        return result
      } catch {
        lmdb = session.transaction.end()
        throw error
      }
    }
  }

  @Test func `the table by namespace finds, changes and drops values in any order`() {
    var table = ByNamespace<Int>()
    let ids = (1...5).map { NamespaceID(rawValue: $0) }
    for (index, id) in ids.enumerated() { table[id] = index }
    for (index, id) in ids.enumerated().reversed() {
      #expect(table[id] == index)
      #expect(table.update(id) { $0 += 10 })
    }
    table[ids[2]] = nil
    table[ids[0]] = 7
    #expect(ids.map { table[$0] } == [7, 11, nil, 13, 14])
    #expect(!table.contains(ids[2]) && table.contains(ids[4]))
    #expect(!table.update(ids[2]) { $0 = 1 })
    var all: [NamespaceID: Int] = [:]
    #expect(throws: Never.self) { try table.visit { id, value in all[id] = value } }
    #expect(all == [ids[0]: 7, ids[1]: 11, ids[3]: 13, ids[4]: 14])
  }

  @Test func `counters are loaded once and written only if they changed`() throws {
    let store = try Store.temporary()
    try transact(store) { session throws(LarderError) in
      let ledger = session.ledger
      try ledger.charge(nil, EntryWeight(size: 10, stored: 30, queuePosition: 1), to: one)
      try ledger.charge(nil, EntryWeight(size: 5, stored: 25, queuePosition: 0), to: one)
      #expect(try ledger.nextNumber(in: one) == 1)
      #expect(try ledger.nextNumber(in: one) == 2)
      try ledger.load(two)
      try ledger.save()
      #expect(try session.transaction.contains(MetadataKey.counters(one), in: .main))
      #expect(try !session.transaction.contains(MetadataKey.counters(two), in: .main))
    }
    try transact(store) { session throws(LarderError) in
      let ledger = session.ledger
      let loaded = try ledger.counters(of: one)
      #expect(loaded.entries == 2 && loaded.bytes == 15 && loaded.stored == 55)
      #expect(loaded.pinned == 1 && loaded.queue.windowEntries == 1 && loaded.next == 3)
      let before = session.transaction.changes
      try ledger.save()
      #expect(session.transaction.changes == before, "nothing changed")
    }
  }

  @Test
  func `a deadline that moves later leaves the index as it is, one that moves earlier does not`()
    throws
  {
    let store = try Store.temporary()
    let entryKey = StoredKey.entry([1].span, in: one)
    let deadlines = store.engine.indexes.deadlines
    try transact(store) { session throws(LarderError) in
      let ledger = session.ledger
      let indexes = session.indexes
      var indexed: EntryHeader?
      func move(_ due: Int64) throws(LarderError) -> Int64 {
        var header = EntryHeader(
          flags: [], codec: 0, written: 0, expires: due, staleUntil: due, deadline: 0, sequence: 3,
          version: 7)
        header.deadline = header.indexedDeadline(replacing: indexed)
        try indexes.moveDeadline(of: entryKey, from: indexed, to: header)
        indexed = header
        return header.deadline
      }
      #expect(try move(1000) == 1000)
      #expect(ledger.store.nextDue == 1000)
      #expect(try move(2000) == 1000)
      #expect(try move(500) == 500)
      #expect(ledger.store.nextDue == 500)
      try indexes.flush()
      let keys = try session.transaction.keys(in: deadlines, from: [])
      #expect(keys == [IndexKey.deadline(500, position: 3, entry: entryKey)])
      #expect(try move(EntryHeader.never) == 500, "later, so lazily")
      #expect(try move(-5) == 0, "before 1970 is indexed as 1970")
    }
  }

  @Test func `entries of one time share records, however their changes are mixed`() throws {
    let store = try Store.temporary()
    let deadlines = store.engine.indexes.deadlines
    var random = SeededRNG(seed: TestSettings.seed)
    var expected: Set<[UInt64]> = []
    for _ in 0..<20 {
      try transact(store) { session throws(LarderError) in
        let indexes = session.indexes
        for _ in 0..<random.next(in: 1..<60) {
          let (position, time) = (1 + random.next() % 100, random.next() % 3)
          let entryKey = StoredKey.entry([UInt8(position)].span, in: one)
          let header = EntryHeader(
            flags: [], codec: 0, written: 0, expires: Int64(time), staleUntil: Int64(time),
            deadline: Int64(time), sequence: position, version: position)
          if expected.remove([time, position]) != nil {
            try indexes.moveDeadline(of: entryKey, from: header, to: nil)
          } else {
            try indexes.moveDeadline(of: entryKey, from: nil, to: header)
            expected.insert([time, position])
          }
        }
        try indexes.flush()
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

  @Test func `queue records of several namespaces keep their order`()
    throws
  {
    let store = try Store.temporary()
    let queue = store.engine.indexes.queue
    try transact(store) { session throws(LarderError) in
      let indexes = session.indexes
      func add(_ id: NamespaceID, _ position: UInt64) throws(LarderError) {
        try indexes.moveInQueue(
          StoredKey.entry([UInt8(position)].span, in: id), from: 0, to: position)
      }
      for position in 1...3 as ClosedRange<UInt64> {
        try add(two, position)
        try add(one, position)
      }
      let moved = StoredKey.entry([2].span, in: one)
      try indexes.moveInQueue(moved, from: 2, to: 9)
      try indexes.moveInQueue(moved, from: 9, to: 9)
      let expected =
        [1, 3, 9].map { IndexKey.queue($0, in: one) }
        + [1, 2, 3].map { IndexKey.queue($0, in: two) }
      #expect(try session.transaction.keys(in: queue, from: []) == expected)
    }
  }

  @Test func `the directory makes, finds and renames, and caches only what was committed`() throws {
    let store = try Store.temporary()
    let handle = store.engine.handle(for: "a")
    let state = try transact(store) { session throws(LarderError) in
      let directory = session.directory
      #expect(try directory.find("a") == nil)
      let made = try directory.findOrMake("a")
      #expect(try directory.find("a")?.id == made.id)
      #expect(try directory.name(of: made.id) == "a")
      #expect(handle.known.withLock { $0 == nil }, "it may be rolled back")
      try session.ledger.save()
      return session.state
    }
    try transact(store, state) { session throws(LarderError) in
      let directory = session.directory
      let found = try directory.find("a")
      #expect(found != nil && handle.known.withLock { $0?.namespace.id } == found?.id)
      for name in ["b", "", String(repeating: "x", count: 300)] {
        #expect(try directory.find(name) == nil)
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
    // A batch copies no more pages than are used.
    #expect(room().spent(changing: 1_000_000) == 1000)
    #expect(room().usable(leaving: 1000) == 1048 && room().usable(leaving: 10) == 1792)
    #expect(small.pages(ofLargeRecord: 2000) == 0 && small.pages(ofRecord: 4096) == 2)
  }

  @Test func `a failed change spoils the transaction for good`() throws {
    let store = try Store.temporary()
    try transact(store) { session throws(LarderError) in
      let tooLong = [UInt8](repeating: 1, count: 600)
      #expect(throws: LarderError.self) {
        try session.transaction.put([1], for: tooLong, in: .main)
      }
      #expect(throws: LarderError.self) { try session.transaction.checkUsable() }
      #expect(session.transaction.failure?.cause != nil)
    }
  }
}
