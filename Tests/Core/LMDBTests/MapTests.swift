import LMDB
import LarderPeer
import TestSupport
import Testing

@Suite struct `The map` {
  let directory = TemporaryDirectory()
  private static let small = 1 << 20
  private func openSmall(lockTimeout: Duration = .seconds(10)) throws -> Environment {
    try Fixture.open(
      directory.store, Fixture.options(mapSize: Self.small, lockTimeout: lockTimeout))
  }

  private static let size = 65_536
  @Test func `grows as the store does`() throws {
    let environment = try openSmall()
    #expect(environment.info.mapSize == Self.small)
    try environment.store(0..<100)
    let info = environment.info
    #expect(info.mapSize >= 2 * info.pages * info.pageSize - 4 * Self.size)
    #expect(try environment.isWhole(0..<100))
  }

  @Test func `checkpoints are made while another thread moves the map`() throws {
    let environment = try Fixture.open(
      directory.store, Fixture.options(mapSize: Self.small, durability: .checkpointed))
    try environment.store([0])
    try inThreads(repeating: 1) { _ in
      try environment.checkpoint()
    } during: {
      for round in 0..<1000 { environment.setFileLimit((64 + round % 2) << 20) }
    }
    #expect(try environment.isWhole([0]))
  }

  @Test func `a transaction without room ends in an error, and the next try has room`() throws {
    let environment = try openSmall()
    let all: () throws -> Void = {
      try environment.write { transaction in
        for number in 0..<3 { try transaction.put(number, size: 900_000) }
      }
    }
    var tries = 1
    while let error = failure(all) {
      #expect(error == .mapFull)
      tries += 1
      try #require(tries < 6)
    }
    #expect(tries > 1)
    #expect(try environment.isWhole(0..<3, size: 900_000))
  }

  @Test func `a long read delays the growth and stays whole; afterwards the map grows`() throws {
    let environment = try openSmall()
    try environment.store([0])
    do {
      let read = try environment.beginRead()
      #expect(failure { try environment.store(1..<100) } == .mapFull)
      #expect(try read.copy(Fixture.bytes(0)) == Fixture.filling(0, count: Self.size))
      #expect(try environment.isWhole([3]))
    }
    #expect(environment.info.mapSize == Self.small)
    try environment.store(100..<130)
    #expect(environment.info.mapSize > Self.small)
  }

  @Test(arguments: [false, true])
  func `a reader or a writer follows a process that made the store larger`(writes: Bool) throws {
    let environment = try openSmall()
    let peer = try PeerProcess("grow", directory.store, ["80"], saying: "grown")
    #expect(environment.info.mapSize == Self.small)
    if writes { try environment.store([80]) }
    #expect(try environment.isWhole(0..<(writes ? 81 : 80)))
    #expect(environment.info.mapSize > 80 * Self.size)
    #expect(try peer.end() == 0)
  }

  @Test func `readers and writers follow another process at the same moment`() throws {
    for round in 0..<4 {
      let store = directory.store + "\(round)"
      let environment = try Fixture.open(store, Fixture.options(mapSize: Self.small))
      let peer = try PeerProcess("grow", store, ["40"])
      try inThreads(repeating: 5) { thread in
        switch thread {
        case 0:
          let error = failure { try environment.set([9], [9]) }
          #expect(error == nil || error == .mapFull)
        case 1: _ = environment.info
        default: _ = try environment.value(Fixture.bytes(1))
        }
      } during: {
        #expect(peer.line() == "grown")
      }
      #expect(try environment.isWhole(0..<40))
      #expect(try peer.end() == 0)
    }
  }

  @Test func `a long read that keeps the map from following another process is named`() throws {
    let environment = try openSmall(lockTimeout: .milliseconds(100))
    let peer = try PeerProcess("grow", directory.store, ["80"])
    do {
      let read = try environment.beginRead()
      #expect(peer.line() == "grown")
      #expect(failure { _ = try environment.value([1]) } == .mapHeld)
      #expect(failure { try environment.set([1], [1]) } == .mapHeld)
      #expect(try read.copy(Fixture.signature) == [1])
    }
    #expect(try environment.isWhole([79]))
    try environment.store([80])
  }

  @Test(arguments: [
    ("no-room", ["map-full true 1048576", "true", "true"]),
    ("no-room-for-limit", ["true", "map-full \(8 << 20)"]),
  ])
  func `without address space the map grows as far as it may, and on when it may`(
    scenario: String, expected: [String]
  ) throws {
    let lines = try PeerProcess(scenario, directory.store).lines()
    if lines == ["sanitized"] {
      print("skipped: a sanitizer takes more address space than there is a limit for")
      return
    }
    #expect(lines == expected)
  }
}
