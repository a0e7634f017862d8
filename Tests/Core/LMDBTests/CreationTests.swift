import CLarderSystem
import Foundation
import LMDB
import LarderPeer
import LarderSystem
import TestSupport
import Testing

@Suite struct Creation {
  let directory = TemporaryDirectory()

  @Test func `a new store has only our files, private to the user, whatever the umask`() throws {
    let peer = try PeerProcess("hold", directory.store, under: inShell("umask 000"), saying: "open")
    let names = try FileManager.default.contentsOfDirectory(atPath: directory.store)
    #expect(
      names.sorted() == [
        "data.mdb", "lock.checkpoint", "lock.maps", "lock.mdb", "lock.open", "lock.opening",
        "lock.queue", "lock.readers", "lock.write",
      ])
    for name in names { #expect(try permissions(of: directory.store + "/" + name) == 0o600) }
    #expect(try permissions(of: directory.store) == 0o700)
    #expect(try peer.end() == 0)
  }

  @Test func `the lock file has all its blocks`() throws {
    try Fixture.open(directory.store).close()
    #expect(try lockFileBytes().size == ReaderTable.fileSize)
    #expect(try lockFileBytes().allocated >= ReaderTable.fileSize)
    // Simulates another LMDB program, which leaves a lock file without allocated blocks. The next opening must allocate blocks.
    try truncate("lock.mdb", to: 0)
    try truncate("lock.mdb", to: ReaderTable.fileSize)
    try Fixture.open(directory.store).close()
    #expect(try lockFileBytes().allocated >= ReaderTable.fileSize)
  }

  private func lockFileBytes() throws -> (size: Int, allocated: Int) {
    let status = try #require(FileStatus.of(directory.store + "/lock.mdb"))
    return (Int(status.st_size), Int(status.st_blocks) * 512)
  }

  /// An opening shortens a lock file that is too long, except if another process has the store open.
  @Test(arguments: [false, true])
  func `a lock file that is far too long is not filled with blocks`(isShared: Bool) throws {
    let peer = try PeerProcess("hold", directory.store, saying: "open")
    if !isShared { #expect(try peer.end() == 0) }
    try truncate("lock.mdb", to: 1 << 30)
    let environment = try Fixture.open(directory.store)
    try environment.set([5], [6])
    #expect(try lockFileBytes().allocated < 1 << 20)
    #expect(try isShared || lockFileBytes().size == ReaderTable.fileSize)
    environment.close()
    if isShared { #expect(try peer.end() == 0) }
  }

  private func truncate(_ name: String, to length: Int) throws {
    try FileDescriptor(opening: directory.store + "/" + name, O_RDWR).truncate(length)
  }

  @Test func `a store is prepared before anybody sees it, and an error leaves no store`() throws {
    let error = openError { () throws(OpenError) in
      _ = try Environment.open(at: directory.store, options: Fixture.options()) {
        transaction throws(LMDBError) in
        try transaction.put([1].span, for: [5].span, in: .main)
        throw .diskFull
      }
    }
    #expect(error?.kind == .notCreated && error?.cause == .diskFull)
    let names = try FileManager.default.contentsOfDirectory(atPath: directory.store)
    #expect(!names.contains { $0.hasPrefix("data.mdb") })
    #expect(try Fixture.open(directory.store).value(Fixture.signature) == [1])
  }

  @Test func `what a killed creation left is replaced`() throws {
    try makePrivateDirectory(directory.store)
    try makePrivateFile(directory.store + "/data.mdb.new", Data(repeating: 7, count: 5000))
    for name in ["data.mdb", "lock.opening"] { try makePrivateFile(directory.store + "/" + name) }
    #expect(try Fixture.open(directory.store).value(Fixture.signature) == [1])
    #expect(!FileManager.default.fileExists(atPath: directory.store + "/data.mdb.new"))
  }

  @Test func `a kill during creation never leaves a store that cannot be opened`() throws {
    let rounds = 40 * TestSettings.trials
    var random = SeededRNG(seed: UInt64(seed))
    var finished = 0
    for round in 0..<rounds {
      let store = directory.store + "\(round)"
      let peer = try PeerProcess("hold", store)
      // Waits for the directory, because a peer starts slowly. The creation then takes 1 or 2 ms, so many kills interrupt it.
      #expect(eventually { FileManager.default.fileExists(atPath: store) })
      usleep(useconds_t.random(in: 0..<3000, using: &random))
      peer.kill()
      if peer.soFar == ["open"] { finished += 1 }
      let environment = try Fixture.open(store)
      #expect(
        try environment.value(Fixture.signature) == [1], "LARDER_SEED=\(seed), round \(round)")
      try environment.set([5], [6])
    }
    #expect(finished < rounds)
  }
}
