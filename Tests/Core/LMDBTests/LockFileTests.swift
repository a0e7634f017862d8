import Foundation
import LarderPeer
import LarderSystem
import TestSupport
import Testing

@testable import LMDB

@Suite struct `Files changed behind our back` {
  let directory = TemporaryDirectory()
  let environment: Environment
  var store: String { directory.store }

  init() throws {
    environment = try Fixture.open(directory.store)
    try environment.set([5], [6])
  }

  private func expectReplaced() { #expect(failure { try environment.set([5], [7]) } == .replaced) }

  @Test(arguments: ["lock.mdb", "data.mdb"])
  func `a file replaced while open stops the next write`(name: String) throws {
    let file = store + "/" + name
    // `cp` makes the copy, because this process would lose LMDB's locks if it opened and closed lock.mdb itself.
    #expect(Process.succeeds(["cp", "-p", file, file + ".copy"]))
    #expect(Process.succeeds(["mv", file + ".copy", file]))
    expectReplaced()
    #expect(try environment.value([5]) == [6])
  }

  @Test func `a program that removes old files finds the directory locked`() throws {
    #expect(try !FileLock(opening: store, readOnly: true, in: ForkGuard()).take())
  }

  @Test func `a second name for the data file stops the next write`() throws {
    try FileManager.default.linkItem(
      atPath: store + "/data.mdb", toPath: directory.path + "/second")
    expectReplaced()
    try FileManager.default.removeItem(atPath: directory.path + "/second")
    try environment.set([5], [7])
  }

  @Test func `a store moved while open stops the next write, and opens where it is`() throws {
    try FileManager.default.moveItem(atPath: store, toPath: store + ".moved")
    expectReplaced()
    #expect(try environment.value([5]) == [6])
    #expect(try Fixture.open(store + ".moved") === environment)
    #expect(environment.close())
    #expect(try Fixture.open(store + ".moved").value([5]) == [6])
  }

  @Test func `a store deleted while open stops the next write; a new one can replace it`() throws {
    try FileManager.default.removeItem(atPath: store)
    expectReplaced()
    let new = try Fixture.open(store)
    #expect(new !== environment)
    #expect(try new.value([5]) == nil)
    try new.set([5], [8])
    #expect(try environment.value([5]) == [6])
    #expect(environment.close())
    #expect(try new.value([5]) == [8])
  }

  @Test func `this process opens no other data file beside the lock file in use`() throws {
    let data = store + "/data.mdb"
    #expect(
      Process.succeeds(["sh", "-c", "cp -p \(data) \(data).copy && mv \(data).copy \(data)"]))
    #expect(refusal(store) == .replaced)
    #expect(environment.close())
    #expect(try Fixture.open(store).value([5]) == [6])
  }

  @Test func `another process uses no other data file beside the lock file in use`() throws {
    for round in UInt8(0)..<10 { try environment.set([5], [round]) }
    try Fixture.open(store + ".fresh").close()
    #expect(Process.succeeds(["cp", "-p", store + ".fresh/data.mdb", store + "/data.new"]))
    #expect(Process.succeeds(["mv", store + "/data.new", store + "/data.mdb"]))
    #expect(try PeerProcess("hold", store).lines() == ["refused system"])
  }

  /// The argument nil means a process that has lost LMDB's locks, although no file is deleted.
  @Test(arguments: ["lock.mdb", "lock.open", nil])
  func `a process that lost a lock file or LMDB's locks keeps us out`(name: String?) throws {
    #expect(environment.close())
    let peer = try PeerProcess(
      name == nil ? "lose-locks" : "hold", store,
      saying: name == nil ? "lost \(ReaderTable.fileSize)" : "open")
    if let name { try FileManager.default.removeItem(atPath: store + "/" + name) }
    #expect(refusal(store) == .locksLost)
    #expect(try peer.end() == 0)
    #expect(try Fixture.open(store).value([5]) == [6])
  }

  @Test func `a compaction after lock.open was deleted under a writer loses no write`() throws {
    #expect(environment.close())
    let peer = try PeerProcess("number", store, ["1"])
    #expect(eventually { peer.soFar.count > 100 })
    try FileManager.default.removeItem(atPath: store + "/lock.open")
    var opened: Environment?
    #expect(
      eventually {
        opened = try? Fixture.open(store)
        return opened != nil
      })
    var isFirst = true
    try opened?.closeCompacting { _, _ in
      // Gives the peer time to write. Writes to the deleted file would be lost, so the peer must notice the deletion and stop.
      let count = peer.soFar.count
      if isFirst { _ = eventually(within: .milliseconds(300)) { peer.soFar.count > count + 50 } }
      isFirst = false
      return true
    }
    let last = peer.lines().last { Int($0) != nil }.flatMap { Int($0) }
    #expect(peer.soFar.last == "error \(LMDBError.replaced)")
    #expect(try Numbering.verify(Fixture.open(store)) == last)
  }

  @Test(arguments: ["recovery", "lock.checkpoint"])
  func `checkpoints that no opening would find are refused`(name: String) throws {
    let place = store + ".checkpointed"
    let environment = try Fixture.open(place, Fixture.options(durability: .checkpointed))
    try environment.set([5], [6])
    #expect(environment.fileProblem(needsWriting: true) == nil)
    try FileManager.default.removeItem(atPath: place + "/" + name)
    #expect(environment.fileProblem(needsWriting: true) == .missing)
    #expect(failure { try environment.checkpoint() } == .replaced)
    #expect(try environment.value([5]) == [6])
    #expect(environment.close())
  }

  /// Sets the number of the newest commit in lock.mdb.
  private func setLockNumber(to number: UInt64) {
    let bytes = (0..<8).map { String(format: "\\%03o", Int(number >> (8 * $0) & 0xFF)) }.joined()
    let words = "of=\(store)/lock.mdb bs=1 seek=\(ReaderTable.commitPlace) conv=notrunc"
    #expect(Process.succeeds(["sh", "-c", "printf '\(bytes)' | dd \(words) 2>/dev/null"]))
  }

  @Test(arguments: [true, false])
  func `a lock file unlike the data stops writes, and reads if it is ahead`(isAhead: Bool) throws {
    let last = environment.lastTransaction
    setLockNumber(to: isAhead ? last + 1 : last - 1)
    if isAhead { #expect(failure { _ = try environment.value([5]) } == .lockMismatch) }
    #expect(failure { try environment.set([5], [7]) } == .lockMismatch)
    setLockNumber(to: last)
    #expect(try environment.value([5]) == [6])
    try environment.set([5], [7])
    #expect(try environment.value([5]) == [7])
    // A process whose LMDB has locks of another size finds another number in the place, and must not write to the file.
    setLockNumber(to: 0)
    let (lock, copy) = (store + "/lock.mdb", directory.path + "/copy")
    #expect(Process.succeeds(["cp", lock, copy]))
    #expect(try PeerProcess("hold", store).lines() == ["refused system"])
    #expect(Process.succeeds(["cmp", lock, copy]))
  }

  @Test func `a lock file full of zeros is an error, not a crash`() throws {
    _ = try environment.value([5])
    let command = "dd if=/dev/zero of=\(store)/lock.mdb bs=65536 count=1 conv=notrunc"
    #expect(Process.succeeds(["sh", "-c", command]))
    #expect(failure { _ = try environment.value([5]) } != nil)
    #expect(failure { try environment.set([5], [7]) } != nil)
    #expect(environment.close())
    #expect(try Fixture.open(store).value([5]) == [6])
  }
}

@Suite struct `The stamp of a store's directory` {
  let stamp = DirectoryStamp()
  let old = DirectoryStamp.Change(seconds: 1000, nanoseconds: 5_000_000)

  private func compares(
    _ change: DirectoryStamp.Change?, monotonic: Int64, wall: Int64, finds: Bool = true
  ) -> Bool {
    var isCompared = false
    let answer = stamp.check(change, monotonic: monotonic, wall: wall) {
      isCompared = true
      return finds
    }
    #expect(answer == (isCompared ? finds : true))
    return isCompared
  }

  @Test func `an unchanged directory is compared once, and again after its time`() {
    #expect(compares(old, monotonic: 0, wall: 2_000_000))
    #expect(!compares(old, monotonic: 1, wall: 2_000_001))
    #expect(!compares(old, monotonic: DirectoryStamp.longestTrust - 1, wall: 2_000_002))
    #expect(compares(old, monotonic: DirectoryStamp.longestTrust, wall: 2_000_003))
  }

  @Test func `a changed directory is compared`() {
    #expect(compares(old, monotonic: 0, wall: 2_000_000))
    let new = DirectoryStamp.Change(seconds: 1999, nanoseconds: 5_000_000)
    #expect(compares(new, monotonic: 1, wall: 2_000_001))
    #expect(!compares(new, monotonic: 2, wall: 2_000_002))
  }

  @Test func `a directory that changed just now is compared each time`() {
    let now = 1_000_005 + DirectoryStamp.clockStep
    #expect(compares(old, monotonic: 0, wall: now))
    #expect(compares(old, monotonic: 1, wall: now + 1))
    #expect(!compares(old, monotonic: 2, wall: now + 2))
  }

  @Test func `no time, a time without fractions and a time to come are compared each time`() {
    for change in [
      nil, DirectoryStamp.Change(seconds: 1000, nanoseconds: 0),
      DirectoryStamp.Change(seconds: 3000, nanoseconds: 5),
    ] {
      for monotonic in Int64(0)...3 {
        #expect(compares(change, monotonic: monotonic, wall: 2_000_000))
      }
    }
  }

  @Test func `a comparison that fails is not remembered`() {
    #expect(compares(old, monotonic: 0, wall: 2_000_000, finds: false))
    #expect(compares(old, monotonic: 1, wall: 2_000_000))
    #expect(!compares(old, monotonic: 2, wall: 2_000_000))
  }

  private func trusting(_ directory: TemporaryDirectory) throws -> Environment {
    let environment = try Fixture.open(directory.store)
    let start = ContinuousClock.now
    while ContinuousClock.now - start < .milliseconds(2 * DirectoryStamp.clockStep) {
      try environment.set([5], [7])
    }
    return environment
  }

  @Test(arguments: ["data.mdb", "lock.mdb", "lock.open", "lock.write", ""])
  func `the first write after a file was removed is refused, and reads go on`(name: String) throws {
    let directory = TemporaryDirectory()
    let environment = try trusting(directory)
    try FileManager.default.removeItem(atPath: directory.store + "/" + name)
    #expect(failure { try environment.set([5], [1]) } == .replaced)
    #expect(try environment.value([5]) == [7])
    #expect(environment.close())
  }

  @Test func `a renamed directory, and a file put in the place of another, are noticed`() throws {
    for isDirectory in [true, false] {
      let directory = TemporaryDirectory()
      let environment = try trusting(directory)
      let path = isDirectory ? directory.store : directory.store + "/data.mdb"
      try FileManager.default.copyItem(atPath: path, toPath: directory.path + "/copy")
      #expect(unsafe rename(path, directory.path + "/moved") == 0)
      #expect(unsafe rename(directory.path + "/copy", path) == 0)
      #expect(failure { try environment.set([5], [2]) } == .replaced)
    }
  }
}
