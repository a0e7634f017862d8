import Foundation
import LMDB
import TestSupport
import Testing

@testable import Larder

@Suite struct CompactionTests {
  private let directory = TemporaryDirectory()
  private var path: String { directory.path }

  private func contents(_ store: Store) throws -> [Store.Entry: [UInt8]] {
    var contents: [Store.Entry: [UInt8]] = [:]
    for facts in try store.namespaces() {
      try store.namespace(facts.name).scan(includingExpired: true) { entry, value in
        contents[entry] = (0..<value.count).map { value[$0] }
        return true
      }
    }
    return contents
  }

  private func fill(_ store: Store) throws {
    for number in 0..<600 {
      let name = ["a", "b"][number % 2]
      try store.write { batch in
        let attributes = EntryAttributes.with(
          expires: [Expiration.after(.days(1)), .afterAccess(.days(1)), .never][number % 3],
          tags: ["t\(number % 7)"],
          owners: number > 10 ? [Owner(Key("k\(number - 2)"), in: name)] : [],
          isPinned: number % 11 == 0)
        try batch.set(
          [UInt8](repeating: UInt8(number % 256), count: number * 40), for: "k\(number)",
          in: store.namespace(name), attributes)
      }
    }
    for number in 0..<500 where number % 9 != 0 { try store.namespace("a").remove("k\(number)") }
    for number in 0..<10 { let _: [UInt8]? = try store.namespace("b").value(for: "k\(number)") }
  }

  @Test func `a compacted store holds the same, and everything agrees`() throws {
    let options = with(Store.Options()) { $0.hooks.chunksAbove = 8000 }
    var store = try Store(at: path + "/s", options: options)
    try fill(store)
    let (before, statistics) = (try contents(store), try store.statistics())
    try store.close()
    let compaction = try #require(try Store.compact(at: path + "/s"))
    #expect(compaction.before == statistics.file.size)
    #expect(compaction.after < compaction.before * 2 / 3)
    store = try Store(at: path + "/s", options: options)
    #expect(try contents(store) == before)
    #expect(try store.verify().faults == [])
    let after = try store.statistics()
    #expect(after.file.size == compaction.after)
    #expect(after.reads == statistics.reads && after.removals == statistics.removals)
    // The compaction has copied the stored counts of reads, and a later read is still added to these counts.
    let _: [UInt8]? = try store.namespace("b").value(for: "k1")
    #expect(try store.statistics().reads.hits == statistics.reads.hits + 1)
    try store.namespace("a").set("new", for: "new", expires: .after(.hours(1)))
    try store.verifyAndClose()
  }

  @Test func `options for reading only refuse a compaction`() throws {
    try Store.leave(at: path + "/s")
    let before = FileManager.default.contents(atPath: path + "/s/data.mdb")
    for property in [\Store.Options.readOnly, \.allowsForeignOwner] {
      let options = with(Store.Options()) { $0[keyPath: property] = true }
      #expect(failure { _ = try Store.compact(at: path + "/s", options: options) } == .readOnly)
    }
    #expect(FileManager.default.contents(atPath: path + "/s/data.mdb") == before)
  }

  @Test func `it names the processes that are in the way`() throws {
    let store = try Store(at: path + "/s")
    try store.namespace("a").set("v", for: 1)
    func refusal() -> LarderError? { thrown { _ = try Store.compact(at: path + "/s") } }
    #expect(refusal()?.message.contains("this process") == true)
    try store.close()
    let peers = try (0..<2).map { _ in try PeerProcess("commands", path + "/s", saying: "open") }
    let names = peers.map(\.identifier).sorted().map(String.init).joined(separator: ", ")
    #expect(refusal()?.code == .busy)
    #expect(refusal()?.message.hasPrefix("processes \(names) have ") == true)
    peers[0].kill()
    #expect(refusal()?.message.hasPrefix("process \(peers[1].identifier) has ") == true)
    try peers[1].endInput()
    #expect(peers[1].line() == "closed")
    #expect(refusal() == nil)
  }

  @Test func `a thread that opens the store during its compaction gets an error`() throws {
    try fill(Store(at: path + "/s"))
    _ = try Store.compact(at: path + "/s") { _, _ in
      #expect(failure { _ = try Store(at: path + "/s") } == .busy)
      #expect(failure { _ = try Store.compact(at: path + "/s") } == .busy)
      return true
    }
    let store = try Store(at: path + "/s")
    try store.namespace("a").set("new", for: "new")
    try store.verifyAndClose()
  }

  /// The process may die between the commit of the buffer's records and the lock that excludes other processes.
  @Test func `records of a killed process stop a compaction and a change of durability`() throws {
    let last = try BufferedStore.leaveByKill(path + "/s")
    let options = with(Store.Options(durability: .scratch)) { $0.changesDurability = true }
    #expect(failure { _ = try Environment.open(at: path + "/s", options) } == .busy)
    let environment = try Environment.open(at: path + "/s", Store.Options())
    #expect(throws: LMDBError.occupied) {
      try environment.closeCompacting(after: WriteBuffer.checkEmpty) { _, _ in true }
    }
    environment.close()
    try Store.change(durability: .scratch, ofStoreAt: path + "/s")
    #expect(try Store.compact(at: path + "/s") != nil)
    let store = try Store(at: path + "/s")
    #expect(try BufferedStore.number(at: last, in: store) >= last)
    try store.verifyAndClose()
  }

  @Test(arguments: Durability.allCases)
  func `a compact store or copy keeps durability over a power cut`(durability: Durability) throws {
    // The last checkpoint has pages of the file before its compaction. So the store must open without this checkpoint.
    var store = try Store(at: path + "/s", options: options(durability))
    try fill(store)
    try store.sync()
    try store.namespace("a").set("last", for: "last")
    #expect(try store.copyCompacted(to: path + "/copy") != nil)
    try store.close()
    #expect(try Store.compact(at: path + "/s", options: options(durability)) != nil)
    for name in ["s", "copy"] {
      for boot in UInt64(2)...3 {
        store = try Store(at: path + "/" + name, options: options(durability, boot: boot))
        #expect(store.durability == durability)
        #expect(try store.namespace("a").text("last") == "last")
        #expect(try store.verify().faults == [])
        try store.namespace("a").set("\(boot)", for: "boot")
        try store.close()
      }
    }
  }

  @Test func `changes are seen across a compaction`() async throws {
    let path = directory.path + "/s"
    // A stopped clock keeps the lease of the watch valid. Otherwise the lease might end, and the watch might miss changes.
    let options = with(Store.Options()) { $0.hooks.machineClock = { 1 } }
    let store = try Store(at: path, options: options)
    var changes = store.changes().makeAsyncIterator()
    for number in 0..<100 { try await store.namespace("a").set("v", for: number) }
    #expect(await changes.next()?.kind == .set)
    try store.close()
    #expect(try Store.compact(at: path) != nil)
    let again = try Store(at: path, options: options)
    var later = again.changes().makeAsyncIterator()
    try await again.namespace("a").set("w", for: 7)
    let change = await later.next()
    #expect(change?.kind == .set && change?.key == Key(7))
    try again.close()
  }
}
