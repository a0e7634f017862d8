import Synchronization
import TestSupport
import Testing

@testable import LMDB
@testable import Larder

/// Tests of writes and reads while a background commit stores the older log of the write buffer.
@Suite struct BackgroundCommitTests {
  /// Opens a store that knows the namespace `notes`. The first background commit stores the records of the older log, then
  /// calls `meanwhile` on another thread, and only then lets LMDB commit.
  private func with(
    _ rules: Rules? = nil, records: [String],
    _ meanwhile: @escaping @Sendable (Store, Store.Namespace) throws -> Void,
    then: (Store, Store.Namespace) throws -> Void
  ) throws {
    let opened = Shared<Store?>(nil)
    let failures = Shared<[any Error]>([])
    var options = BufferedStore.options()
    options.hooks.besideCommit = {
      guard let store = opened.withLock({ $0.take() }) else { return }
      do { try inThreads(1) { _ in try meanwhile(store, store.namespace("notes")) } } catch {
        failures.withLock { $0.append(error) }
      }
    }
    try withStoreOnDisk(options) { store, notes in
      if let rules { try store.declare(rules, for: "notes") }
      for key in ["first", "second"] { try notes.set("data", for: key) }
      for key in records { try notes.set("record", for: key) }
      let commit = store.engine.environment.lastTransaction
      opened.withLock { $0 = store }
      try settle(store)
      #expect(failures.value.isEmpty, "\(failures.value)")
      #expect(store.engine.environment.lastTransaction == commit + 1)
      try then(store, notes)
    }
  }

  private func settle(_ store: Store) throws {
    try store.engine.settle(.background(lockTimeout: .seconds(5)))
  }

  @Test func `writes and reads go on while the older log is committed`() throws {
    try with(records: ["a", "b", "c"]) { store, notes in
      let buffer = store.engine.reader.buffer!
      #expect(buffer.state.hasOlder && !buffer.state.isFrozen)
      for key in ["a", "b", "c"] { #expect(try notes.text(key) == "record") }
      #expect(try notes.text("first") == "data")
      try notes.set("later", for: "a")
      #expect(try notes.remove("b") && notes.remove("first"))
      #expect(try !notes.remove("b"))
      #expect(try !notes.setIfAbsent([1], for: "c") && notes.setIfAbsent([1], for: "b"))
      let version = try #require(try notes.entry(for: "second")).version
      #expect(try notes.replace(version, with: [2], for: "second"))
      #expect(try notes.increment("n") == 1 && notes.increment("n") == 2)
      #expect(buffer.state.hasOlder)
      try check(notes)
    } then: { store, notes in
      let buffer = store.engine.reader.buffer!
      #expect(!buffer.state.hasOlder && buffer.state.end > 0)
      try check(notes)
      try settle(store)
      #expect(!buffer.state.hasRecords)
      try check(notes)
      #expect(try notes.keys() == ["a", "b", "c", "n", "second"].map { Key($0) })
      #expect(try notes.count() == 5)
    }
  }

  private func check(_ notes: Store.Namespace) throws {
    #expect(try notes.text("a") == "later" && notes.text("c") == "record")
    #expect(try notes.bytes("b") == [1] && notes.bytes("second") == [2])
    #expect(try notes.text("first") == nil && notes.text("n") == "2")
  }

  @Test(arguments: [Eviction.refuse, .fifo])
  func `a limit holds for the entries of both logs and of the data`(eviction: Eviction) throws {
    let rules = Rules(limits: Limits(entries: 30), eviction: eviction)
    let records = (0..<10).map { "record \($0)" }
    try with(rules, records: records) { store, notes in
      // Here each record counts as a new entry, because the commit may evict the entry that the record replaces.
      for number in 0..<8 { try notes.set("again", for: "record \(number)") }
      for number in 0..<8 { try notes.set("new", for: "new \(number)") }
    } then: { store, notes in
      let buffer = store.engine.reader.buffer!
      let bypasses = buffer.statistics.bypasses
      for number in 0..<2 { try notes.set("new", for: "last \(number)") }
      #expect(buffer.statistics.bypasses == bypasses)
      // The room of further records depends on the records of both logs, so these writes soon need a transaction.
      for number in 0..<20 { _ = failure { try notes.set("new", for: "more \(number)") } }
      #expect(try notes.count() == 30)
      for number in 0..<8 where eviction == .refuse {
        #expect(try notes.text("record \(number)") == "again")
      }
    }
  }

  @Test func `a removal beside the commit gives back no room before the commit ends`() throws {
    let rules = Rules(limits: Limits(entries: 12), eviction: .refuse)
    try with(rules, records: (0..<9).map { "record \($0)" }) { store, notes in
      for number in 0..<9 { try notes.remove("record \(number)") }
      try notes.set("new", for: "new")
      // The room of the removed records is not free yet, so this write needs a transaction, which waits for the commit.
      #expect(
        try notes.putting([1], for: "more", .init(), if: .always).append?(store.engine) == nil)
    } then: { store, notes in
      try settle(store)
      #expect(try notes.keys() == ["first", "new", "second"].map { Key($0) })
      for number in 0..<9 { try notes.set("later", for: "later \(number)") }
      #expect(try notes.count() == 12)
    }
  }

  @Test func `after a failed commit both logs stay, and the next commit stores them`() throws {
    try with(records: ["a", "b"]) { _, notes in
      try notes.set("later", for: "a")
      try notes.set("new", for: "c")
    } then: { store, notes in
      try notes.set("record", for: "d")
      #expect(throws: Stop.self) {
        try store.engine.commitRethrowing(.background(lockTimeout: .ample)) { _ in throw Stop() }
      }
      let buffer = store.engine.reader.buffer!
      #expect(buffer.state.hasOlder && !buffer.state.isFrozen)
      #expect(try notes.text("d") == "record" && notes.text("a") == "later")
      let commit = store.engine.environment.lastTransaction
      try notes.set("last", for: "d")
      #expect(store.engine.environment.lastTransaction > commit)
      #expect(try notes.text("d") == "last" && notes.text("c") == "new")
      try notes.set("record", for: "e")
      #expect(buffer.hasRecords)
      #expect(try notes.count() == 7)
    }
  }

  @Test func `a commit in time also stores records that follow a failed commit`() throws {
    try with(records: ["a"]) { _, notes in
      try notes.set("new", for: "b")
    } then: { store, notes in
      let buffer = store.engine.reader.buffer!
      do {
        try store.engine.commitRethrowing(.background(lockTimeout: .seconds(5))) { _ in
          // The logs changed their roles before this closure runs, so this record is in the active log.
          try inThreads(1) { _ in try notes.set("later", for: "c") }
          throw Stop()
        }
      } catch is Stop {}
      #expect(buffer.state.hasOlder && buffer.state.end > 0)
      store.engine.settleInTime()
      #expect(!buffer.hasRecords)
      #expect(try notes.text("c") == "later")
    }
  }

  @Test func `an owner that is written again beside the commit keeps its dependents`() throws {
    let clock = ManualClock()
    var options = BufferedStore.options()
    options.clock = clock
    let opened = Shared<Store?>(nil)
    options.hooks.besideCommit = {
      guard let store = opened.withLock({ $0.take() }) else { return }
      let write = try? store.namespace("notes").putting([2], for: "owner", .init(), if: .always)
      _ = try? inThreads(1) { _ in _ = try write?.append?(store.engine) }
    }
    try withStoreOnDisk(options) { store, notes in
      try notes.set("owner", for: "owner", expires: .after(.seconds(1)))
      try notes.set([1], for: "dependent", .with(owners: [Owner(Key("owner"), in: "notes")]))
      for _ in 0..<2 { try notes.set("data", for: "first") }
      clock.advance(by: .seconds(2))
      // This read queues the removal of the expired owner.
      #expect(try notes.text("owner") == nil)
      try notes.set("record", for: "record")
      opened.withLock { $0 = store }
      try settle(store)
      // The commit has stored the new owner before it removed expired entries.
      #expect(!store.engine.reader.buffer!.hasRecords)
      #expect(try notes.bytes("owner") == [2] && notes.bytes("dependent") == [1])
    }
  }

  @Test func `an expired entry that a read finds beside the commit is not counted`() throws {
    try with(records: ["a"]) { _, notes in
      try notes.set("gone", for: "b", expires: .after(.zero))
      #expect(try notes.text("b") == nil)
    } then: { _, notes in
      let count = try notes.count()
      #expect(count == 3)
    }
  }

  @Test func `a batch stores both logs before its own changes`() throws {
    try with(records: ["a", "b"]) { _, notes in
      try notes.set("later", for: "a")
    } then: { store, notes in
      try notes.set("record", for: "c")
      #expect(throws: Stop.self) {
        try store.engine.commitRethrowing(.background(lockTimeout: .ample)) { _ in throw Stop() }
      }
      try store.write { batch in
        #expect(try batch.value(for: "a", in: notes) == Array("later".utf8))
        #expect(try batch.value(for: "c", in: notes) == Array("record".utf8))
        try batch.remove("c", from: notes)
      }
      #expect(try notes.text("c") == nil && !store.engine.reader.buffer!.hasRecords)
    }
  }
}
