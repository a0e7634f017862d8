import Foundation
import TestSupport
import Testing

@testable import Larder

@Suite struct Use: StoreSuite {
  let fixture = StoreFixture { $0.hooks.chunksAbove = 10_000 }

  private func mark(_ key: String, in notes: Store.Namespace) throws -> AccessStats {
    try notes.engine.access.stats(of: notes.place(of: key))
  }

  @Test func `each read of a fresh value is a use, and so is an overwrite`() throws {
    try notes.set("v", for: "k")
    #expect(try mark("k", in: notes) == AccessStats(frequency: 1, clock: 0))
    #expect(try notes.text("k") == "v")
    #expect(try mark("k", in: notes) == AccessStats(frequency: 2, clock: 1))
    #expect(try store.read { try $0.value(for: "k", in: notes) } != nil)
    #expect(try mark("k", in: notes) == AccessStats(frequency: 3, clock: 2))
    try notes.set("w", for: "k")
    #expect(try mark("k", in: notes) == AccessStats(frequency: 4, clock: 3))
    #expect(try notes.entry(for: "k")?.lastUsed == store.now)
    clock.advance(by: .seconds(125))
    try notes.withValue(for: "k") { _ in }
    let used = try #require(try notes.entry(for: "k")?.lastUsed)
    #expect(used <= store.now && used.advanced(by: .seconds(60)) > store.now)
    try notes.remove("k")
    #expect(try mark("k", in: notes) == AccessStats())
  }

  @Test func `large values and those with long keys or in chunks are used alike`() throws {
    for (key, count) in [
      ("large", 5000), (String(repeating: "k", count: 300), 10), ("cut", 20_000),
    ] {
      try notes.set([UInt8](repeating: 1, count: count), for: key)
      let before = try mark(key, in: notes)
      #expect(try notes.bytes(key)?.count == count)
      #expect(try mark(key, in: notes).frequency == before.frequency + 1)
    }
  }

  @Test func `looking is no use`() throws {
    try notes.set("v", for: "k")
    clock.advance(by: .seconds(600))
    let before = try mark("k", in: notes)
    let used = try notes.entry(for: "k")?.lastUsed
    #expect(try notes.contains("k"))
    #expect(try notes.page(limit: 10).items.map(\.lastUsed) == [used])
    #expect(try store.read { try $0.entry(for: "k", in: notes)?.lastUsed } == used)
    _ = try store.statistics()
    _ = try store.verify()
    #expect(try mark("k", in: notes) == before)
    #expect(used == store.now.advanced(by: .seconds(-600)))
  }

  @Test func `what is not lent is not used: expired, stale and damaged entries`() throws {
    try store.declare(Rules(stale: .seconds(100)), for: "notes")
    try notes.set("v", for: "k", expires: .after(.seconds(100)))
    var before = try mark("k", in: notes)
    for seconds in [150, 100] {
      clock.advance(by: .seconds(seconds))
      #expect(try notes.text("k") == nil && mark("k", in: notes) == before)
    }
    try notes.set("v", for: "k")
    before = try mark("k", in: notes)
    try notes.tamper("k") { $0[$0.count - 1] ^= 1 }
    #expect(try notes.text("k") == nil && mark("k", in: notes) == before)
    try notes.remove("k")
  }

  @Test func `a read-only handle leaves no notes and makes no table`() throws {
    try withTemporaryDirectory { path in
      let store = try Store(at: path + "/s")
      let notes = store.namespace("notes")
      try notes.set("v", for: "k")
      let before = try mark("k", in: notes)
      let used = try #require(try notes.entry(for: "k")?.lastUsed)
      let options = Store.Options(readOnly: true)
      let second = try Store(at: path + "/s", options: options)
      #expect(try second.namespace("notes").text("k") == "v")
      #expect(try mark("k", in: notes) == before)
      try store.close()

      let alone = try Store(at: path + "/s", options: options)
      #expect(try alone.namespace("notes").text("k") == "v")
      #expect(try mark("k", in: alone.namespace("notes")) == before)
      #expect(try alone.namespace("notes").entry(for: "k")?.lastUsed == used)
      try alone.close()

      try FileManager.default.removeItem(atPath: path + "/s/access")
      let without = try Store(at: path + "/s", options: options)
      #expect(try without.namespace("notes").text("k") == "v")
      #expect(try without.namespace("notes").entry(for: "k")?.lastUsed == nil)
      #expect(!FileManager.default.fileExists(atPath: path + "/s/access"))
      // The open handle is read-only. This second handle may write, so it makes an access table.
      let writing = try Store(at: path + "/s")
      #expect(try writing.namespace("notes").text("k") == "v")
      #expect(try writing.namespace("notes").entry(for: "k")?.lastUsed != nil)
      try writing.close()
    }
  }

  @Test func `two processes mark the same entries`() throws {
    try withStoreOnDisk { store, notes in
      for key in 0..<100 { try notes.set("v", for: "\(key)") }
      let before = try (0..<100).map { try mark("\($0)", in: notes).frequency }
      let peer = try PeerProcess("use", store.path, ["100"], saying: "100")
      #expect(try (0..<100).map { try mark("\($0)", in: notes).frequency } == before.map { $0 + 1 })
      try peer.endInput()
      #expect(peer.line() == nil)
    }
  }

  @Test func `the table grows with the store while another process reads`() throws {
    try withStoreOnDisk { store, notes in
      for key in 0..<100 { try notes.set("v", for: "\(key)") }
      func size() throws -> Int? {
        try FileManager.default.attributesOfItem(atPath: store.path + "/access")[.size] as? Int
      }
      #expect(try size() == 128 + 4 * AccessTable.count(entries: AccessTable.fewestEntries))
      let peer = try PeerProcess("use", store.path, ["100", "on"], saying: "100")
      for round in 0..<20 {
        try notes.fill((0..<1000).map { "more \(round) \($0)" })
      }
      #expect(try size() == 128 + 4 * AccessTable.count(entries: 32_768))
      // The peer still reads these keys. Each of its reads must mark the use in the new table.
      for key in 0..<100 {
        let place = try notes.place(of: "\(key)")
        store.engine.access.forget(place)
      }
      while try (0..<100).contains(where: { try mark("\($0)", in: notes) == AccessStats() }) {
        guard peer.isRunning else { break }
      }
      #expect(peer.isRunning)
      #expect(try (0..<100).allSatisfy { try mark("\($0)", in: notes).frequency > 0 })
      try peer.endInput()
      while let line = peer.line() { #expect(line == "100") }
    }
  }
}

extension Store.Namespace {
  func place(of key: String) throws -> UInt64 {
    try Checksum.keyHash(of: Array(key.utf8).span, in: id)
  }
}
