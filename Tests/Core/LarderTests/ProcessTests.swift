import Foundation
import TestSupport
import Testing

@testable import Larder

@Suite struct ProcessTests {
  @Test func `what several processes write at once is all there and counted exactly`() throws {
    let count = TestSettings.trials > 1 ? 32 : 3
    try withStoreOnDisk { store, notes in
      let peers = try (0..<count).map { try PeerProcess("write", store.path, ["\($0)", "100"]) }
      for peer in peers { #expect(peer.line() == "written") }
      for peer in peers { peer.kill() }
      #expect(try notes.count() == 90 * count)
      for peer in 0..<count {
        for number in 0..<100 {
          let expected = number % 10 == 0 ? nil : "second \(peer) \(number)"
          #expect(try notes.text("\(peer) \(number)") == expected)
        }
      }
      let removals = try notes.removals
      #expect(
        removals[.replaced] == UInt64(100 * count) && removals[.removed] == UInt64(10 * count))
      // Every other process has read its 100 keys, and has merged the counts at closing. This process has read all keys, too.
      let reads = try notes.reads
      #expect(reads.hits == UInt64(180 * count) && reads.absent == UInt64(20 * count))
    }
  }

  @Test func `a user who may not is refused, and the store stays as it is`() throws {
    try withTemporaryDirectory { path in
      try Store.leave(at: path + "/s")
      // Root may always write, so if the test runs as root, the peer runs as another user. Otherwise the mode forbids writes.
      let isRoot = getuid() == 0
      let prefix = isRoot ? ["setpriv", "--reuid=65534", "--clear-groups"] : []
      let mode = isRoot ? 0o700 : 0o500
      try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: path + "/s")
      #expect(try PeerProcess("larder", path + "/s", under: prefix).line() == "refused cannotOpen")
      try FileManager.default.setAttributes([.posixPermissions: 0o700], ofItemAtPath: path + "/s")
      #expect(try PeerProcess("larder", path + "/s").line() == "opened")
    }
  }
}

@Suite struct MemoryProcessTests {
  /// The other process counts from 1. For each number, that process writes one of eight keys, or clears or renames the
  /// namespace, and then writes the number to a file. A read that begins after that must not find an older value.
  @Test func `of 300,000 reads none is older than a commit that ended before it began`() throws {
    try withStoreOnDisk(unflushed()) { store, _ in
      try store.namespace("notes").set("0", for: 0)
      let mark = store.path + ".mark"
      try Data("00000000".utf8).write(to: URL(fileURLWithPath: mark))
      let peer = try PeerProcess("count", store.path, saying: "open")
      let notes = store.cache(of: Int.self, in: "notes")
      let (old, found, direct) = (Tally(), Tally(), Tally())
      try inThreads(3) { thread in
        let file = try FileHandle(forReadingFrom: URL(fileURLWithPath: mark))
        for read in 0..<2_000_000 {
          // On a busy machine the other process seldom writes between two reads, so the reads go on until some were looked up.
          if read >= 100_000, notes.memory?.statistics.revalidatedHits ?? 0 > 100 { break }
          let key = (read / 16 + thread) % Numbers.keys
          try file.seek(toOffset: 0)
          let ended = Int(String(decoding: try file.read(upToCount: 8)!, as: UTF8.self))!
          // The third thread reads without the memory tier.
          let value =
            try thread < 2 ? notes.value(for: key) : notes.namespace.text(key).flatMap { Int($0) }
          guard let value else { continue }
          found.add()
          if thread == 2 { direct.add() }
          if value < Numbers.least(key, ended) { old.add() }
        }
      }
      peer.kill()
      #expect(old.value == 0)
      let memory = try #require(notes.memory?.statistics)
      let figures = Comment(rawValue: "\(memory), \(found.value) found, \(direct.value) direct")
      #expect(found.value > 50_000 && direct.value > 1000, figures)
      #expect(memory.hits > 1000 && memory.revalidatedHits > 100 && memory.misses > 100, figures)
    }
  }

  @Test func `a limit that another process sets is obeyed`() throws {
    try withStoreOnDisk(Store.Options(clock: ManualClock())) { store, _ in
      let notes = store.cache(TextCodec(), in: "notes")
      for key in 0..<10 { try notes.set(String(repeating: "x", count: 100), for: key) }
      #expect(store.memory.usage.cost == 1000)
      let peer = try PeerProcess("commands", store.path, ["manual"], saying: "open")
      #expect(try peer.ask("limit 350") == "done")
      notes.memory?.removeAll()
      for key in 0..<10 {
        #expect(try notes.value(for: key)?.count == 100)
        #expect(store.memory.usage.cost <= 350)
      }
      #expect(store.memory.capacity.cost == 350)
    }
  }
}

/// The work of the peer `count` for each number: a write, a clear or a rename. The peer and the test use the same rules.
enum Numbers {
  static let keys = 8
  static let roundsPerClear = 100

  /// The smallest number that a read of the key may find once all numbers up to `ended` are committed.
  static func least(_ key: Int, _ ended: Int) -> Int {
    let lastClear = ended - ended % roundsPerClear
    var written = ended - (ended - key + keys) % keys
    if written > 0, written % roundsPerClear == 0 { written -= keys }
    return max(written, lastClear)
  }
}
