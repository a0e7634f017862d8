import LMDB
import LarderSystem
import TestSupport
import Testing

@testable import Larder

@Suite struct TrapTests {
  private func withDamaged(_ tamper: (inout WriteTransaction, Indexes, NamespaceID) throws -> Void)
    throws
  {
    let clock = ManualClock()
    let store = try Store.temporary(options: Store.Options(clock: clock))
    let notes = store.namespace("notes")
    for key in ["k", "l", String(repeating: "k", count: 400)] {
      try notes.set("v", for: key, expires: .after(.seconds(1)))
    }
    _ = try notes.text("k")
    let id = try notes.id
    try store.tamper { transaction, indexes in try tamper(&transaction, indexes, id) }
    let calls: [() throws -> Void] = [
      { _ = try notes.text("k") }, { _ = try notes.entry(for: "k") },
      { _ = try notes.page(limit: 2) }, { try notes.scan { _, _ in true } },
      { _ = try notes.count() }, { _ = try store.statistics() }, { _ = try store.namespaces() },
      { _ = try store.verify() }, { try notes.touch("k") },
      { try notes.set("v", for: "k", expires: .after(.seconds(1))) },
      { try notes.touch("k", expires: .never) }, { try notes.remove("k") },
      { try store.declare(Rules(), for: "new") }, { try store.namespace("new").set("v", for: "k") },
      { try store.purge() }, { try notes.set("v", for: "j", expires: .after(.seconds(1))) },
      { clock.advance(by: .seconds(2)) }, { _ = try notes.text("j") }, { try notes.purge() },
      { try store.rename("notes", to: "x") }, { try store.rename("x", to: "notes") },
      { _ = try notes.reads }, { try notes.clear() }, { try store.purge() }, { try store.clear() },
      { try store.purge() },
    ]
    for call in calls { _ = thrown(call) }
  }

  @Test func `counts, states and records of any content and length do not trap`() throws {
    var random = SeededRNG(seed: 5)
    let keys: [(NamespaceID) -> [UInt8]] = [
      { _ in MetadataKey.state }, { MetadataKey.counters($0) },
      { _ in MetadataKey.namespace("notes") }, { _ in MetadataKey.format },
    ]
    for key in keys {
      for fill in [UInt8(0), 0x7F, 0xFF] {
        for length in [0, 8, 71, 264, 1000] {
          try withDamaged { transaction, _, id in
            try transaction.put([UInt8](repeating: fill, count: length), for: key(id), in: .main)
          }
        }
      }
      for _ in 0..<8 {
        let bytes = random.bytes(random.next(in: 0..<300))
        try withDamaged { transaction, _, id in try transaction.put(bytes, for: key(id), in: .main)
        }
      }
    }
  }

  @Test func `counts of namespaces can be added, whatever their sealed records say`() throws {
    let store = try Store.temporary(options: Store.Options(clock: ManualClock()))
    let names = ["notes", "numbers", "pages"]
    for name in names { try store.namespace(name).set("v", for: "k") }
    let seal = store.engine.seal
    for count in [UInt64(1) << 47, 1 << 48, 1 << 62, 1 << 63 - 1, 1 << 63, .max] {
      let ids = try names.map { try store.namespace($0).id }
      for id in ids {
        var counters = NamespaceCounters()
        (counters.entries, counters.bytes, counters.stored) = (count, count, count)
        try store.plant(counters.record(of: id, seal: seal), for: MetadataKey.counters(id))
      }
      let sums: [() throws -> Int] = [
        { try store.namespaces().map(\.entries).reduce(0, +) },
        { try store.namespaces().map(\.bytes).reduce(0, +) },
        { try names.map { try store.namespace($0).count() }.reduce(0, +) },
        { try store.statistics().namespaces.map(\.info.storedSize).reduce(0, +) },
      ]
      for sum in sums { _ = thrown { _ = try sum() } }
      try store.namespace("notes").set("v", for: "k")
      #expect(try store.namespace("notes").text("k") == "v")
    }
  }

  @Test func `a namespace whose sealed record has an impossible name or rule is damaged`() throws {
    let store = try Store.temporary(options: Store.Options(clock: ManualClock()))
    let changes = store.changes()
    let seal = store.engine.seal
    try store.namespace("notes").set([1], for: "k", .with(tags: ["tag"]))
    let id = try store.namespace("notes").id
    let rules = with(NamespaceRecord.RuleSet()) { $0.overrides.limits = Limits(entries: -1) }
    for (name, rules) in [
      (String(repeating: "n", count: 255), NamespaceRecord.RuleSet()), ("a b", .init()),
      ("other", rules),
    ] {
      let record = NamespaceRecord(id: id, created: 0, rules: rules)
      try store.plant(record.record(name: name, seal: seal), for: MetadataKey.namespace(name))
      #expect(failure { _ = try store.namespaces() } == .damaged)
      try store.tamper { write, _ in try write.remove(MetadataKey.namespace(name), from: .main) }
    }
    #expect(try store.invalidate(tag: "tag").entries == 1)
    _ = changes
  }

  @Test func `verify reports limits that cannot be read`() throws {
    let store = try Store.temporary(options: Store.Options(clock: ManualClock()))
    try store.namespace("notes").set("v", for: "k")
    try store.plant([1, 2, 3], for: MetadataKey.settings)
    #expect(try store.faults == [.metadata])
    // A record whose key is damaged is not found.
    try store.tamper { transaction, _ in try transaction.remove(MetadataKey.settings, from: .main) }
    #expect(try store.faults == [.metadata])
  }

  @Test(.timeLimit(.minutes(20)))
  func `a store whose record says that it was made with the largest limit has none`() throws {
    let store = try Store.temporary(options: Store.Options(clock: ManualClock()))
    let record = StoreSettings.record(defaultDisk: .max, seal: store.engine.seal)
    try store.plant(record, for: MetadataKey.settings)
    try store.tamperState { $0.generation += 1 }
    #expect(try store.limits().effective.disk == nil)
    try store.namespace("notes").set("v", for: "k")
    #expect(try store.namespace("notes").text("k") == "v")
  }

  @Test func `stray records of any length in any database do not trap`() throws {
    var random = SeededRNG(seed: 6)
    for length in Array(1..<30) + [100, 511] {
      try withDamaged { transaction, indexes, id in
        for kind in 0..<4 {
          var key = random.bytes(length)
          // Kind 0: random bytes. Kind 1: zeros. Kind 2: a key of the namespace. Kind 3: the earliest time and a key like kind 2.
          if kind == 1 { key = [UInt8](repeating: 0, count: length) }
          if kind == 2 { key = Array((id.prefix + key).prefix(length)) }
          if kind == 3 {
            key = Array(([UInt8](repeating: 0, count: 8) + id.prefix + key).prefix(length))
          }
          let value = Array(key.reversed())
          for database in indexes.all { try transaction.put(value, for: key, in: database) }
          if kind > 0 { try transaction.put(value, for: key, in: .main) }
          let letter = [UInt8]("NCXTS".utf8).randomElement(using: &random)!
          try transaction.put(
            value, for: Array(([0, 0, 0, 0, letter] + key).prefix(511)), in: .main)
        }
      }
    }
  }

  @Test func `entries of random bytes do not trap`() throws {
    var random = SeededRNG(seed: 7)
    for _ in 0..<40 {
      try withDamaged { transaction, _, id in
        for key in ["k", "l", "m", "n"] {
          var bytes = random.bytes(random.next(in: 0..<200))
          if random.chance(percent: 80), bytes.count > 25 {
            // Sets a header of the usual form with random flags. In half of the cases, the checksum is made to match below.
            bytes[8] = UInt8(random.next(in: 0..<256))
            bytes[9] = 4
          }
          let key = Array(key.utf8)
          if random.chance(percent: 50), bytes.count > 8 {
            let keyHash = Checksum.keyHash(of: key.span, in: id)
            let checksum = EntryHeader.checksum(of: bytes.span, keyHash: keyHash)
            bytes.replaceSubrange(0..<8, with: [UInt8](littleEndian: checksum))
          }
          try transaction.put(bytes, for: StoredKey.entry(key.span, in: id), in: .entries)
        }
      }
    }
  }
}
