import LMDB
import LarderSystem
import TestSupport
import Testing

@testable import Larder

@Suite struct EntryReadingTests {
  private func read(_ notes: Store.Namespace, _ key: String) throws -> [UInt8]? {
    try notes.withEntry(for: key) { entry, value in
      #expect(entry.key == Key(key) && entry.size == value.count)
      return value.copied
    }
  }

  @Test(arguments: [nil, 1000])
  func `one lookup lends the facts and the value, of any kind of entry`(chunksAbove: Int?) throws {
    try withNotes(chunksAbove: chunksAbove) { _, notes, clock in
      let long = String(repeating: "long ", count: 100)
      let attributes = EntryAttributes.with(
        expires: .after(.hours(1)), stale: .hours(1), tags: ["tag"])
      for (key, count) in [("short", 3), (long, 4), ("large", 9000)] {
        try notes.set([UInt8](repeating: 7, count: count), for: key, attributes)
        let before = try notes.reads
        #expect(try read(notes, key)?.count == count)
        #expect(try notes.reads == before, "an inspection counts nothing")
      }
      #expect(try read(notes, "absent") == nil)
      clock.advance(by: .minutes(70))
      #expect(try read(notes, "short")?.count == 3)
      clock.advance(by: .minutes(70))
      #expect(try read(notes, "large")?.count == 9000, "expired entries are included")
    }
  }

  @Test func `a lookup has the facts of a listing, also of an entry without fields`() throws {
    try withNotes { _, notes, clock in
      for (number, expires) in [Expiration.never, .after(.hours(1)), .after(.days(9))].enumerated()
      {
        var attributes = EntryAttributes(expires: expires)
        for (key, pinned) in [("k", nil), ("pinned", true)] as [(String, Bool?)] {
          attributes.isPinned = pinned
          try notes.set(Array("value".utf8), for: "\(key)\(number)", attributes)
        }
        attributes.stale = .hours(1)
        try notes.set(Array("value".utf8), for: "stale\(number)", attributes)
        attributes.tags = ["tag"]
        try notes.set(Array("value".utf8), for: "tagged\(number)", attributes)
      }
      for _ in 0..<3 {
        var listed: [Store.Entry] = []
        try notes.scan(includingExpired: true) { entry, _ in
          listed.append(entry)
          return true
        }
        #expect(listed.count == 12)
        for entry in listed { #expect(try notes.entry(for: entry.key) == entry) }
        clock.advance(by: .minutes(50))
      }
      #expect(try notes.entry(for: "k1")?.state == .expired)
      #expect(try notes.entry(for: "pinned0")?.isPinned == true)
    }
  }

  @Test func `facts and value are of one version, and a damaged entry is lent to no one`() throws {
    try withNotes { store, notes, _ in
      try notes.set([1, 2], for: "k")
      try store.read { snapshot in
        let version = try #require(try snapshot.entry(for: "k", in: notes)).version
        try notes.set([1, 2, 3], for: "k")
        let found = try snapshot.withEntry(for: "k", in: notes) { ($0.version, $1.copied) }
        #expect(found?.0 == version && found?.1 == [1, 2])
      }
      try notes.tamper("k") { $0[$0.count - 1] ^= 1 }
      #expect(try read(notes, "k") == nil)
      try notes.remove("k")
    }
  }
}
