import LMDB
import LarderSystem
import TestSupport
import Testing

@testable import Larder

@Suite struct ScanTests: StoreSuite {
  let fixture = StoreFixture()

  /// `ModelTests` also compares scans with the model, for chunked values, long keys and prefixes.
  @Test func `a scan of values lends what a read of each key would`() throws {
    try store.declare(Rules(expires: .after(.hours(1))), for: "notes")
    let entries: [(String, EntryAttributes)] = [
      ("plain", .with()), ("hidden", .with(tags: ["a"])), ("described", .with(metadata: [1, 2])),
      ("used", .with(expires: .afterAccess(.seconds(5)))), ("damaged", .with()),
      ("pinned", .with(isPinned: true)), ("gone", .with(expires: .after(.seconds(1)))),
      ("stale", .with(expires: .after(.seconds(1)), stale: .hours(1))),
    ]
    for (key, attributes) in entries { try notes.set(Array(key.utf8), for: key, attributes) }
    var nothing = EntryAttributes()
    nothing.isNegative = true
    try notes.set([UInt8](), for: "nothing", nothing)
    try notes.tamper("damaged") { $0[$0.count - 1] ^= 1 }
    clock.advance(by: .seconds(3))
    #expect(try notes.text("used") == "used", "which keeps it")
    clock.advance(by: .seconds(3))
    _ = try notes.invalidate(tag: "a")
    let reads = try notes.reads
    var found: [String] = []
    try notes.scanValues { key, value in
      #expect(key.copied == value.copied)
      found.append(String(decoding: key.copied, as: UTF8.self))
      return true
    }
    #expect(found == ["described", "pinned", "plain", "used"])
    #expect(try notes.reads == reads, "it counts as no read")
    var (shown, listed): ([[UInt8]], [[UInt8]]) = ([], [])
    try notes.scan { entry, _ in
      shown.append(entry.key.bytes)
      return true
    }
    try notes.scanKeys {
      listed.append($0.copied)
      return true
    }
    #expect(listed == shown && listed.contains(Array("stale".utf8)))
    try notes.scanKeys(prefix: Array("plain\u{0}".utf8)) { _ in
      Issue.record("a key that is shorter than the prefix")
      return true
    }
    var visited = 0
    try notes.scanValues { _, _ in
      visited += 1
      return false
    }
    #expect(visited == 1)
    // Removes the damaged entry, so the store has no fault at the end.
    _ = try notes.remove("damaged")
  }

  @Test func `a flip of any bit of a record leaves it out of a scan, and nothing else`() throws {
    let kinds: [(String, Expiration?)] = [
      ("lasting", nil), ("passing", .after(.hours(1))), ("pinned", nil),
    ]
    for (key, expires) in kinds {
      try notes.set("before", for: "a")
      try notes.set("a value", for: key, expires: expires)
      try notes.set("behind", for: "z")
      if key == "pinned" { try notes.pin(key) }
      for place in 0..<(try notes.record(key).count) * 8 {
        try notes.tamper(key) { $0[place / 8] ^= 1 << UInt8(place % 8) }
        var found: [String] = []
        try notes.scanValues { key, value in
          found.append(String(decoding: key.copied + value.copied, as: UTF8.self))
          return true
        }
        #expect(found == ["abefore", "zbehind"], "\(key) \(place)")
        var keys: [String] = []
        try notes.scanKeys {
          keys.append(String(decoding: $0.copied, as: UTF8.self))
          return true
        }
        #expect(keys == ["a", "z"], "\(key) \(place)")
        try notes.tamper(key) { $0[place / 8] ^= 1 << UInt8(place % 8) }
      }
      #expect(try notes.keys().count == 3)
      try notes.clear()
    }
  }

  @Test func `a scan takes a new snapshot at least every thousand entries`() throws {
    try notes.fill(0..<3000)
    var visited = 0
    var oldest: UInt64 = 0
    try notes.scan { entry, _ in
      visited += 1
      if visited % 100 == 0 {
        // The age of a snapshot is the number of commits after it, so each of these writes increases the age by one.
        try notes.set("other", for: 10_000 + visited)
        let age = try store.statistics().readers.compactMap(\.age).max() ?? 0
        oldest = max(oldest, age)
      }
      return visited < 3000
    }
    #expect(visited == 3000)
    #expect(oldest > 1 && oldest <= 11)
  }

  @Test func `a namespace that is cleared during a scan ends it`() throws {
    try notes.fill(0..<2500)
    var visited = 0
    try notes.scan { _, _ in
      visited += 1
      if visited == 10 {
        try notes.clear()
        try notes.set("new", for: 9999)
      }
      return true
    }
    #expect(visited == 500)
  }
}
