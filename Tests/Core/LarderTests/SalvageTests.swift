import Foundation
import LMDB
import TestSupport
import Testing

@testable import Larder

@Suite struct SalvageTests {
  let directory = TemporaryDirectory()
  let clock = ManualClock()
  var path: String { directory.path + "/old" }
  var target: String { directory.path + "/new" }

  var options: Store.Options {
    with(Store.Options(clock: clock, durability: .scratch)) { $0.hooks.chunksAbove = 9000 }
  }

  private static func value(_ number: Int) -> [UInt8] {
    [UInt8](repeating: UInt8(truncatingIfNeeded: number), count: number % 50 == 0 ? 12_000 : number)
  }

  /// - Returns: the namespace ids of `notes` and `numbers`.
  @discardableResult func makeStore(_ path: String) throws -> [UInt32] {
    let store = try Store(at: path, options: options)
    try store.declare(Rules(expires: .after(.hours(5))), for: "notes")
    try store.write { batch in
      for number in 0..<400 {
        let attributes = EntryAttributes.with(
          expires: number % 3 == 0 ? .after(.hours(1)) : .never, tags: ["tag\(number % 4)"],
          metadata: [UInt8(number % 256)], isPinned: number % 100 == 1)
        try batch.set(
          Self.value(number), for: "key-\(number)", in: store.namespace("notes"), attributes)
        try batch.set("\(number)", for: number, in: store.namespace("numbers"))
      }
      let long = String(repeating: "long", count: 100)
      try batch.set("of a long key", for: long, in: store.namespace("notes"))
    }
    try store.namespace("notes").set("short-lived", for: "gone", expires: .after(.seconds(1)))
    clock.advance(by: .seconds(2))
    let numbers = try ["notes", "numbers"].map { try #require(try store.namespace($0).number()) }
    try store.close()
    return numbers
  }

  func salvage(closing old: Store, _ options: Store.Options? = nil) throws -> Salvage {
    try old.close()
    return try Store.salvage(from: path, to: target, options: options ?? self.options)
  }

  @Test func `the new store begins anew with the log of a shared tier`() throws {
    let store = try Store(at: path, options: options)
    for key in [Store.tierProgress, "n"] { try store.namespace(Store.tierState).set("1", for: key) }
    #expect(try salvage(closing: store).entries == 1)
  }

  @Test(arguments: [1, 4]) func `a salvage that is stopped leaves nothing`(looks: Int) throws {
    try makeStore(path)
    var left = looks
    let salvage = try Store.salvage(from: path, to: target, options: options) { _ in
      left -= 1
      return left > 0
    }
    #expect(salvage == nil && left == 0)
    #expect(try FileManager.default.contentsOfDirectory(atPath: directory.path) == ["old"])
    #expect(try Store.salvage(from: path, to: target, options: options).isComplete)
  }

  @Test func `a store that this process has open stays open`() throws {
    let notes = try Store(at: path, options: BufferedStore.options()).namespace("notes")
    for text in ["a", "b", "c"] { try notes.set(text, for: "k") }
    for number in 0..<2 {
      let salvage = Result { try Store.salvage(from: path, to: "\(path)-\(number)") }
      #expect((try? salvage.get().isComplete) != false)
      #expect(try notes.text("k") == "c")
    }
    try notes.set("d", for: "k")
    #expect(try notes.store.verify().faults == [])
  }

  @Test func `everything in a sound store is saved as it was`() throws {
    try makeStore(path)
    let salvage = try Store.salvage(from: path, to: target, options: options)
    #expect(salvage.isComplete)
    #expect(salvage.entries == 801 && salvage.namespaces == 2 && salvage.leftOut == 1)
    let old = try Store(at: path, options: options)
    let new = try Store(at: target, options: options)
    for number in 0..<400 {
      let key = "key-\(number)"
      let before = try #require(try old.namespace("notes").entry(for: key))
      var after = try #require(try new.namespace("notes").entry(for: key))
      (after.version, after.lastUsed) = (before.version, before.lastUsed)
      #expect(after == before)
      #expect(try new.namespace("notes").bytes(key) == Self.value(number))
      #expect(try new.namespace("numbers").text(number) == "\(number)")
    }
    let infos = try new.namespaces()
    #expect(infos.first { $0.name == "notes" }?.declared.expires == .after(.hours(5)))
    #expect(try new.verify().faults == [])
    #expect(failure { _ = try Store.salvage(from: path, to: target) } == .exists)
  }

  @Test(arguments: Durability.allCases)
  func `the new store has the durability of the old one`(durability: Durability) throws {
    try Store.leave(at: path, with(options) { $0.durability = durability })
    let unset = with(options) { $0.durability = nil }
    _ = try Store.salvage(from: path, to: target, options: unset)
    #expect(try Store(at: target, options: unset).durability == durability)
  }

  /// The main database has a record for each database, under its name. The record ends with the root page number, in 8 bytes.
  @Test(arguments: [false, true])
  func `entries whose database has lost its record or root are saved`(losesName: Bool) throws {
    try makeStore(path)
    try changeDataFile(of: path) { data in
      for found in data.ranges(of: Data("entries".utf8)) {
        if losesName { data[found.lowerBound] = UInt8(ascii: "f") }
        if !losesName { data[found.upperBound + 42] ^= 0x40 }
      }
    }
    let salvage = try Store.salvage(from: path, to: target, options: options)
    #expect(!salvage.isComplete)
    #expect(salvage.entries >= 801 && salvage.found >= 801)
    let new = try Store(at: target, options: options)
    for number in 0..<400 {
      #expect(try new.namespace("notes").bytes("key-\(number)") == Self.value(number))
      #expect(try new.namespace("numbers").text(number) == "\(number)")
    }
    #expect(try new.verify().faults == [])
  }

  @Test func `a directory without a store stays empty`() throws {
    try makePrivateDirectory(path)
    #expect(failure { _ = try Store.salvage(from: path, to: target) } == .cannotOpen)
    #expect(try FileManager.default.contentsOfDirectory(atPath: path) == [])
  }

  @Test func `a damaged record of a cleared namespace hides no namespace in use`() throws {
    let ids = try makeStore(path)
    let old = try Store(at: path, options: options)
    try old.plant([1], for: MetadataKey.garbage(NamespaceID(rawValue: ids[0])))
    let salvage = try salvage(closing: old)
    #expect(salvage.entries == 801 && salvage.leftOut == 1)
  }

  @Test(arguments: [
    MetadataKey.tombstones + [9], MetadataKey.settings, MetadataKey.namespace("x"),
  ]) func `a damaged record of the store itself is damage`(key: [UInt8]) throws {
    try makeStore(path)
    let old = try Store(at: path, options: options)
    try old.plant([1], for: key)
    #expect(try salvage(closing: old).damage.count == 1)
  }

  @Test func `impossible rules and names cost a namespace its name, not its entries`() throws {
    let ids = try makeStore(path)
    let old = try Store(at: path, options: options)
    let seal = old.engine.seal
    let rules = with(NamespaceRecord.RuleSet()) { $0.declared.largestValue = -1 }
    let notes = NamespaceRecord(id: NamespaceID(rawValue: ids[0]), created: 0, rules: rules)
    try old.plant(notes.record(name: "notes", seal: seal), for: MetadataKey.namespace("notes"))
    try old.tamper { write, _ in try write.remove(MetadataKey.namespace("numbers"), from: .main) }
    let numbers = NamespaceRecord(id: NamespaceID(rawValue: ids[1]), created: 0)
    try old.plant(numbers.record(name: "a b", seal: seal), for: MetadataKey.namespace("a b"))
    #expect(failure { try old.namespace("notes").set("v", for: "k") } == .damaged)
    #expect(try salvage(closing: old).entries == 801)
    let new = try Store(at: target, options: options)
    #expect(try new.namespaces().map(\.name).sorted() == ids.map { "salvaged-\($0)" }.sorted())
    #expect(try new.verify().faults == [])
  }

  @Test func `the new name of a namespace is free`() throws {
    let ids = try makeStore(path)
    let old = try Store(at: path, options: options)
    let former = "salvaged-\(ids[0])"
    try old.namespace(former).set("v", for: "k")
    try old.tamper { write, _ in try write.remove(MetadataKey.namespace("notes"), from: .main) }
    _ = try salvage(closing: old)
    let names = try Store(at: target, options: options).namespaces().map(\.name)
    #expect(names == ["numbers", former, "salvaged-again-\(ids[0])"])
  }

  @Test func `options of the old store do not stop it`() throws {
    try makeStore(path)
    let options = with(options) { ($0.readOnly, $0.allowsForeignOwner) = (true, true) }
    #expect(try Store.salvage(from: path, to: target, options: options).entries == 801)
  }

  @Test
  func `the write buffer of a store that this process has open with a clock is saved`() throws {
    let options = with(BufferedStore.options()) { $0.clock = clock }
    let store = try Store(at: path, options: options)
    for text in ["a", "b", "c"] { try store.namespace("notes").set(text, for: "k") }
    #expect(try Store.salvage(from: path, to: target, options: options).damage == [])
    #expect(try Store(at: target, options: options).namespace("notes").text("k") == "c")
  }

  @Test func `an entry with a transformed value or transformed metadata is left out`() throws {
    let old = try Store(at: path, options: with(options) { $0.transforms = [Veil()] })
    let attributes = with(EntryAttributes.with(metadata: [1])) { $0.isNegative = true }
    try old.namespace("notes").set([UInt8](), for: "k", attributes)
    try old.namespace("notes").set("v", for: "w")
    let salvage = try salvage(closing: old)
    #expect(salvage.entries == 0 && salvage.leftOut == 2 && salvage.transformed == 2)
  }

  @Test func `an entry with an attribute that cannot be does not cost the others`() throws {
    try makeStore(path)
    let notes = try Store(at: path, options: options).namespace("notes")
    for (key, change) in [
      ("key-203", { (header: inout EntryHeader, fields: inout EntryFields) in fields.tags = [[]] }),
      ("key-205", { header, _ in (header.expires, header.staleUntil) = (.min, .max - 1) }),
    ] as [(String, (inout EntryHeader, inout EntryFields) -> Void)] {
      let changed = try notes.resealed(key, change)
      try notes.tamper(key) { $0 = changed }
    }
    let salvage = try salvage(closing: notes.store)
    #expect(salvage.entries == 800 && salvage.damagedEntries == 1)
    let new = try Store(at: target, options: options)
    #expect(try new.namespace("notes").bytes("key-199") == Self.value(199))
    #expect(try new.verify().faults == [])
  }

  @Test func `an entry that cannot be stored is not subtracted from those found`() throws {
    let notes = try Store(at: path, options: options).namespace("notes")
    try notes.set([1], for: "k", .with(tags: ["t"]))
    let changed = try notes.resealed("k") { _, fields in fields.tags = [[]] }
    try notes.tamper("k") { $0 = changed }
    let salvage = try salvage(closing: notes.store)
    #expect(salvage.entries == 0 && salvage.damagedEntries == 1 && salvage.found == 0)
  }

  @Test func `a pipe in place of the data file is an error`() throws {
    try makeStore(path)
    try FileManager.default.removeItem(atPath: path + "/data.mdb")
    #expect(unsafe mkfifo(path + "/data.mdb", 0o600) == 0)
    #expect(failure { _ = try Store.salvage(from: path, to: target) } == .cannotOpen)
  }

  @Test(arguments: TestSettings.seeds(corpus: 6))
  func `what damaged pages leave is saved, and no value is wrong`(seed: UInt64) throws {
    let ids = try makeStore(path)
    var random = SeededRNG(seed: seed)
    try changeDataFile(of: path) { data in
      for _ in 0..<random.next(in: 1..<6) {
        let page = random.next(in: 0..<data.count / 4096)
        data[page * 4096 + random.next(in: 0..<(random.chance(percent: 60) ? 16 : 4096))] ^=
          1 << UInt8(random.next(in: 0..<8))
      }
    }
    let salvage = try Store.salvage(from: path, to: target, options: options)
    let new = try Store(at: target, options: options)
    // A namespace whose name is lost gets a new name that contains its id.
    let names = try new.namespaces().map(\.name)
    let notes = new.namespace(names.contains("notes") ? "notes" : "salvaged-\(ids[0])")
    let texts = new.namespace(names.contains("numbers") ? "numbers" : "salvaged-\(ids[1])")
    var found = 0
    for number in 0..<400 {
      if let value = try notes.bytes("key-\(number)") {
        found += 1
        #expect(value == Self.value(number))
      }
      if let text = try texts.text(number) {
        found += 1
        #expect(text == "\(number)")
      }
    }
    #expect(found <= salvage.entries && salvage.entries <= found + 1, "\(found) of \(salvage)")
    #expect(found == 800 || !salvage.isComplete, "\(salvage)")
    try new.verifyAndClose()
  }
}
