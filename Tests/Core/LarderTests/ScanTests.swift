import LMDB
import LarderSystem
import TestSupport
import Testing

@testable import Larder

@Suite struct ScanTests {
  @Test func `a scan of values lends what a read of each key would`() throws {
    try withNotes(chunksAbove: 5000) { store, notes, clock in
      let put = { (key: String, value: String, change: (inout EntryAttributes) -> Void) in
        var attributes = EntryAttributes(expires: .after(.hours(1)))
        change(&attributes)
        try notes.set(Array(value.utf8), for: key, attributes)
      }
      try put("plain", "1") { _ in }
      try put("pinned", "2") { $0.isPinned = true }
      try put("tagged", "3") { $0.tags = ["b"] }
      try put("hidden", "4") { $0.tags = ["a"] }
      try put("nothing", "") { $0.isNegative = true }
      try put("described", "5") { $0.metadata = [1, 2, 3] }
      try put(String(repeating: "long", count: 100), "6") { _ in }
      try put("chunked", String(repeating: "7", count: 9000)) { _ in }
      try put("brief", "8") { $0.expires = .after(.seconds(1)) }
      try put("used", "9") { $0.expires = .afterAccess(.seconds(5)) }
      try put("damaged", "10") { _ in }
      try put("empty", "") { _ in }
      try store.declare(Rules(expires: .after(.seconds(1)), stale: .hours(1)), for: "stale")
      try store.namespace("stale").set("11", for: "stale")
      try notes.tamper("damaged") { $0[$0.count - 1] ^= 1 }
      clock.advance(by: .seconds(3))
      #expect(try notes.text("used") == "9", "which keeps it")
      clock.advance(by: .seconds(3))
      _ = try notes.invalidate(tag: "a")

      var keys: [Key] = []
      try notes.scan(includingExpired: true) { entry, _ in
        keys.append(entry.key)
        return true
      }
      var expected: [[UInt8]: [UInt8]] = [:]
      for key in keys { expected[key.bytes] = try notes.bytes(key) }
      #expect(expected.count == 8)
      let reads = try notes.reads
      var found: [[UInt8]: [UInt8]] = [:]
      try notes.scanValues { key, value in
        #expect(found.updateValue(value.copied, forKey: key.copied) == nil)
        return true
      }
      #expect(found == expected)
      #expect(try notes.reads == reads, "it counts as no read")
      try store.namespace("stale").scanValues { _, _ in
        Issue.record("a stale entry")
        return true
      }
      var shown: [[UInt8]] = []
      var listed: [[UInt8]] = []
      for space in [notes, store.namespace("stale")] {
        try space.scan { entry, _ in
          shown.append(entry.key.bytes)
          return true
        }
        try space.scanKeys {
          listed.append($0.copied)
          return true
        }
      }
      #expect(listed == shown && listed.contains(Array("stale".utf8)))
      try notes.scanKeys(prefix: Array("plain\u{0}".utf8)) { _ in
        Issue.record("a key that is shorter than the prefix")
        return true
      }
      var visited = 0
      try notes.scanValues(prefix: "p") { key, _ in
        visited += 1
        return false
      }
      #expect(visited == 1)
      try notes.scanValues(prefix: "plain\u{0}") { _, _ in
        Issue.record("a key that is shorter than the prefix")
        return true
      }
      // Removes the damaged entry, so the store has no fault at the end.
      _ = try notes.remove("damaged")
    }
  }

  @Test func `a flip of any bit of a record leaves it out of a scan, and nothing else`() throws {
    try withNotes { _, notes, _ in
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
  }

  @Test func `a scan takes a new snapshot at least every thousand entries`() throws {
    try withNotes { store, notes, _ in
      try store.write { batch in
        for number in 0..<3000 { try batch.set("v", for: number, in: notes) }
      }
      var visited = 0
      var oldest: UInt64 = 0
      try notes.scan { entry, _ in
        visited += 1
        if visited % 100 == 0 {
          // Each write is a commit: the age of the snapshot is the number of commits since the snapshot.
          try notes.set("other", for: 10_000 + visited)
          let age = try store.statistics().readers.compactMap(\.age).max() ?? 0
          oldest = max(oldest, age)
        }
        return visited < 3000
      }
      #expect(visited == 3000)
      #expect(oldest > 1 && oldest <= 11)
    }
  }

  @Test func `a namespace that is cleared during a scan ends it`() throws {
    try withNotes { store, notes, _ in
      try store.write { batch in
        for number in 0..<2500 { try batch.set("v", for: number, in: notes) }
      }
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
}
