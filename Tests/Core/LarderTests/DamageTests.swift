import LMDB
import LarderSystem
import TestSupport
import Testing

@testable import Larder

@Suite struct DamageTests: StoreSuite {
  private static let longKey = String(repeating: "long", count: 100)

  private static var attributes: EntryAttributes {
    EntryAttributes.with(expires: .after(.hours(1)), tags: ["tag"], entityTag: [1, 2, 3])
  }

  let fixture = StoreFixture { $0.hooks.chunksAbove = 9000 }
  /// The values of the entries of the store: one entry of each kind, all with the same attributes.
  private let values: [String: [UInt8]] = [
    "empty": [], "short": Array("a value".utf8), Self.longKey: Array("of a long key".utf8),
    "large": [UInt8](repeating: 5, count: 6000), "chunked": [UInt8](repeating: 6, count: 10_000),
  ]

  init() throws { for (key, value) in values { try notes.set(value, for: key, Self.attributes) } }

  @Test func `a flip of any byte of a record is a counted miss and never a wrong value`() throws {
    for (key, value) in values {
      let count = try notes.record(key).count
      for place in Array(0..<min(count, 140)) + [count / 2, count - 1] where place < count {
        // Sets a new version, because the reads of one version within a second verify a large value only once.
        try notes.set(value, for: key, Self.attributes)
        try notes.tamper(key) { $0[place] ^= 0x40 }
        let before = try notes.reads
        #expect(try notes.bytes(key) == nil, "\(key) \(place)")
        let after = try notes.reads
        #expect(after.misses == before.misses + 1 && after.hits == before.hits)
        // A flip in the times or in a long key may count as a miss of another kind, for example as an expired entry.
        let isOther = (8..<35).contains(place) || key == Self.longKey
        #expect(isOther || after.damaged == before.damaged + 1)
        #expect(try notes.entry(for: key) == nil, "\(key) \(place)")
        #expect(try !notes.contains(key) && store.faults.isEmpty == false)
        try notes.set(value, for: key, Self.attributes)
        #expect(try notes.bytes(key) == value)
        try #require(try store.verify().faults == [], "\(key) \(place)")
      }
    }
  }

  @Test func `a record cut short or grown is a miss, whatever its length`() throws {
    for (key, value) in values {
      let record = try notes.record(key)
      for count in Array(0..<min(record.count, 120)) + [record.count + 1, record.count + 5000] {
        try notes.tamper(key) {
          $0 = Array(($0 + [UInt8](repeating: 9, count: 5000)).prefix(count))
        }
        #expect(try notes.bytes(key) == nil, "\(key) \(count)")
        #expect(try notes.entry(for: key) == nil)
        _ = try notes.page()
        #expect(try store.faults.isEmpty == false)
        try notes.tamper(key) { $0 = record }
      }
      #expect(try notes.bytes(key) == value)
    }
  }

  @Test func `a record that turns up under another key or namespace is no value`() throws {
    try store.namespace("other").set("x", for: "short")
    for key in values.keys {
      _ = try notes.bytes(key)
      let record = try notes.record(key)
      let slots = [
        try notes.slot("stranger"), try store.namespace("other").slot("stranger"),
        try notes.slot(Self.longKey + "stranger"),
      ]
      for slot in slots { try store.plant(record, for: slot, in: .entries) }
      #expect(try notes.bytes("stranger") == nil, "\(key)")
      #expect(try store.namespace("other").bytes("stranger") == nil, "\(key)")
      #expect(try notes.bytes(Self.longKey + "stranger") == nil, "\(key)")
      #expect(try store.faults.contains(.damagedEntry))
      try store.tamper { transaction, _ in
        for slot in slots { try transaction.remove(slot, from: .entries) }
      }
    }
  }

  @Test func `a verified large value is verified again when its record changed`() throws {
    #expect(try notes.bytes("large") == values["large"])
    let record = try notes.record("large")
    for place in 0..<(try notes.header("large").size) {
      try notes.tamper("large") { $0[place] ^= 1 }
      #expect(try notes.bytes("large") == nil, "\(place)")
    }
    try notes.tamper("large") { $0 = record }
    #expect(try notes.bytes("large") == values["large"])
  }

  @Test func `a missing, swapped or changed chunk is a miss`() throws {
    let chunks = store.engine.indexes.chunks
    let keys = try store.keys(in: \.chunks)
    #expect(keys.count == 3)
    for key in keys {
      let chunk = try #require(
        try store.engine.environment.write { transaction in
          try transaction.value(for: key, in: chunks)?.copied
        })
      let changes: [[UInt8]?] = [
        nil, [], Array(chunk.dropLast()), chunk + [0], chunk.map { $0 ^ 1 },
      ]
      for change in changes {
        if let change {
          try store.plant(change, for: key, in: chunks)
        } else {
          try store.tamper { transaction, _ in try transaction.remove(key, from: chunks) }
        }
        #expect(try notes.bytes("chunked") == nil && store.faults.contains(.damagedChunks))
        try notes.scan { entry, _ in
          #expect(entry.key != Key("chunked"))
          return true
        }
        try store.plant(chunk, for: key, in: chunks)
      }
    }
    #expect(try notes.bytes("chunked") == values["chunked"])
  }

  @Test(arguments: ["set", "setIfAbsent", "remove", "purge", "clear"])
  func `whatever byte is damaged, the next write puts the store in order`(way: String) throws {
    let life = EntryAttributes.with(expires: .after(.hours(1)), tags: ["tag", "other"])
    for (key, value) in values {
      try notes.set(value, for: key, life)
      let size = try notes.record(key).count
      // The damaged places: at most 80 of the first bytes of the header and the fields, and the last byte of the value.
      let header = try notes.header(key)
      for place in Array(0..<min(header.payloadStart, 80)) + [size - 1] where place < size {
        try notes.set(value, for: key, life)
        try notes.tamper(key) { $0[min(place, $0.count - 1)] ^= 0x21 }
        switch way {
        case "set": try notes.set(value, for: key, life)
        case "setIfAbsent":
          #expect(try notes.putIfAbsent(value.span, for: key, attributes: life), "\(key) \(place)")
        case "remove":
          try notes.remove(key)
          #expect(try notes.entry(for: key) == nil)
        case "purge":
          clock.advance(by: .hours(2))
          try store.purge()
          // The damaged deadline may hide the entry from the purge, so a write replaces the entry.
          try notes.set(value, for: key, life)
        default:
          try notes.clear()
          try store.purge()
        }
        let faults = try store.verify().faults
        try #require(faults == [], "\(key.prefix(10)) \(place): \(faults)")
      }
    }
  }

  @Test func `a full store evicts a damaged entry for a new one`() throws {
    try withNotes(Rules(eviction: .fifo)) { store, notes, _ in
      try store.declare(StoreLimits(entries: 3))
      for key in ["a", "b", "c"] { try notes.set("x", for: key) }
      try notes.tamper("a") { $0[$0.count - 1] ^= 0x40 }
      try notes.set("x", for: "d")
      #expect(try notes.text("d") == "x" && notes.count() == 3)
    }
  }

  @Test func `damage in one namespace keeps nobody from the others`() throws {
    let (bad, good) = (store.namespace("bad"), store.namespace("good"))
    try bad.set("v", for: "k")
    try good.set("v", for: "k")
    let key = MetadataKey.namespace("bad")
    let record = try NamespaceRecord(id: bad.id, created: 0).record(
      name: "bad", seal: store.engine.seal)
    for place in 0..<record.count {
      try store.plant(with(record) { $0[place] ^= 4 }, for: key)
      try store.tamperState { $0.generation += 1 }
      #expect(try bad.text("k") == nil)
      #expect(failure { try bad.set("w", for: "k") } == .damaged)
      try good.set("w\(place)", for: "k")
      #expect(try good.text("k") == "w\(place)")
      try good.set([1], for: "tagged", .with(tags: ["t"]))
      #expect(try store.invalidate(tag: "t").entries == 1 && store.faults.contains(.metadata))
    }
    try store.plant(record, for: key)
    try store.tamperState { $0.generation += 1 }
    #expect(try bad.text("k") == "v")
  }
}
