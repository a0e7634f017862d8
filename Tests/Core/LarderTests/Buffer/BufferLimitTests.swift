import Dispatch
import Synchronization
import TestSupport
import Testing

@testable import LMDB
@testable import Larder

@Suite struct BufferLimitTests {
  @Test func `a full namespace evicts ahead, and its limit holds`() throws {
    try withStoreOnDisk(BufferedStore.options()) { store, notes in
      try store.declare(Rules(limits: Limits(entries: 2000)), for: "notes")
      try notes.fill((0..<2000).map { "key \($0)" })
      let commit = store.engine.environment.lastTransaction
      for number in 0..<1000 {
        try notes.set("\(number)", for: "new \(number)")
        #expect(try notes.text("new \(number)") == "\(number)")
        if number % 100 == 0 { #expect(try notes.count() <= 2000) }
      }
      // A commit evicts seven entries more than necessary, so not every set needs a commit. But each call of `count` commits.
      #expect(store.engine.environment.lastTransaction - commit < 1000 / 4 + 20)
      #expect((1990...2000).contains(try notes.count()))
    }
  }

  @Test func `a background commit makes room before a full namespace has no room left`() throws {
    try withStoreOnDisk(BufferedStore.options()) { store, notes in
      try store.declare(Rules(limits: Limits(entries: 8000)), for: "notes")
      try notes.fill(0..<8000)
      let buffer = try #require(store.engine.reader.buffer)
      // The first insert needs a transaction, which makes room for 31 records.
      try notes.set("first", for: "first")
      let (bypasses, commits) = (buffer.statistics.bypasses, buffer.statistics.commits)
      for number in 0..<200 {
        try notes.set("\(number)", for: "new \(number)")
        store.engine.writes.queue.thread.sync {}
      }
      #expect(buffer.statistics.bypasses == bypasses)
      #expect((200 / 31...200 / 17).contains(buffer.statistics.commits - commits))
    }
  }

  @Test(arguments: [Eviction.refuse, .adaptive, .fifo])
  func `a commit evicts nothing for records that fit together`(eviction: Eviction) throws {
    try BufferedStore.with { store, notes in
      try store.declare(Rules(limits: Limits(bytes: 1000), eviction: eviction), for: "notes")
      try store.write { batch in
        try batch.remove("first", from: notes)
        try batch.set([UInt8](repeating: 1, count: 400), for: "a", in: notes)
        try batch.set([UInt8](repeating: 1, count: 500), for: "b", in: notes)
      }
      try notes.touch("a", expires: .never)
      // The commit stores the larger value, `a`, first. The new `a` and the old `b` exceed the limit, but must evict nothing.
      try notes.set([UInt8](repeating: 2, count: 100), for: "b")
      try notes.set([UInt8](repeating: 2, count: 800), for: "a")
      #expect(store.engine.reader.buffer!.hasRecords)
      #expect(try notes.count() == 2)
      #expect(try notes.value(for: "a") == [UInt8](repeating: 2, count: 800))
      #expect(try notes.value(for: "b") == [UInt8](repeating: 2, count: 100))
    }
  }

  @Test func `a full namespace that refuses takes no record`() throws {
    try BufferedStore.with { store, notes in
      try store.declare(Rules(limits: Limits(entries: 10), eviction: .refuse), for: "notes")
      for _ in 0..<2 { try notes.set("first", for: "first") }
      let stored = (0..<20).count { key in failure { try notes.set("\(key)", for: key) } == nil }
      #expect(stored == 9)
      #expect(try notes.count() == 10)
    }
  }

  @Test func `an opening that declares the known limits again commits no record`() throws {
    let options = with(BufferedStore.options()) { $0.limits = StoreLimits(memory: 1_000_000) }
    try withStoreOnDisk(options) { store, notes in
      for text in ["a", "b", "c"] { try notes.set(text, for: "k") }
      _ = try Store(at: store.path, options: options)
      #expect(store.engine.reader.buffer!.hasRecords)
    }
  }

  @Test func `a record that no commit can store does not prevent the making of room`() throws {
    try withStoreOnDisk(unflushed(disk: 4_000_000)) { store, notes in
      let damaged = store.namespace("damaged")
      try notes.fill(0..<300, with: [UInt8](repeating: 1, count: 5000))
      try damaged.fill(["first"])
      let sound = try BufferedStore.damage(damaged)
      store.engine.writes.pagesForBatches.store(1_000_000, ordering: .relaxed)
      try store.write { batch in
        try batch.session.transaction.put(sound, for: MetadataKey.namespace("damaged"), in: .main)
      }
      #expect(try store.statistics().writeBuffer?.lost == 1)
    }
  }
}
