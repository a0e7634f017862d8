import LMDB
import LarderSystem
import TestSupport
import Testing

@testable import Larder

@Suite struct VerifyTests {
  /// Plants damage in a sound store and says which kinds of fault the walk finds.
  private func planting(
    _ damage: (inout WriteTransaction, Indexes, Store.Namespace) throws -> Void
  ) throws -> Set<Verification.Inconsistency.Kind> {
    var options = Store.Options(clock: ManualClock())
    options.hooks.chunksAbove = 5000
    let store = try Store.temporary(options: options)
    let notes = store.namespace("notes")
    var attributes = EntryAttributes(expires: .after(.hours(1)))
    attributes.tags = ["a", "b"]
    for key in ["k", "l"] { try notes.put([1, 2, 3].span, for: key, attributes: attributes) }
    try notes.put([UInt8](repeating: 1, count: 9000).span, for: "c", attributes: attributes)
    try store.namespace("cleared").set("v", for: "k")
    try store.namespace("other").set("v", for: "k")
    try store.namespace("cleared").clear()
    #expect(try store.verify().faults == [])
    try store.tamper { transaction, indexes in try damage(&transaction, indexes, notes) }
    return try store.faults
  }

  private func removing(_ database: KeyPath<Indexes, Database>) throws
    -> Set<Verification.Inconsistency.Kind>
  {
    try planting { transaction, indexes, notes in
      let keys = try notes.engine.beginRead().keys(in: indexes[keyPath: database])
      try transaction.remove(keys[0], from: indexes[keyPath: database])
    }
  }

  private func adding(
    _ database: KeyPath<Indexes, Database>, _ change: @escaping (inout [UInt8]) -> Void
  ) throws -> Set<Verification.Inconsistency.Kind> {
    try planting { transaction, indexes, notes in
      let database = indexes[keyPath: database]
      var key = try notes.engine.beginRead().keys(in: database)[0]
      let value = try transaction.value(for: key, in: database)?.copied ?? []
      change(&key)
      try transaction.put(value, for: key, in: database)
    }
  }

  @Test func `an override that endangers user data is a warning, and no fault`() throws {
    let store = try Store.temporary(options: Store.Options(clock: ManualClock()))
    try store.declare(.userData, for: "settings")
    try store.declare(Rules(expires: .after(.hours(1))), for: "boards")
    try store.namespace("settings").set("v", for: "k")
    #expect(try store.verify().warnings.isEmpty)
    for (overrides, word) in [
      (Rules.Overrides(eviction: .adaptive), "evicts its entries (adaptive)"),
      (Rules.Overrides(expires: .after(.days(1))), "lets new entries expire"),
    ] {
      try store.override(overrides, for: "settings")
      let verification = try store.verify()
      #expect(verification.isSound && verification.warnings.map(\.namespace) == ["settings"])
      #expect(verification.warnings.first?.description.hasSuffix(word) == true)
    }
    try store.override(Rules.Overrides(largestValue: 100), for: "settings")
    #expect(try store.verify().warnings.isEmpty)
  }

  @Test func `a record that is missing from any index is found`() throws {
    #expect(try removing(\.deadlines) == [.deadlines])
    // The expiry index names entries by their position in the queue.
    #expect(try removing(\.queue) == [.queue, .deadlines])
    #expect(try removing(\.tags) == [.tags])
    #expect(try removing(\.chunks) == [.damagedChunks])
  }

  @Test func `a record too many in any index is found`() throws {
    #expect(try adding(\.deadlines) { $0[7] ^= 1 } == [.deadlines])
    #expect(try adding(\.deadlines) { $0[$0.count - 1] ^= 0x10 } == [.deadlines])
    #expect(try adding(\.deadlines) { $0.append(1) } == [.deadlines])
    #expect(try adding(\.queue) { $0[$0.count - 1] ^= 0x10 } == [.queue])
    #expect(try adding(\.queue) { $0.append(1) } == [.queue])
    #expect(try adding(\.tags) { $0[0] = 0x7A } == [.tags])
    #expect(try adding(\.chunks) { $0[15] += 3 } == [.chunks])
    #expect(try adding(\.chunks) { $0[11] ^= 0x40 } == [.chunks])
    for index: KeyPath<Indexes, Database> in [\.deadlines, \.queue, \.chunks, \.tags] {
      #expect(try adding(index) { $0 = [1] }.count == 1)
    }
  }

  @Test(arguments: 0..<32)
  func `a wrong position in a record of the expiry index is found`(bit: Int) throws {
    let found = try planting { transaction, indexes, notes in
      let key = try notes.engine.beginRead().keys(in: indexes.deadlines)[0]
      let value = try transaction.value(for: key, in: indexes.deadlines)?.copied
      var record = try #require(value)
      record[bit / 8] ^= 1 << UInt8(bit % 8)
      try transaction.put(record, for: key, in: indexes.deadlines)
    }
    #expect(found == [.deadlines])
  }

  @Test func `a record of the queue that names another key is found`() throws {
    let found = try planting { transaction, indexes, notes in
      let key = try notes.engine.beginRead().keys(in: indexes.queue)[0]
      try transaction.put([0x7A, 0], for: key, in: indexes.queue)
    }
    #expect(found == [.queue, .deadlines])
  }

  @Test(arguments: 0..<4)
  func `a wrong count of a namespace is found`(field: Int) throws {
    let found = try planting { transaction, _, notes in
      let key = MetadataKey.counters(try notes.id)
      let bytes = try #require(try transaction.value(for: key, in: .main)?.copied)
      let (id, seal) = (try notes.id, notes.engine.seal)
      let read = NamespaceCounters(bytes.span, of: id, seal: seal)
      var counters = try #require(read)
      switch field {
      case 0: counters.entries += 1
      case 1: counters.bytes -= 1
      case 2: counters.stored += 1
      default: counters.next = 2
      }
      try transaction.put(counters.record(of: id, seal: seal), for: key, in: .main)
    }
    #expect(found == [.counters])
  }

  @Test(arguments: 0..<4)
  func `a wrong total of the store is found`(field: Int) throws {
    let found = try planting { transaction, _, notes in
      var state = try #require(try transaction.state(notes.engine.seal))
      switch field {
      case 0: state.entries += 1
      case 1: state.bytes += 1
      case 2: state.stored -= 1
      default: state.garbage += 1
      }
      let record = state.record(seal: notes.engine.seal)
      try transaction.put(record, for: MetadataKey.state, in: .main)
    }
    #expect(found == [.counters])
  }

  @Test func `a next deadline of the store that is too late is found`() throws {
    let found = try planting { transaction, _, notes in
      var state = try #require(try transaction.state(notes.engine.seal))
      state.nextDue += 1
      let record = state.record(seal: notes.engine.seal)
      try transaction.put(record, for: MetadataKey.state, in: .main)
    }
    #expect(found == [.deadlines])
  }

  @Test func `an entry that is missing or too many is found in the indexes and the counts`() throws
  {
    let missing = try planting { transaction, _, notes in
      try transaction.remove(try notes.slot("k"), from: .entries)
    }
    #expect(missing == [.deadlines, .queue, .tags, .counters])
    let copied = try planting { transaction, _, notes in
      let record = try notes.record("k")
      try transaction.put(record, for: try notes.slot("copy"), in: .entries)
    }
    #expect(copied.contains(.damagedEntry) && copied.contains(.counters))
  }

  @Test func `contradictions of the metadata are found`() throws {
    let orphan = try planting { transaction, _, notes in
      let record = try notes.record("k")
      for key in 0..<100 {
        let slot = key.withKeyBytes { StoredKey.entry($0, in: NamespaceID(rawValue: 999)) }
        try transaction.put(record, for: slot, in: .entries)
      }
    }
    #expect(orphan == [.metadata])
    let counts = try planting { transaction, _, notes in
      let id = NamespaceID(rawValue: 999)
      let record = NamespaceCounters().record(of: id, seal: notes.engine.seal)
      try transaction.put(record, for: MetadataKey.counters(id), in: .main)
    }
    #expect(counts == [.metadata])
    let twice = try planting { transaction, _, notes in
      let record = NamespaceRecord(id: try notes.id, created: 0)
      let key = MetadataKey.namespace("twin")
      let bytes = try record.record(name: "twin", seal: notes.engine.seal)
      try transaction.put(bytes, for: key, in: .main)
    }
    #expect(twice.contains(.metadata))
    let both = try planting { transaction, _, notes in
      let key = MetadataKey.garbage(try notes.id)
      try transaction.put(notes.engine.seal.seal([], for: key), for: key, in: .main)
    }
    #expect(both.contains(.metadata))
  }

  @Test func `a sound store is walked whole and says what it holds`() throws {
    try withStore(chunksAbove: 3000) { store, clock in
      for name in ["a", "b"] {
        for number in 0..<50 {
          try store.namespace(name).set(
            [UInt8](repeating: 1, count: number * 100), for: number,
            expires: .after(.seconds(number)))
        }
      }
      clock.advance(by: .seconds(20))
      let verification = try store.verify()
      #expect(verification.isSound && verification.entries == 100 && verification.namespaces == 2)
      #expect(verification.bytes == 2 * (0..<50).reduce(0) { $0 + $1 * 100 })
    }
  }

  @Test func `the work on an entry with many tags grows with their number`() throws {
    let store = try Store.temporary(options: Store.Options(clock: ManualClock()))
    let notes = store.namespace("notes")
    var attributes = EntryAttributes()
    attributes.tags = (0..<2000).map { "tag \($0)" }
    attributes.owners = [Owner(Key("k"), in: "notes")]
    try notes.set("v", for: "k")
    try notes.put([1, 2, 3].span, for: "many", attributes: attributes)
    try store.namespace("cleared").put([1].span, for: "many", attributes: attributes)
    try store.namespace("cleared").clear()
    let (faults, lookups) = try walk(store)
    #expect(faults == [] && lookups == 0)
    // A record too many is found among those that share its place.
    let slot = try notes.slot("many")
    try store.tamper { transaction, indexes in
      try transaction.put([], for: IndexKey.tag([0x7A], entry: slot), in: indexes.tags)
    }
    let (more, few) = try walk(store)
    #expect(more.map(\.kind) == [.tags] && more.first?.key == Key("many"))
    #expect((1...20).contains(few), "\(few)")
  }

  private func walk(
    _ store: Store
  ) throws -> (faults: [Verification.Inconsistency], lookups: Int) {
    var verifier = Verifier(engine: store.engine) { _, _ in true }
    #expect(try verifier.run(in: store.engine.beginRead()))
    return (verifier.result.faults, verifier.tagLookups)
  }
}
