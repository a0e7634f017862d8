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
    try notes.set([UInt8](), for: "nothing", with(EntryAttributes()) { $0.isNegative = true })
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
        // The age of a snapshot is the number of commits after the snapshot, so each write here increases the age by one.
        try notes.set("other", for: 10_000 + visited)
        oldest = max(oldest, try store.statistics().readers.compactMap(\.age).max() ?? 0)
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

@Suite struct PageTests: StoreSuite {
  let fixture = StoreFixture()

  @Test func `lasting entries are listed once, whatever is written between pages`() throws {
    var random = SeededRNG(seed: 3)
    let head = String(repeating: "x", count: 240)
    let lasting = (0..<100).map { "\($0 % 2 == 0 ? head : "")lasting \($0)" }
    for key in lasting { try notes.set("v", for: key) }
    var seen: [Key] = []
    var cursor: PageCursor?
    repeat {
      for _ in 0..<20 {
        let key = "\(random.chance(percent: 50) ? head : "")passing \(random.next(in: 0..<50))"
        if random.chance(percent: 50) {
          try notes.set("v", for: key, expires: .after(.seconds(random.next(in: 1..<3))))
        } else {
          try notes.remove(key)
        }
      }
      clock.advance(by: .seconds(1))
      if random.chance(percent: 20) { try store.purge() }
      let page = try notes.page(limit: random.next(in: 1..<9), after: cursor)
      seen += page.items.map(\.key)
      cursor = page.next
    } while cursor != nil
    #expect(Set(seen).count == seen.count)
    #expect(Set(seen).isSuperset(of: lasting.map { Key($0) }))
  }

  @Test func `a cursor survives a restart and its own text`() throws {
    try withTemporaryDirectory { path in
      var store = try Store(at: path + "/s")
      try store.namespace("notes").fill(0..<10)
      let text = try #require(try store.namespace("notes").page(limit: 4).next).description
      try store.close()
      #expect(text.allSatisfy { $0.isASCII && ($0.isLetter || $0.isNumber || "-_".contains($0)) })
      store = try Store(at: path + "/s")
      let rest = try store.namespace("notes").page(limit: 6, after: PageCursor(text))
      #expect(rest.items.count == 6 && rest.next == nil)
      try store.close()
    }
  }

  @Test func `a bad or foreign cursor is an error of its own`() throws {
    for name in ["notes", "other"] {
      for number in 0..<3 { try store.namespace(name).set("v", for: number) }
    }
    let cursor = try #require(try notes.page(limit: 1).next)
    var bad = ["", "x", "====", "%%%", "\u{1F3D4}", String(repeating: "A", count: 100)]
    for place in 0..<cursor.description.utf8.count {
      var text = Array(cursor.description.utf8)
      text[place] = text[place] == 0x41 ? 0x42 : 0x41
      bad.append(String(decoding: text, as: UTF8.self))
      bad.append(String(cursor.description.prefix(place)))
    }
    for text in bad {
      #expect(failure { _ = try notes.page(after: PageCursor(text)) } == .badCursor, "\(text)")
    }
    #expect(failure { _ = try store.namespace("other").page(after: cursor) } == .badCursor)
    #expect(failure { _ = try store.namespace("absent").page(after: cursor) } == .badCursor)
    let elsewhere = try Store.temporary()
    try elsewhere.namespace("notes").set("v", for: 1)
    #expect(failure { _ = try elsewhere.namespace("notes").page(after: cursor) } == .badCursor)
    try store.rename("notes", to: "renamed")
    #expect(try store.namespace("renamed").page(after: cursor).items.count == 2)
    try store.namespace("renamed").clear()
    #expect(failure { _ = try store.namespace("renamed").page(after: cursor) } == .badCursor)
  }

  @Test func `an absent or empty namespace has one empty page, page limits begin at 1`() throws {
    let absent = store.namespace("absent")
    #expect(try absent.page().items.isEmpty)
    let cursor = try absent.cursor(after: "k")
    #expect(try absent.page(after: cursor).items.isEmpty)
    try store.declare(Rules(), for: "absent")
    #expect(try absent.page().next == nil)
    #expect(failure { _ = try absent.page(after: cursor) } == .badCursor)
    #expect(failure { _ = try absent.cursor(after: "") } == .invalidArgument)
    for limit in [0, -1, Int.min] {
      #expect(failure { _ = try absent.page(limit: limit) } == .invalidArgument)
    }
    try absent.set("v", for: "k")
    #expect(try absent.page(limit: Int.max).items.count == 1)
    #expect(try absent.page(after: absent.cursor(after: "j")).items.count == 1)
    #expect(try absent.page(after: absent.cursor(after: "k")).items.isEmpty)
  }
}
