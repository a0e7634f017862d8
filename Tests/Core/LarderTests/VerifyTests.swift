import Foundation
import LMDB
import LarderSystem
import TestSupport
import Testing

@testable import Larder

@Suite struct VerifyTests {
  /// Plants damage in a sound store and returns the kinds of fault that the walk finds.
  private func planting(
    _ damage: (inout WriteTransaction, Indexes, Store.Namespace) throws -> Void
  ) throws -> Set<Verification.Inconsistency.Kind> {
    let store = try FaultTests.makeStore()
    try store.tamper { transaction, indexes in
      try damage(&transaction, indexes, store.namespace("notes"))
    }
    return try store.faults
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
    let attributes = EntryAttributes.with(
      tags: (0..<2000).map { "tag \($0)" }, owners: [Owner(Key("k"), in: "notes")])
    try notes.set("v", for: "k")
    try notes.set([1, 2, 3], for: "many", attributes)
    try store.namespace("cleared").set([1], for: "many", attributes)
    try store.namespace("cleared").clear()
    let (faults, lookups) = try walk(store)
    #expect(faults == [] && lookups == 0)
    // A surplus tag record must cause only a few lookups. One lookup for each of the 2,000 tags would be too many.
    let slot = try notes.slot("many")
    try store.plant([], for: IndexKey.tag([0x7A], entry: slot), in: store.engine.indexes.tags)
    let (more, few) = try walk(store)
    #expect(more.map(\.kind) == [.tags] && more.first?.key == Key("many"))
    #expect((1...20).contains(few), "\(few)")
  }

  private func walk(_ store: Store) throws -> (faults: [Verification.Inconsistency], lookups: Int) {
    var verifier = Verifier(engine: store.engine) { _, _ in true }
    #expect(try verifier.run(in: store.engine.beginRead()))
    return (verifier.result.faults, verifier.tagLookups)
  }
}

@Suite struct EntryPageTests {
  private static let pageSize = 4096
  let directory = TemporaryDirectory()
  private var path: String { directory.path + "/store" }

  /// Makes a store. Returns the stored key of the entry `key-500`.
  private func makeStore() throws -> [UInt8] {
    let store = try Store(at: path)
    try store.write { batch in
      for number in 0..<1000 {
        try batch.set("\(number)", for: "key-\(number)", in: store.namespace("notes"))
      }
    }
    let slot = try store.namespace("notes").slot("key-500")
    try store.close()
    return slot
  }

  /// Damages the pages that contain `bytes`: erases the flags, which give the kind of the page.
  private func damagePages(with bytes: [UInt8]) throws {
    try changeDataFile(of: path) { data in
      let places = data.ranges(of: Data(bytes))
      #expect(!places.isEmpty)
      for place in places { data[place.lowerBound / Self.pageSize * Self.pageSize + 10] = 0 }
    }
  }

  @Test func `verify reports a damaged page of entries and does not throw`() throws {
    try damagePages(with: makeStore())
    let store = try Store(at: path)
    #expect(failure { _ = try store.namespace("notes").text("key-500") } == .damaged)
    // The damage is in this store, so the error must not blame the place of the copy.
    let error = thrown { _ = try store.copyCompacted(to: path + ".copy") }
    #expect(error?.message.contains("/store: a page of the data file is damaged") == true)
    #expect(try store.verify().faults.contains { $0.kind == .pages })
  }

  @Test func `verify reports a damaged page of chunks, and goes on`() throws {
    let options = with(Store.Options()) { $0.hooks.chunksAbove = 2000 }
    let store = try Store(at: path, options: options)
    let notes = store.namespace("notes")
    // Opening a store checks the root page. With 300 entries, the damaged page is another page, so the store opens.
    for key in 0..<300 { try notes.set([UInt8](repeating: 1, count: 5000), for: key) }
    let chunks = try store.keys { $0.chunks }
    try store.close()
    try damagePages(with: chunks[0])
    let verification = try Store(at: path, options: options).verify()
    #expect(verification.faults.contains { $0.kind == .pages })
    #expect(verification.entries == 300)
  }

  @Test func `verify reports a page that is neither in use nor free, as a write does`() throws {
    _ = try makeStore()
    try changeDataFile(of: path) { data in
      for meta in 0..<2 { data[meta * Self.pageSize + 136] += 1 }
      data.append(Data(count: Self.pageSize))
    }
    let store = try Store(at: path)
    #expect(try store.verify().faults.map(\.kind) == [.pages])
    #expect(failure { try store.namespace("notes").set("v", for: "k") } == .damaged)
  }

  @Test func `a key damaged to one of another namespace ends no scan in silence`() throws {
    let slot = try makeStore()
    // The stored key begins with the namespace id.
    try changeDataFile(of: path) { data in
      for place in data.ranges(of: Data(slot)) { data[place.lowerBound] = 0x40 }
    }
    let notes = try Store(at: path).namespace("notes")
    #expect(failure { try notes.scan { _, _ in true } } == .damaged)
    #expect(failure { try notes.scanValues { _, _ in true } } == .damaged)
    #expect(failure { _ = try notes.keys() } == .damaged)
    #expect(failure { try notes.scan(prefix: "key-50") { _, _ in true } } == .damaged)
  }
}
