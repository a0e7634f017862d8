import LMDB
import LarderSystem
import Synchronization
import TestSupport
import Testing

@testable import Larder

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
    let asked = { store.engine.handlesWithCounts.map(\.name).sorted() }
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
  }

  @Test func `counters of a write that was not committed are not used by the next one`() throws {
    let engine = store.engine
    try notes.set("v", for: 1)
    try store.writeAndDie(commits: false) { batch in
      try batch.set("v", for: 2, in: notes)
      try batch.session.finish()
      engine.writes.committed.keep(
        batch.session.ledger.balance, ofWrite: batch.session.transaction.serial)
    }
    // This commit gets the number of the failed commit. But the counters of the failed write must still not be used.
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
    let second = try store.statistics()
    #expect(first.file == second.file)
    #expect(first.path == store.path && first.format == 5)
    #expect(first.file.size >= first.file.pages * first.file.pageSize)
    #expect(first.entries == 1 && first.bytes == 1 && first.storedSize > 20)
    #expect(first.namespaces.count == 1 && !first.readers.isEmpty)
  }
}
