import Foundation
import LMDB
import LarderPeer
import LarderSystem
import TestSupport
import Testing

@Suite(.timeLimit(.minutes(20)), .enabled(if: canChangeUser, "needs root and setpriv"))
struct `Without permission to write` {
  let directory = TemporaryDirectory()

  /// Makes a store with one record. The store belongs to another user, who may only read it. Root may write it.
  init() throws {
    let environment = try Fixture.open(directory.store)
    try environment.set([1], [7])
    environment.close()
    for words in [
      ["chmod", "755", directory.path], ["chmod", "-R", "u=rX,go=", directory.store],
      ["chown", "-R", "65534:65534", directory.store],
    ] { try #require(Process.succeeds(words)) }
  }

  /// A peer that runs as this other user. The peer has read the record, and its write has failed.
  private func reader() throws -> PeerProcess {
    let peer = try PeerProcess(
      "read-without-permission", directory.store, under: asOtherUser, saying: "read [7]")
    #expect(peer.line()?.hasPrefix("write ") == true)
    #expect(peer.line() == "health none")
    return peer
  }

  private func rootOptions(lockTimeout: Duration = .seconds(10)) -> EnvironmentOptions {
    with(Fixture.options(lockTimeout: lockTimeout)) { $0.foreignOwner = true }
  }

  @Test func `a directory without write permission is read, and nothing in it changes`() throws {
    let before = try TemporaryDirectory.listing(directory.store)
    let peer = try reader()
    try peer.endInput()
    #expect(peer.line() == "health none")
    #expect(peer.line() == "again [7]")
    #expect(try TemporaryDirectory.listing(directory.store) == before)
  }

  @Test func `several such readers read at the same time`() throws {
    let peers = try (0..<3).map { _ in
      try PeerProcess("read-without-permission", directory.store, under: asOtherUser)
    }
    for peer in peers { #expect(peer.line() == "read [7]") }
  }

  @Test func `a store copied without its lock files is read`() throws {
    for name in try FileManager.default.contentsOfDirectory(atPath: directory.store)
    where name != "data.mdb" {
      try FileManager.default.removeItem(atPath: directory.store + "/" + name)
    }
    // The reader opens the store when the lock files are already gone, so it does not report these files as deleted.
    _ = try reader()
  }

  @Test func `a directory that can no longer be entered is not reported as missing`() throws {
    let peer = try reader()
    #expect(Process.succeeds(["chmod", "0", directory.store]))
    try peer.endInput()
    #expect(peer.line() == "health unwritable(\(LMDBError(code: EACCES)))")
    #expect(peer.line() == "again [7]")
  }

  @Test func `a writer waits for such a reader, which it names, and succeeds after it`() throws {
    let peer = try reader()
    var options = rootOptions(lockTimeout: .milliseconds(50))
    options.readOnly = true
    // A read-only opening does not wait for the peer, because it needs no write lock.
    let reader = try Fixture.open(directory.store, options)
    #expect(try reader.value([1]) == [7])
    #expect(reader.details(of: .busy).contains("\(peer.identifier) ("))
    reader.close()
    options.readOnly = false
    #expect(refusal(directory.store, options) == .busy)
    peer.kill()
    let environment = try Fixture.open(directory.store, rootOptions())
    try environment.set([1], [8])
    #expect(try environment.value([1]) == [8])
  }

  @Test func `such a reader is refused while another process may write`() throws {
    let writer = try Fixture.open(directory.store, rootOptions())
    let peer = try PeerProcess("read-without-permission", directory.store, under: asOtherUser)
    #expect(peer.lines() == ["refused inUse"])
    writer.close()
    _ = try reader()
  }

  @Test(.enabled(if: canMount, "this system allows no mounts"))
  func `a store on a read-only mount is read`() throws {
    let mount = directory.path + "/mount"
    try FileManager.default.createDirectory(atPath: mount, withIntermediateDirectories: false)
    let script =
      "mount --bind \(directory.store) \(mount) && mount -o remount,bind,ro \(mount) && exec \"$0\" \"$@\""
    let prefix = ["unshare", "-m", "sh", "-c", script]
    let peer = try PeerProcess("read-without-permission", mount, under: prefix, saying: "read [7]")
    #expect(peer.line()?.hasPrefix("write ") == true)
  }
}
