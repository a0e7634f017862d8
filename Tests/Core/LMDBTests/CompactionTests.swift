import Foundation
import LMDB
import LarderPeer
import TestSupport
import Testing

@Suite struct Compaction {
  let directory = TemporaryDirectory()
  let environment: Environment
  init() throws { environment = try Fixture.open(directory.store) }

  /// All records of both databases. Omits LMDB's own record about the second database, which LMDB keeps in the main database.
  private func records(_ environment: Environment) throws -> [[UInt8]: [UInt8]] {
    let read = try environment.beginRead()
    var records: [[UInt8]: [UInt8]] = [:]
    for (mark, database) in [(UInt8(0), Database.main), (1, environment.databases[0])] {
      var cursor = try read.cursor(in: database)
      while let record = try cursor.next() {
        if record.key.array == Array("second".utf8) { continue }
        records[[mark] + record.key.array] = record.value.array
      }
    }
    return records
  }

  private func fill() throws {
    var random = SeededRNG(seed: seed)
    let databases = [Database.main, environment.databases[0]]
    for round in 0..<40 {
      try environment.write { transaction in
        for number in round * 50..<(round + 1) * 50 {
          let count = Int.random(in: 1...20_000, using: &random)
          try transaction.put(number, size: count, in: databases[number % 2])
        }
      }
    }
    try environment.write { transaction in
      for number in 0..<2000 where number % 5 != 0 {
        try transaction.remove(number, from: databases[number % 2])
      }
    }
  }

  @Test func `the file shrinks; its records and what follows its last commit stay`() throws {
    try fill()
    let before = try records(environment)
    let (size, last) = (environment.fileSize, environment.lastTransaction)
    var steps: [Int] = []
    try environment.closeCompacting { done, all in
      steps.append(done)
      #expect(all == before.count + 1)
      return true
    }
    #expect(steps == steps.sorted() && steps.last == before.count + 1)
    #expect(!environment.isOpen)
    let again = try Fixture.open(directory.store)
    #expect(again !== environment)
    #expect(again.fileSize < size / 3, "\(size) and \(again.fileSize), LARDER_SEED=\(seed)")
    #expect(try records(again) == before, "LARDER_SEED=\(seed)")
    #expect(again.lastTransaction >= last && again.lastTransaction <= last + 2)
    try again.set([7], [8])
    try again.closeCompacting { _, _ in true }
    #expect(try Fixture.open(directory.store).value([7]) == [8])
    #expect(!FileManager.default.fileExists(atPath: directory.store + "/data.mdb.new"))
    #expect(try permissions(of: directory.store + "/data.mdb") == 0o600)
  }

  @Test func `an empty environment, and one without commits, can be compacted`() throws {
    try environment.closeCompacting { _, _ in true }
    #expect(try Fixture.open(directory.store).value(Fixture.signature) == [1])
  }

  @Test func `with another process present it is refused, and all goes on`() throws {
    let peer = try PeerProcess("hold", directory.store, saying: "open")
    #expect(failure { try environment.closeCompacting { _, _ in true } } == .occupied)
    try environment.set([5], [6])
    // The refused compaction keeps the lock that marks this process as present, so this opening does not harm the peer.
    #expect(refusal(directory.store) == nil)
    #expect(try peer.end() == 0)
    #expect(failure { try environment.closeCompacting { _, _ in true } } == .closed)
    try Fixture.open(directory.store).closeCompacting { _, _ in true }
    #expect(try Fixture.open(directory.store).value([5]) == [6])
  }

  @Test func `nobody can open it meanwhile`() throws {
    try fill()
    var peer: PeerProcess?
    try environment.closeCompacting { _, _ in
      if peer == nil {
        peer = try? PeerProcess("hold", directory.store)
        usleep(200_000)
        #expect(peer?.soFar == [])
      }
      return true
    }
    #expect(peer?.line() == "open")
    #expect(try peer?.end() == 0)
  }

  @Test func `stopped, it leaves everything as it was`() throws {
    try fill()
    let before = try records(environment)
    var steps = 0
    let error = failure {
      try environment.closeCompacting { _, _ in
        steps += 1
        return steps < 2
      }
    }
    #expect(error == .stopped)
    #expect(environment.isOpen)
    #expect(try records(environment) == before)
    try environment.set([5], [6])
    #expect(!FileManager.default.fileExists(atPath: directory.store + "/data.mdb.new"))
  }

  @Test func `a read that does not end keeps the old file`() throws {
    let environment = try Fixture.open(
      directory.path + "/impatient", Fixture.options(lockTimeout: .milliseconds(50)))
    try environment.set([5], [6])
    let size = environment.fileSize
    try {
      let read = try environment.beginRead()
      #expect(failure { try environment.closeCompacting { _, _ in true } } == .mapHeld)
      #expect(try read.copy([5]) == [6])
    }()
    #expect(environment.isOpen && environment.fileSize == size)
    try environment.set([5], [7])
    #expect(try environment.value([5]) == [7])
  }

  @Test(.timeLimit(.minutes(60)))
  func `a kill at any moment leaves the old file or the new one, and nothing else`() throws {
    var random = SeededRNG(seed: UInt64(seed))
    try fill()
    let expected = try records(environment)
    environment.close()
    var (finished, leftovers) = (0, 0)
    for round in 0..<25 * TestSettings.trials {
      let peer = try PeerProcess("compact", directory.store, saying: "open")
      // In every fifth round the test waits for the end of a compaction, so a few compactions finish even on a busy machine.
      if round % 5 == 4 {
        if peer.line() != nil { finished += 1 }
      } else {
        usleep(useconds_t.random(in: 0..<40_000, using: &random))
      }
      peer.kill()
      finished += peer.lines().count
      let unfinished = directory.store + "/data.mdb.new"
      if FileManager.default.fileExists(atPath: unfinished) { leftovers += 1 }
      let again = try Fixture.open(directory.store)
      #expect(try records(again) == expected, "LARDER_SEED=\(seed), round \(round)")
      #expect(!FileManager.default.fileExists(atPath: unfinished))
      again.close()
    }
    #expect(finished > 0, "LARDER_SEED=\(seed)")
    print("kills: \(finished) compactions finished, \(leftovers) killed within (seed \(seed))")
  }

  @Test func `a copy beside writers shows one commit`() throws {
    let peer = try PeerProcess("number", directory.store, ["1"])
    #expect(eventually { peer.soFar.count > 100 })
    var last = 0
    for round in 0..<5 {
      let path = directory.path + "/copy\(round)"
      try environment.copyCompacted(to: path) { _, _ in true }
      let copy = try Fixture.open(path)
      let number = try #require(try Numbering.verify(copy))
      #expect(number > last)
      last = number
      let commits = peer.soFar.count
      #expect(eventually { peer.soFar.count > commits })
    }
    peer.kill()
  }

  @Test func `a copy of a temporary environment is not temporary`() throws {
    let environment = try Fixture.open(
      directory.path + "/temporary", Fixture.options(durability: .temporary))
    try environment.set([5], [6])
    try environment.copyCompacted(to: directory.path + "/copy") { _, _ in true }
    let copy = try Fixture.open(directory.path + "/copy")
    #expect(copy.durability == .scratch)
    #expect(try copy.value([5]) == [6])
  }

  @Test func `a copy goes where nothing is, and stopped it is not there`() throws {
    func refused(_ path: String, _ shouldContinue: Bool = true) -> OpenError? {
      openError { () throws(OpenError) in
        try environment.copyCompacted(to: path) { _, _ in shouldContinue }
      }
    }
    #expect(refused(directory.store)?.kind == .exists)
    #expect(refused(directory.path + "/no/copy")?.kind == .absentParent)
    #expect(refused(directory.path + "/copy", false)?.cause == .stopped)
    #expect(try FileManager.default.contentsOfDirectory(atPath: directory.path) == ["store"])
    #expect(refused(directory.path + "/copy/") == nil)
    #expect(refusal(directory.path + "/copy") == nil)
    // The accent joins the slash to one character.
    #expect(refused(directory.path + "/\u{301}x") == nil)
    let unfinished = directory.path + "/.shared.unfinished"
    try makePrivateDirectory(unfinished)
    guard geteuid() == 0 else { return print("skipped: only root can give a directory away") }
    try FileManager.default.setAttributes([.ownerAccountID: 65_534], ofItemAtPath: unfinished)
    #expect(refused(directory.path + "/shared")?.kind == .inTheWay, "others could read the copy")
  }
}
