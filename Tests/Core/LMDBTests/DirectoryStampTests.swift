import Foundation
import LarderPeer
import TestSupport
import Testing

@testable import LMDB

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
      environment.close()
    }
  }
}
