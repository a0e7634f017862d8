import LarderPeer
import LarderSystem
import TestSupport
import Testing

@testable import LMDB

@Suite struct FreePagesTests {
  let directory = TemporaryDirectory()

  @Test func `the known pages are the free ones, however many commits come between`() throws {
    var random = SeededRNG(seed: TestSettings.seed)
    let environment = try Fixture.open(directory.store, Fixture.options(durability: .scratch))
    defer { environment.close() }
    func snapshot() throws -> SnapshotPages {
      try #require(
        try environment.handle.data.pages(
          of: environment.lastTransaction, fileSize: environment.fileSize))
    }
    func read(_ pages: SnapshotPages) throws -> FreeListCheck {
      var check = FreeListCheck(pages: pages)
      try check.run()
      return check
    }
    for number in 0..<400 {
      try environment.set([UInt8(number % 251), 1], Fixture.filling(number, count: 9000))
    }
    let first = try snapshot()
    let lists = try read(first)
    var known = KnownFreePages(lists.lists, lists.free, of: first.id)
    for round in 0..<200 * TestSettings.trials {
      for _ in 0..<random.next(in: 1..<7) {
        let key: [UInt8] = [UInt8(random.next(in: 0..<251)), 1]
        if random.next(in: 0..<3) == 0 {
          _ = try environment.write { transaction in
            try transaction.remove(key.span, from: environment.databases[0])
          }
        } else {
          try environment.set(key, Fixture.filling(round, count: random.next(in: 1..<30_000)))
        }
      }
      let next = try snapshot()
      guard next.id > known.commit else { continue }
      let before = known.commit
      let freed = try known.advance(to: next)
      let lists = try read(next)
      #expect(freed == lists.lists.reduce(0) { $0 + ($1.commit > before ? $1.pages.count : 0) })
      #expect(known.count == Int(lists.count), "round \(round), seed \(random.seed)")
      for page in 2...next.lastPage where known.contains(page) != lists.free.contains(page) {
        Issue.record("page \(page), round \(round), seed \(random.seed)")
      }
    }
  }

  @Test(arguments: [1, 2, 5])
  func `processes that write in turns do not read all lists again`(turn: Int) throws {
    let environment = try Fixture.open(directory.store, Fixture.options(durability: .checkpointed))
    defer { environment.close() }
    for number in 0..<200 {
      try environment.set([UInt8(number)], Fixture.filling(number, count: 9000))
    }
    try environment.write { transaction in
      for number in 0..<200 {
        try transaction.remove([UInt8(number)].span, from: environment.databases[0])
      }
    }
    let peer = try PeerProcess("sync-words", directory.store, saying: "ready")
    #expect(try peer.ask("open") == "done")
    try environment.set([7], [7])
    let before = environment.writeGuard.listReadings
    for number in 0..<20 {
      for _ in 0..<turn { #expect(try peer.ask("set \(number)") == "done") }
      try environment.set([7], Fixture.filling(number, count: 9000))
    }
    #expect(environment.writeGuard.listReadings == before)
    #expect(try peer.ask("close") == "done")
  }
}
