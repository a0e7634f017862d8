import Foundation
import LMDB
import LarderSystem
import Synchronization
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

  @Test func `large values, those with long keys, in chunks or in memory are used alike`() throws {
    let cache = store.cache(BytesCodec(), in: "notes")
    for (key, count) in [
      ("large", 5000), (String(repeating: "k", count: 300), 10), ("cut", 20_000),
    ] {
      try notes.set([UInt8](repeating: 1, count: count), for: key)
      let before = try mark(key, in: notes)
      #expect(try notes.bytes(key)?.count == count)
      #expect(try mark(key, in: notes).frequency == before.frequency + 1)
      _ = try cache.value(for: key)
      // After this write, a lookup must show that the value in memory is current.
      try store.namespace("others").set("x", for: key)
      #expect(try cache.value(for: key)?.count == count)
      #expect(try mark(key, in: notes).frequency == before.frequency + 3)
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
      // The open handle is read-only. The second handle may write, so that handle makes an access table.
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
      for round in 0..<20 { try notes.fill((0..<1000).map { "more \(round) \($0)" }) }
      #expect(try size() == 128 + 4 * AccessTable.count(entries: 32_768))
      // The peer reads the keys again and again. Each read must mark the use in the new table.
      for key in 0..<100 { store.engine.access.forget(try notes.place(of: "\(key)")) }
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

@Suite struct CounterTests: StoreSuite {
  let fixture = StoreFixture()

  @Test func `reads are counted by what they met`() throws {
    #expect(try store.statistics().reads.hitRate == nil)
    try store.declare(Rules(expires: .after(.seconds(10)), stale: .seconds(10)), for: "notes")
    try notes.set("v", for: "k")
    for _ in 0..<3 { _ = try notes.text("k") }
    for _ in 0..<2 { _ = try notes.text("none") }
    _ = try store.read { moment in try moment.value(for: "k", in: notes) }
    clock.advance(by: .seconds(10))
    _ = try notes.text("k")
    clock.advance(by: .seconds(10))
    for _ in 0..<2 { _ = try notes.text("k") }
    let reads = try notes.reads
    #expect(reads.hits == 4 && reads.absent == 2 && reads.stale == 1 && reads.expired == 2)
    #expect(reads.misses == 5 && reads.hitRate == 4.0 / 9)
    #expect(try store.statistics().reads == reads)
  }

  @Test func `a write asks only namespaces with new reads for their counts`() throws {
    let names = (0..<20).map { "n\($0)" }
    for name in names { try store.namespace(name).set("v", for: "k") }
    let asked = { store.engine.counted.unmerged().map(\.name).sorted() }
    let isListed = { (name: String) in
      store.engine.handle(for: name).isListed.load(ordering: .relaxed)
    }
    let spaces = names.map { store.namespace($0) }
    #expect(asked() == [])
    for index in [3, 7] { _ = try spaces[index].text("k") }
    #expect(asked() == ["n3", "n7"])
    #expect(throws: Stop.self) { try store.write { _ in throw Stop() } }
    #expect(asked() == ["n3", "n7"], "the write was rolled back")
    try store.write { _ in }
    #expect(asked() == [])
    #expect(!names.contains(where: isListed))
    _ = try spaces[7].text("none")
    #expect(names.filter(isListed) == ["n7"])
    try store.write { _ in }
    #expect(try spaces[7].reads.hits == 1 && spaces[7].reads.absent == 1)
    #expect(asked() == [])
    // The first write of a namespace merges the counts of earlier reads.
    let late = store.namespace("late")
    #expect(try late.text("k") == nil)
    for number in 0..<200 { _ = try store.namespace("absent\(number)").text("k") }
    try late.set("v", for: "k")
    #expect(try late.reads.absent == 1)
  }

  @Test func `counters of a write that was not committed are not used by the next one`() throws {
    let engine = store.engine
    try notes.set("v", for: 1)
    try store.writeAndDie(commits: false) { batch in
      try batch.set("v", for: 2, in: notes)
      try batch.session.finish()
      engine.writes.committed.keep(
        batch.session.ledger.next, ofWrite: batch.session.transaction.serial)
    }
    // This commit gets the number of the failed commit. But no transaction may use the counters of the failed write.
    try engine.environment.write { transaction in
      let state = try transaction.value(for: MetadataKey.state, in: .main)?.copied ?? []
      try transaction.put(state, for: MetadataKey.state, in: .main)
    }
    try notes.set("v", for: 3)
    #expect(try store.statistics().entries == 2)
    #expect(try notes.count() == 2)
  }

  @Test func `statistics describe the file and its readers, and change nothing`() throws {
    try store.namespace("notes").set("v", for: "k")
    let first = try store.statistics()
    #expect(try first.file == store.statistics().file)
    #expect(first.path == store.path && first.format == 5)
    #expect(first.file.size >= first.file.pages * first.file.pageSize)
    #expect(first.entries == 1 && first.bytes == 1 && first.storedSize > 20)
    #expect(first.namespaces.count == 1 && !first.readers.isEmpty)
  }
}
