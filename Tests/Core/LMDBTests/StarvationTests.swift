import Foundation
import LarderPeer
import LarderSystem
import TestSupport
import Testing

@testable import LMDB

@Suite(.timeLimit(.minutes(20))) struct Starvation {
  let directory = TemporaryDirectory()

  @Test(arguments: 6...40)
  func `with few descriptors a store opens and is written, or throws an error`(limit: Int) throws {
    let peer = try PeerProcess("starved", directory.store, under: inShell("ulimit -n \(limit)"))
    let lines = peer.lines()
    let status = try peer.end()
    if lines.first == "open" {
      #expect(lines == ["open", "written [1]", "closed true"])
      #expect(status == 0)
    } else {
      // The status 127 means that the system could not load the libraries of the program, so the test accepts this status.
      #expect([1, 2, 127].contains(status), "\(lines)")
    }
    if limit >= 30 { #expect(status == 0, "\(lines)") }
  }

  @Test func `an open store needs no further descriptors`() throws {
    let peer = try PeerProcess(
      "write-without-descriptors", directory.store, under: inShell("ulimit -n 64"))
    #expect(peer.lines() == ["write done"])
  }

  @Test(.enabled(if: geteuid() != 0 || canChangeUser, "setpriv is missing"))
  func `a process that can create no thread makes its checkpoints in its writes`() throws {
    let peer = try PeerProcess(
      "write-and-stay", directory.store, under: directory.giveAway() + ["prlimit", "--nproc=1"])
    let written = try #require(peer.line())
    let transaction = try #require(UInt64(written.split(separator: " ").last ?? ""), "\(written)")
    #expect(written == "written 0 \(transaction)", "no timer releases a pin")
    let recovery = try RecoveryFile(opening: directory.store + "/recovery")
    #expect(try recovery.readSynced()?.recoveryPoint?.transaction == transaction)
    #expect(try peer.end() == 0)
  }

  @Test(arguments: ["<&-", ">&-", "2>&-", "<&- >&-", "<&- >&- 2>&-"])
  func `standard descriptors closed by the parent never become store files`(closed: String) throws {
    let peer = try PeerProcess(
      "standard-descriptors", directory.store, under: ["sh", "-c", "exec \"$0\" \"$@\" \(closed)"])
    #expect(try peer.end() == 0)
    let environment = try Fixture.open(directory.store)
    let targets = String(decoding: try #require(try environment.value([1])), as: UTF8.self)
      .split(separator: "\n")
    #expect(targets.count == 3)
    #expect(!targets.contains { $0.contains("store") }, "\(targets)")
    for name in StoreLocks.names where name != "lock.mdb" {
      let contents = FileManager.default.contents(atPath: directory.store + "/" + name)
      #expect(contents?.isEmpty == true, "\(name)")
    }
  }

  @Test func `a write beyond the limit of file sizes is an error, and all else stays`() throws {
    // 8195 blocks of 512 bytes are no multiple of the page size, so the system cuts off one write within a page.
    let peer = try PeerProcess(
      "fill", directory.store, under: inShell("ulimit -f 8195"),
      saying: "write \(LMDBError.fileTooLarge)")
    #expect([peer.line(), peer.line()] == ["stored true true", "same true"])
    try peer.tell("go on")
    let environment = try Fixture.open(directory.store)
    #expect(try environment.value(Fixture.bytes(3)) == Fixture.filling(3, count: 20_000))
    try environment.set(Fixture.bytes(0), [1])
  }

  @Test(arguments: [0, 1, 9, 40])
  func `a store that the process may not make so large is not created`(blocks: Int) throws {
    let peer = try PeerProcess("fill", directory.store, under: inShell("ulimit -f \(blocks)"))
    let lines = peer.lines()
    #expect(try [0, 1, 2].contains(peer.end()), "\(lines)")
    try Fixture.open(directory.store).set(Fixture.bytes(0), [1])
  }

  @Test func `a store fits the address space of the process, and its map grows`() throws {
    // The limit is 3 GB, because the Swift libraries and the debug build already take several hundred megabytes.
    let peer = try PeerProcess(
      "fill-in-little-space", directory.store, ["200"], under: inShell("ulimit -v 3000000"))
    let lines = peer.lines()
    let mapped = try #require(
      lines.first?.split(separator: " ").last.flatMap { Int($0) }, "\(lines)")
    #expect(mapped < 3_000_000_000)
    #expect(lines.last == "filled true")
    #expect(try peer.end() == 0)
  }

  @Test func `the first map is half of the address space at most, and holds the file`() {
    let size = MapSize.initial(1 << 62, fileSize: 0)
    #expect(size >= 64 << 20 && size < 1 << 62)
    #expect(MapSize.initial(1 << 20, fileSize: 0) == 1 << 20)
    #expect(MapSize.initial(1 << 20, fileSize: 100 << 20) == 200 << 20)
    // A sparse file may be larger than any address space. The computation must not overflow, so that LMDB can refuse the file.
    #expect(MapSize.initial(1 << 30, fileSize: .max) > 0)
  }
}

@Suite(.timeLimit(.minutes(20)), .enabled(if: canChangeUser, "needs root and setpriv"))
struct `Without permission to write` {
  let directory = TemporaryDirectory()

  /// Makes a store with one record. The store belongs to another user, who may only read the store. Root may also write.
  init() throws {
    try Fixture.open(directory.store).set([1], [7])
    for words in [
      ["chmod", "755", directory.path], ["chmod", "-R", "u=rX,go=", directory.store],
      ["chown", "-R", "65534:65534", directory.store],
    ] { try #require(Process.succeeds(words)) }
  }

  /// A peer that runs as the owner of the store. The peer has read the record, and its write has failed.
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
    #expect([peer.line(), peer.line()] == ["health none", "again [7]"])
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
    // The lock files are gone before the reader opens the store, so the reader does not report these files as deleted.
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
    var options = with(rootOptions(lockTimeout: .milliseconds(50))) { $0.readOnly = true }
    // A read-only opening needs no write lock, so the opening does not wait for the peer.
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
    let script = "mount --bind \(directory.store) \(mount) && mount -o remount,bind,ro \(mount)"
    let prefix = ["unshare", "-m"] + inShell(script)
    let peer = try PeerProcess("read-without-permission", mount, under: prefix, saying: "read [7]")
    #expect(peer.line()?.hasPrefix("write ") == true)
  }
}
