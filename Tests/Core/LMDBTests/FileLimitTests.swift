import LMDB
import LarderPeer
import TestSupport
import Testing

@Suite struct `The file's limit` {
  let directory = TemporaryDirectory()
  private static let limit = 4 << 20
  private func open(
    limit: Int? = nil, mapSize: Int = 64 << 20, lockTimeout: Duration = .seconds(10)
  ) throws -> Environment {
    let environment = try Fixture.open(
      directory.store,
      Fixture.options(mapSize: mapSize, lockTimeout: lockTimeout, durability: .temporary))
    if let limit { environment.setFileLimit(limit) }
    return environment
  }

  /// Stores values of `size` bytes until no room is left, and returns the number of stored values.
  @discardableResult
  private func fill(_ target: Environment, from first: Int = 0, size: Int = 3000) throws -> Int {
    var stored = first
    let error = failure {
      while stored < 1_000_000 {
        try target.set(Fixture.bytes(stored), Fixture.filling(stored, count: size))
        stored += 1
      }
    }
    try #require(error == .mapFull)
    return stored - first
  }

  @Test func `the map has the limit's size, in whole pages, as soon as it is set`() throws {
    let environment = try open()
    #expect(environment.fileLimit == nil)
    let before = environment.info.mapSize
    environment.setFileLimit(Self.limit + 4095)
    #expect(environment.fileLimit == Self.limit + 4095)
    #expect(environment.info.mapSize == Self.limit)
    environment.setFileLimit(Self.limit * 2)
    #expect(environment.info.mapSize == Self.limit * 2)
    environment.setFileLimit(nil)
    #expect(environment.fileLimit == nil)
    #expect(environment.info.mapSize == before)
  }

  @Test func `is used to the last page but one, and never passed`() throws {
    let environment = try open(limit: Self.limit)
    try fill(environment)
    #expect(environment.fileSize <= Self.limit)
    #expect(environment.fileSize >= Self.limit - 16 * 4096)
    #expect(failure { try fill(environment, from: 100_000, size: 100) } == nil)
    #expect(environment.fileSize <= Self.limit)
  }

  @Test func `holds whatever is written, replaced and removed`() throws {
    for round in 0..<4 * TestSettings.trials {
      let store = directory.store + "\(round)"
      let environment = try Fixture.open(store, Fixture.options(durability: .temporary))
      let limit = Self.limit + round * 500_003
      environment.setFileLimit(limit)
      var churn = Churn(environment, limit: limit, seed: seed + round)
      try churn.run(300)
      #expect(try churn.isIntact(), "LARDER_SEED=\(seed), round \(round)")
      let counts = "\(churn.commits) writes, \(churn.refusals) refused"
      #expect(
        churn.commits > 100 && churn.refusals > 5, "LARDER_SEED=\(seed), round \(round): \(counts)")
    }
  }

  @Test func `holds for two processes that write at once`() throws {
    let environment = try open(limit: Self.limit)
    let arguments = ["\(Self.limit)", "1", "\(seed)", "300"]
    let peer = try PeerProcess("churn-in-limit", directory.store, arguments, saying: "open")
    try peer.tell("go")
    var churn = Churn(environment, limit: Self.limit, seed: seed)
    try churn.run(300)
    #expect(try churn.isIntact(), "LARDER_SEED=\(seed)")
    let counts = try #require(peer.line()).split(separator: " ")
    #expect(counts.last == "true", "LARDER_SEED=\(seed): \(counts)")
    #expect(
      churn.refusals + (Int(counts[1]) ?? 0) > 40,
      "LARDER_SEED=\(seed): \(churn.refusals) \(counts)")
    #expect(try peer.end() == 0)
  }

  @Test func `below the file's size: the file stops growing at once, and raised it grows`() throws {
    let environment = try open()
    try environment.store(0..<1000, size: 8000)
    let pages = environment.info.pages
    environment.setFileLimit(Self.limit)
    #expect(environment.info.mapSize == pages * environment.info.pageSize)
    try fill(environment, from: 10_000, size: 8000)
    #expect(environment.info.pages == pages)
    #expect(try environment.value(Fixture.bytes(999)) == Fixture.filling(999, count: 8000))

    environment.setFileLimit(pages * 4096 + Self.limit)
    #expect(try fill(environment, from: 20_000) > 500)
    #expect(environment.info.pages > pages)
    #expect(environment.fileSize <= pages * 4096 + Self.limit)
    environment.setFileLimit(nil)
    try environment.store(30_000..<32_000, size: 8000)
    #expect(environment.fileSize > 2000 * 8000)
  }

  @Test func `does not outlive the environment's end in this process`() throws {
    let environment = try open(limit: Self.limit)
    try fill(environment)
    environment.close()
    environment.setFileLimit(nil)
    let anew = try open()
    #expect(anew.fileLimit == nil)
    try anew.set([1], Fixture.filling(1, count: 100_000))
    #expect(anew.fileSize > Self.limit)
  }

  @Test func `is each process's own, a forked child's too`() throws {
    let limit = Self.limit
    #expect(
      try PeerProcess("fork-with-limit", directory.store, ["\(limit)"]).lines() == [
        "write forked", "own none", "mapped \(limit / 2)", "child ended 0",
        "parent \(limit) \(limit)", "map-full true", "anew true",
      ])
  }

  @Test func `a limit set while a read is under way holds from the next write on`() throws {
    let environment = try open(mapSize: 16 << 20, lockTimeout: .milliseconds(100))
    try environment.store([0])
    let before = environment.info.mapSize
    do {
      let read = try environment.beginRead()
      environment.setFileLimit(Self.limit)
      #expect(failure { try environment.store([1]) } == .mapHeld)
      #expect(try read.copy(Fixture.bytes(0)) == Fixture.filling(0, count: 65_536))
      #expect(try environment.isWhole([0]))
    }
    #expect(environment.info.mapSize == before)
    try environment.store([1])
    #expect(environment.info.mapSize == Self.limit)
  }

  @Test func `a limit set inside a write holds from the next one on`() throws {
    let environment = try open(mapSize: 16 << 20)
    try environment.write { transaction in
      environment.setFileLimit(Self.limit)
      for number in 0..<100 { try transaction.put(number, size: 65_536) }
    }
    let pages = environment.info.pages
    #expect(pages * 4096 > Self.limit)
    #expect(failure { try environment.store([100]) } == .mapFull)
    #expect(environment.info.pages == pages)
  }

  @Test func `a raised limit does not wait for a long read`() throws {
    let environment = try open(limit: Self.limit, mapSize: 16 << 20)
    try environment.store([0])
    do {
      let read = try environment.beginRead()
      environment.setFileLimit(2 * Self.limit)
      try environment.store([1])
      #expect(environment.info.mapSize == Self.limit)
      #expect(try read.copy(Fixture.bytes(1)) == nil)
    }
    // The open read prevented a larger map. Now a write that finds no room fails, and the next write enlarges the map.
    for number in 1..<110 {
      if let error = failure({ try environment.store([number]) }) {
        #expect(error == .mapFull)
        try environment.store([number])
      }
    }
    #expect(environment.info.mapSize == 2 * Self.limit)
  }

  @Test(arguments: [false, true])
  func `a writer and a reader with a limit follow a process that has none`(reads: Bool) throws {
    let environment = try open(limit: Self.limit, mapSize: 16 << 20)
    let peer = try PeerProcess("grow", directory.store, ["120"], saying: "grown")
    let pages = environment.info.pages
    if reads {
      #expect(environment.info.mapSize == Self.limit)
      #expect(try environment.isWhole(0..<120))
      #expect(environment.info.mapSize == pages * environment.info.pageSize)
    }
    #expect(failure { try environment.store([120]) } == .mapFull)
    #expect(environment.info.pages == pages)
    try environment.set(Fixture.bytes(0), [1])
    #expect(try environment.isWhole([119]))
    #expect(try peer.end() == 0)
  }

  @Test func `threads read whole values while the limit changes and another writes`() throws {
    let environment = try open(mapSize: 16 << 20)
    try environment.store(0..<20)
    try inThreads(repeating: 4) { thread in
      if thread == 0 {
        environment.setFileLimit(8 << 20)
      } else {
        let whole = try environment.isWhole(0..<20)
        #expect(whole)
      }
    } during: {
      for number in 0..<300 {
        if number % 3 == 0 { environment.setFileLimit((2 + number % 5) << 20) }
        if number % 7 == 0 { environment.setFileLimit(nil) }
        let error = failure { try environment.store([20 + number % 60]) }
        #expect(error == nil || error == .mapFull)
      }
    }
    environment.setFileLimit(nil)
    for number in 0..<80 {
      let value = try environment.value(Fixture.bytes(number))
      #expect(value == nil || value == Fixture.filling(number, count: 65_536))
    }
  }
}
