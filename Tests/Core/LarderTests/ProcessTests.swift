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
      // Each other process has read its 100 keys, and has merged the counts at closing. This process has read all keys, too.
      let reads = try notes.reads
      #expect(reads.hits == UInt64(180 * count) && reads.absent == UInt64(20 * count))
    }
  }

  @Test func `rules and overrides hold for every process`() throws {
    try withStoreOnDisk { store, _ in
      try store.declare(Rules(largestValue: 3), for: "notes")
      let peer = try PeerProcess("write", store.path, ["0", "1"])
      #expect(peer.line()?.hasPrefix("error") == true)
      try store.override(Rules.Overrides(largestValue: 100), for: "notes")
      #expect(try PeerProcess("write", store.path, ["0", "1"]).line() == "written")
    }
  }

  @Test func `a user who may not is refused, and the store stays as it is`() throws {
    try withTemporaryDirectory { path in
      try Store.leave(at: path + "/s")
      // Root may always write, so for root the peer runs as another user. For other users, the directory allows no writes.
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
