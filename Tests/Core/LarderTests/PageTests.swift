import LMDB
import TestSupport
import Testing

@testable import Larder

@Suite struct PageTests: StoreSuite {
  let fixture = StoreFixture()

  @Test
  func `entries that are there throughout are listed once, whatever is written between pages`()
    throws
  {
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
      var text = ""
      do {
        let store = try Store(at: path + "/s")
        let notes = store.namespace("notes")
        try notes.fill(0..<10)
        text = try #require(try notes.page(limit: 4).next).description
        try store.close()
      }
      #expect(text.utf8.allSatisfy { $0.isLetterOrDigit || $0 == 0x2D || $0 == 0x5F })
      let store = try Store(at: path + "/s")
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
      let outcome = failure { _ = try notes.page(after: PageCursor(text)) }
      #expect(outcome == .badCursor, "\(text)")
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

  @Test
  func `an absent or empty namespace has one empty page, and no page has less than one entry`()
    throws
  {
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

extension UInt8 {
  fileprivate var isLetterOrDigit: Bool {
    (0x30...0x39).contains(self) || (0x41...0x5A).contains(self) || (0x61...0x7A).contains(self)
  }
}
