import Foundation
import LMDB
import LarderPeer
import Testing

@Suite struct `Pages that a write can count on` {
  let directory: TemporaryDirectory
  init() throws { directory = try TemporaryDirectory() }

  private struct Undo: Error {}
  private static let limit = 4 << 20

  private func open(_ name: String = "") throws -> Environment {
    try Fixture.open(directory.store + name, Fixture.options(durability: .temporary))
  }

  /// Runs `body` in a write whose changes are taken back.
  private func attempt(
    _ environment: Environment, _ body: (inout WriteTransaction) throws -> Void
  ) throws {
    do {
      try environment.write { transaction in
        try body(&transaction)
        throw Undo()
      }
    } catch is Undo {
    }
  }

  @Test func `those in use and the free ones are all pages of the file`() throws {
    let environment = try open()
    environment.setFileLimit(Self.limit)
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
        #expect(used + free == environment.info.pages, "seed \(seed), round \(round)")
        #expect(try transaction.usedPages(of: [.main, second]) == used)
      }
    }
  }

  @Test func `a write takes as many as are available, and no more`() throws {
    let environment = try open()
    environment.setFileLimit(Self.limit)
    var churn = Churn(environment, limit: Self.limit, seed: seed, largest: 30_000)
    var random = SplitMix(state: UInt64(seed))
    var ofLists = 0
    for round in 0..<setting("LARDER_TEST_ROUNDS", otherwise: 25) {
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

  /// Puts values into an empty database, of which each page is one that was available. How many must fit is known from
  /// the same puts in a store with all room.
  ///
  /// - Returns: how many of the available pages were free ones within the file.
  private func takeAll(
    _ environment: Environment, _ random: inout SplitMix, _ round: Int
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
          "seed \(seed), round \(round): \(needed[number]) of \(available)")
        if error != nil || !fits { return }
      }
      Issue.record("all of \(available) pages were not enough to fail, seed \(seed)")
    }
    return fromLists
  }

  /// How many pages the first, the first two... of these puts take together.
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

  @Test func `a run that is promised is found, and one that is not is not there`() throws {
    let environment = try open()
    environment.setFileLimit(Self.limit)
    var churn = Churn(environment, limit: Self.limit, seed: seed, largest: 60_000)
    var random = SplitMix(state: UInt64(seed))
    var outcomes = [false: 0, true: 0]
    for round in 0..<setting("LARDER_TEST_ROUNDS", otherwise: 100) {
      if round % 4 == 3 {
        try keepLists(environment, &churn)
      } else {
        try churn.run(6)
      }
      let size = Int.random(
        in: 2100..<4096 << Int.random(in: 1...6, using: &random), using: &random)
      let isTight = environment.info.pages + size / 4096 + 3 > Self.limit / 4096
      let (promised, found) = try lookForRun(environment, size: size)
      #expect(promised == found, "seed \(seed), round \(round), \(size)")
      if isTight { outcomes[found]! += 1 }
    }
    #expect(outcomes[true]! > 5 && outcomes[false]! > 5, "seed \(seed): \(outcomes)")
  }

  /// A reader keeps LMDB from using what the writes meanwhile free, so that there are many lists afterwards.
  private func keepLists(_ environment: Environment, _ churn: inout Churn) throws {
    let read = try environment.beginRead()
    for number in 0..<200 {
      let error = failure { try environment.set(Fixture.bytes(number % 7), [1]) }
      #expect(error == nil || error == .mapFull)
    }
    try churn.run(2)
    #expect(try read.copy(Fixture.signature) == [1])
  }

  /// Whether a run for a value of `size` bytes is promised, and whether LMDB finds it. The value's database is empty:
  /// LMDB takes one page for its root before the run.
  private func lookForRun(_ environment: Environment, size: Int) throws -> (Bool, Bool) {
    var outcome = (false, false)
    try attempt(environment) { transaction in
      let pages = try transaction.pages(forValueOf: size)
      #expect(pages == (size + 15) / 4096 + 1)
      outcome.0 = try transaction.hasRun(of: pages, afterTaking: 1, limit: Self.limit)
      let error = failure {
        try transaction.put(
          Fixture.filling(1, count: size).span, for: [1].span, in: environment.databases[0])
      }
      #expect(error == nil || error == .mapFull)
      outcome.1 = error == nil
    }
    return outcome
  }

  @Test func `a run is there even after as many single pages as were allowed for`() throws {
    let environment = try open()
    environment.setFileLimit(Self.limit)
    var churn = Churn(environment, limit: Self.limit, seed: seed, largest: 40_000)
    var random = SplitMix(state: UInt64(seed))
    var promises = 0
    for round in 0..<setting("LARDER_TEST_ROUNDS", otherwise: 100) {
      if round % 4 == 3 {
        try keepLists(environment, &churn)
      } else {
        try churn.run(6)
      }
      let singles = Int.random(in: 0...60, using: &random)
      let taken = Int.random(in: 0...singles, using: &random)
      try attempt(environment) { transaction in
        let pages = Int.random(in: 2...30, using: &random)
        guard try transaction.hasRun(of: pages, afterTaking: singles + 1, limit: Self.limit) else {
          return
        }
        promises += 1
        // One page for the root, one for each value beside it; the root does not split.
        for number in 0..<taken {
          let value = Fixture.filling(number, count: 3000)
          try transaction.put(
            value.span, for: [UInt8(number)].span, in: environment.databases[0])
        }
        #expect(
          try transaction.statistics(of: environment.databases[0]).pages
            == (taken > 0 ? taken + 1 : 0))
        let value = Fixture.filling(1, count: pages * 4096 - 16)
        let error = failure {
          try transaction.put(value.span, for: [255].span, in: environment.databases[0])
        }
        #expect(error == nil, "seed \(seed), round \(round): \(pages) after \(taken)")
      }
    }
    #expect(promises > 5)
  }

  @Test func `asking changes nothing, before or after changes`() throws {
    let environment = try open()
    environment.setFileLimit(Self.limit)
    var churn = Churn(environment, limit: Self.limit, seed: seed)
    try churn.run(100)
    try environment.write { transaction in
      let before = try transaction.availablePages(upTo: .max, limit: Self.limit)
      try transaction.put([1].span, for: [1].span, in: environment.databases[0])
      #expect(try transaction.availablePages(upTo: .max, limit: Self.limit) == before)
      _ = try transaction.hasRun(of: 1000, limit: Self.limit)
      try transaction.put([2].span, for: [2].span, in: environment.databases[0])
    }
    #expect(try environment.value([1], in: environment.databases[0]) == [1])
    #expect(try environment.value([2], in: environment.databases[0]) == [2])
    #expect(try churn.isIntact())
  }

  @Test func `a smaller limit than the map's counts fewer pages behind the last one`() throws {
    let environment = try open()
    environment.setFileLimit(Self.limit)
    try environment.set([1], [1])
    try attempt(environment) { transaction in
      let pages = environment.info.pages
      let all = try transaction.availablePages(upTo: .max, limit: Self.limit)
      #expect(try transaction.availablePages(upTo: .max, limit: Self.limit * 2) == all)
      let fewer = try transaction.availablePages(upTo: .max, limit: (pages + 10) * 4096)
      let none = try transaction.availablePages(upTo: .max, limit: pages * 4096)
      #expect(fewer == none + 10)
      #expect(all == none + Self.limit / 4096 - 1 - pages)
      #expect(try transaction.availablePages(upTo: .max, limit: 0) == none)
      #expect(try transaction.hasRun(of: 10, limit: (pages + 10) * 4096))
      #expect(try !transaction.hasRun(of: 11, limit: (pages + 10) * 4096))
    }
  }

  @Test func `the pages that a write freed are there for the next but one`() throws {
    let environment = try open()
    environment.setFileLimit(Self.limit)
    let big = Fixture.filling(1, count: 200_000)
    try environment.set(Fixture.bytes(1), big)
    for number in 2..<6 { try environment.set(Fixture.bytes(number), [1]) }
    func reusable() throws -> Int {
      var pages = 0
      try attempt(environment) { pages = try $0.availablePages(upTo: .max, limit: 0) }
      return pages
    }
    let before = try reusable()
    try environment.write { _ = try $0.remove(Fixture.bytes(1).span, from: .main) }
    #expect(try reusable() < before + 40)
    try environment.set(Fixture.bytes(2), [2])
    #expect(try reusable() >= before + 40)
  }
}
