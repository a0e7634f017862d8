import LMDB
import LarderPeer
import TestSupport
import Testing

@Suite struct `Pages that a write can count on` {
  let directory = TemporaryDirectory()
  static let limit = 4 << 20

  func open(_ name: String = "", limit: Int? = nil) throws -> Environment {
    let options = Fixture.options(durability: .temporary)
    let environment = try Fixture.open(directory.store + name, options)
    if let limit { environment.setFileLimit(limit) }
    return environment
  }

  /// Runs `body` in a write, and discards the changes.
  func attempt(_ environment: Environment, _ body: (inout WriteTransaction) throws -> Void) throws {
    do {
      try environment.write { transaction in
        try body(&transaction)
        throw Stop()
      }
    } catch is Stop {}
  }

  @Test func `those in use and the free ones are all pages of the file`() throws {
    let environment = try open(limit: Self.limit)
    var churn = Churn(environment, limit: Self.limit, seed: seed)
    let second = environment.databases[0]
    for round in 0..<60 {
      try churn.run(5)
      let error = failure {
        try environment.set(
          Fixture.bytes(round % 9), Fixture.filling(round, count: 700 * round), in: second)
      }
      #expect(error == nil || error == .mapFull)
      try environment.write { transaction in
        let used = try transaction.usedPages(of: [second])
        let free = try environment.beginRead().freePages()
        #expect(used + free == environment.info.pages, "LARDER_SEED=\(seed), round \(round)")
        #expect(try transaction.usedPages(of: [.main, second]) == used)
      }
    }
  }

  @Test func `a write takes as many as are available, and no more`() throws {
    let environment = try open(limit: Self.limit)
    var churn = Churn(environment, limit: Self.limit, seed: seed, largest: 30_000)
    var random = SeededRNG(seed: UInt64(seed))
    var ofLists = 0
    for round in 0..<25 * TestSettings.trials {
      try churn.run(20)
      if round % 3 == 1 {
        let read = try environment.beginRead()
        try churn.run(10)
        ofLists += try takeAll(environment, &random, round)
        #expect(try read.copy(Fixture.signature) == [1])
      } else {
        ofLists += try takeAll(environment, &random, round)
      }
    }
    #expect(ofLists > 100)
  }

  /// Stores values in an empty database until no page is available. Expects the number of stored values that `pagesNeeded`
  /// gives. `pagesNeeded` stores the same values in a store with enough room.
  ///
  /// - Returns: how many of the available pages were free pages within the file.
  private func takeAll(
    _ environment: Environment, _ random: inout SeededRNG, _ round: Int
  ) throws -> Int {
    let sizes = (0..<2000).map { _ in Int.random(in: 20..<4000, using: &random) }
    let needed = try pagesNeeded(for: sizes, round)
    var fromLists = 0
    try attempt(environment) { transaction in
      let second = environment.databases[0]
      let available = try transaction.availablePages(upTo: .max, limit: Self.limit)
      fromLists = available - max(Self.limit / 4096 - 1 - environment.info.pages, 0)
      let enough = try transaction.availablePages(upTo: available / 2, limit: Self.limit)
      #expect(enough >= available / 2 && enough <= available)
      for (number, size) in sizes.enumerated() {
        let value = Fixture.filling(number, count: size)
        let error = failure {
          try transaction.put(value.span, for: Fixture.bytes(number * 7919 % 2003).span, in: second)
        }
        let fits = needed[number] <= available
        #expect(
          error == (fits ? nil : .mapFull),
          "LARDER_SEED=\(seed), round \(round): \(needed[number]) of \(available)")
        if error != nil || !fits { return }
      }
      Issue.record("all of \(available) pages were not enough to fail, LARDER_SEED=\(seed)")
    }
    return fromLists
  }

  /// The number of pages of the database after each put, if values of these sizes are stored one after the other.
  private func pagesNeeded(for sizes: [Int], _ round: Int) throws -> [Int] {
    let roomy = try open("-roomy")
    var needed: [Int] = []
    try attempt(roomy) { transaction in
      let second = roomy.databases[0]
      for (number, size) in sizes.enumerated() {
        let value = Fixture.filling(number, count: size)
        try transaction.put(value.span, for: Fixture.bytes(number * 7919 % 2003).span, in: second)
        needed.append(try transaction.statistics(of: second).pages)
      }
    }
    return needed
  }

  @Test func `a commit finds what it needs if that much is left`() throws {
    let environment = try open()
    var random = SeededRNG(seed: UInt64(seed))
    var total = 0
    for round in 0..<20 * TestSettings.trials {
      let limit = max(Self.limit, environment.info.pages * 4096 + 4096 * (round % 4) * 20)
      environment.setFileLimit(limit)
      var churn = Churn(environment, limit: limit, author: round, seed: seed, largest: 30_000)
      try churn.run(round == 0 ? 400 : 30)
      let removals = round % 2 == 0 ? 0 : Int.random(in: 1..<400, using: &random)
      let error = failure {
        let stored = try takeAllButCommit(environment, limit: limit, removals: removals)
        total += stored
        // A removal needs new pages, so this write runs without a limit.
        environment.setFileLimit(nil)
        try environment.write { transaction in
          for number in 0..<stored {
            try transaction.remove(number, from: environment.databases[0])
          }
        }
      }
      #expect(error == nil, "LARDER_SEED=\(seed), round \(round)")
    }
    #expect(total > 50, "LARDER_SEED=\(seed)")
  }

  /// Removes values and stores other values until only the pages for the commit are left. Returns the number of stored values.
  private func takeAllButCommit(_ environment: Environment, limit: Int, removals: Int) throws -> Int
  {
    let second = environment.databases[0]
    return try environment.write { transaction in
      let available = try transaction.availablePages(upTo: .max, limit: limit)
      let before = try transaction.statistics(of: .main)
      var touched = 0
      for number in 0..<removals {
        let name = Fixture.bytes(0) + Fixture.bytes(number)
        if try transaction.remove(name.span, from: .main) { touched += before.depth }
      }
      let freed = try before.pages - transaction.statistics(of: .main).pages + touched
      // An upper bound for the number of pages that a commit needs to rewrite the free lists, for up to twelve named databases.
      // LMDB stores one list of all pages that the transaction frees, which needs consecutive pages: one for each 500 pages.
      let left = 32 + (available + freed) / 128
      var stored = 0
      while try transaction.statistics(of: second).pages + touched + left + 3 < available {
        try transaction.put(stored, size: 3000, in: second)
        stored += 1
      }
      return stored
    }
  }

  @Test func `a smaller limit than the map's counts fewer pages behind the last one`() throws {
    let environment = try open(limit: Self.limit)
    try environment.set([1], [1])
    try attempt(environment) { transaction in
      let pages = environment.info.pages
      let all = try transaction.availablePages(upTo: .max, limit: Self.limit)
      #expect(try transaction.availablePages(upTo: .max, limit: Self.limit * 2) == all)
      let fewer = try transaction.availablePages(upTo: .max, limit: (pages + 10) * 4096)
      let none = try transaction.availablePages(upTo: .max, limit: pages * 4096)
      #expect(fewer == none + 10)
      #expect(all == none + Self.limit / 4096 - 1 - pages)
      let behind = transaction.pagesBehindLast(limit: (pages + 10) * 4096)
      #expect(behind == 10)
      let most = transaction.pagesBehindLast(limit: Self.limit)
      #expect(most == all - none)
      #expect(try transaction.availablePages(upTo: .max, limit: 0) == none)
      #expect(try transaction.hasRun(of: 10, limit: (pages + 10) * 4096))
      #expect(try !transaction.hasRun(of: 11, limit: (pages + 10) * 4096))
    }
  }
}
