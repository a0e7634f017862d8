import Foundation
import LMDB
import LarderSystem
import TestSupport
import Testing

@testable import Larder

@Suite struct KeyTests {
  @Test func `any bytes from 1 byte to 64 KiB are a key`() throws {
    try withStore { store, _ in
      let notes = store.namespace("notes")
      var random = SeededRNG(seed: 7)
      let lengths = [1, 2, 237, 238, 239, 249, 250, 251, 254, 255, 256, 511, 512, 4096, 65_536]
      var keys: [[UInt8]] = []
      for length in lengths {
        keys.append([UInt8](repeating: 0, count: length))
        keys.append([UInt8](repeating: 255, count: length))
        keys.append((0..<length).map { _ in UInt8.random(in: 0...255, using: &random) })
      }
      for (index, key) in keys.enumerated() { try notes.set("\(index)", for: key) }
      for (index, key) in keys.enumerated() { #expect(try notes.text(key) == "\(index)") }
      #expect(try notes.count() == keys.count)
      let listed = try notes.keysByPages(of: 7).map(\.bytes)
      #expect(Set(listed) == Set(keys) && listed.count == keys.count)
      for key in keys { #expect(try notes.remove(key)) }
      #expect(try notes.count() == 0)
    }
  }

  @Test func `an empty key and one of more than 64 KiB are refused by writes and missed by reads`()
    throws
  {
    try withStore { (store: Store, _) throws in
      let notes = store.namespace("notes")
      let impossible: [[UInt8]] = [[], Array(repeating: 1, count: 65_537)]
      for key in impossible {
        #expect(failure { try notes.set("a", for: key) } == .invalidArgument)
        #expect(failure { try notes.setIfAbsent("a", for: key) } == .invalidArgument)
        #expect(try notes.text(key) == nil)
        #expect(try !notes.contains(key))
        #expect(try notes.entry(for: key) == nil)
        #expect(try !notes.remove(key))
        #expect(try !notes.touch(key))
      }
      #expect(try store.namespaces().isEmpty)
    }
  }

  @Test func `keys are bytes: NUL, newlines, signs and Unicode forms stay apart`() throws {
    try withStore { store, _ in
      let notes = store.namespace("notes")
      let keys = [
        "a", "a\u{0}", "a\u{0}b", "a\u{0}c", "\u{0}", "a\n", "{a: \"1&b=2\"}",
        "{a: \"1\", b: \"2\"}", "caf\u{e9}", "cafe\u{301}", "\u{1F3D4}", " ", "@", "N", "G",
        "chunks",
      ]
      for key in keys { try notes.set("value of \(key)", for: key) }
      for key in keys { #expect(try notes.text(key) == "value of \(key)") }
      #expect(try notes.count() == keys.count)
      // Swift holds the two forms of the accent for equal; the store does not.
      #expect(try notes.keysByPages(of: 3).count == keys.count)
    }
  }

  @Test func `long keys with the same first bytes are kept apart and listed`() throws {
    try withStore { store, clock in
      let notes = store.namespace("notes")
      let head = String(repeating: "h", count: 300)
      for number in 0..<200 { try notes.set("\(number)", for: head + "\(number)") }
      for number in 0..<200 { #expect(try notes.text(head + "\(number)") == "\(number)") }
      #expect(try notes.text(head) == nil)
      #expect(try notes.text(head + "200") == nil)
      #expect(try notes.keysByPages(of: 9).count == 200)
      #expect(try notes.page(limit: 300, prefix: head + "1").items.count == 111)
      try notes.set("x", for: head + "5", expires: .after(.seconds(1)))
      clock.advance(by: .seconds(1))
      #expect(try store.purge().entries == 1)
      #expect(try notes.count() == 199)
    }
  }

  @Test func `numbers sort as numbers`() throws {
    try withStore { store, _ in
      let notes = store.namespace("numbers")
      let numbers = [Int.min, -1_000_000, -1, 0, 1, 255, 256, 65_536, Int.max]
      for number in numbers.shuffled() { try notes.set("\(number)", for: number) }
      var found: [String] = []
      try notes.scan { _, bytes in
        found.append(String(decoding: bytes.copied, as: UTF8.self))
        return true
      }
      #expect(found == numbers.map(String.init))
    }
  }

  @Test func `a UUID, a substring and numbers of every width can be keys`() throws {
    try withStore { store, _ in
      let notes = store.namespace("notes")
      let uuid = UUID()
      try notes.set("uuid", for: uuid)
      try notes.set("sub", for: "substring".prefix(3))
      try notes.set("u32", for: UInt32(1))
      try notes.set("i64", for: Int64(1))
      #expect(try notes.text(uuid) == "uuid")
      #expect(try notes.text("sub") == "sub")
      #expect(try notes.text(Key([0, 0, 0, 1])) == "u32")
      #expect(try notes.text(1) == "i64")
    }
  }

  @Test func `equal keys of different namespaces do not meet`() throws {
    try withStore { store, _ in
      let names = ["colors", "themes", "parts", "partcategories", "sets", "elements", "partcolors"]
      for name in names { try store.namespace(name).set(name, for: "1") }
      for name in names { #expect(try store.namespace(name).text("1") == name) }
      try store.namespace("parts").remove("1")
      let left = try names.filter { try store.namespace($0).contains("1") }
      #expect(left == names.filter { $0 != "parts" })
    }
  }
}
