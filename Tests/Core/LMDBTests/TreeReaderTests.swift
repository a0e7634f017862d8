import LMDB
import LarderPeer
import TestSupport
import Testing

/// Compares Larder's reader of pages, which read transactions use, with LMDB itself, which write transactions use.
@Suite struct `Reading pages` {
  let directory = TemporaryDirectory()

  /// Random keys of 1 to 500 bytes, many of which begin with the same bytes. Random values of zero bytes to several pages.
  private struct Content {
    var random: SeededRNG

    mutating func key() -> [UInt8] {
      let number = random.next(in: 0..<1500)
      let head: [UInt8] =
        switch number % 7 {
        case 0: []
        case 1: [0, 0, 0, 1]
        case 2: [UInt8](repeating: 0, count: number % 24)
        case 3: [UInt8](repeating: 255, count: number % 17)
        case 4: Array("a common beginning of some bytes".utf8)
        case 5: [UInt8](repeating: 7, count: number % 480)
        default: [0]
        }
      return head + Fixture.bytes(number).suffix(1 + number % 8)
    }

    mutating func value() -> [UInt8] {
      let size =
        random.chance(percent: 6) ? random.next(in: 1900..<14_000) : random.next(in: 0..<300)
      return Fixture.filling(random.next(in: 0..<1 << 30), count: size)
    }
  }

  @Test func `every lookup and every move answers as LMDB does`() throws {
    for seed in TestSettings.seeds(corpus: 1) {
      let environment = try Fixture.open(
        directory.store + "\(seed)", Fixture.options(durability: .temporary))
      var content = Content(random: SeededRNG(seed: seed))
      // Makes the first comparison while the second database has no records.
      try compare(environment, &content, seed)
      for round in 0..<12 {
        try change(environment, round: round, &content)
        try compare(environment, &content, seed)
      }
    }
  }

  private func change(_ environment: Environment, round: Int, _ content: inout Content) throws {
    for _ in 0..<5 {
      try environment.write { transaction in
        for database in [.main] + environment.databases {
          for _ in 0..<content.random.next(in: 1..<300) {
            let key = content.key()
            // In every third round most steps are removals, so pages merge until the trees have only a few pages.
            if content.random.chance(percent: round % 3 == 2 ? 85 : 25) {
              if key != Fixture.signature { try transaction.remove(key.span, from: database) }
            } else {
              try transaction.put(content.value().span, for: key.span, in: database)
            }
          }
        }
      }
    }
  }

  private func compare(
    _ environment: Environment, _ content: inout Content, _ seed: UInt64
  ) throws {
    // The write changes nothing, so LMDB and Larder's reader see the same commit.
    try environment.write { transaction in
      let read = try environment.beginRead()
      for database in [.main] + environment.databases {
        for _ in 0..<800 {
          let key = content.key()
          let expected = try transaction.copy(key, in: database)
          let found = try read.copy(key, in: database)
          try #require(found == expected, "seed \(seed), key \(key)")
        }
        try compareMoves(transaction, read, database, &content, seed)
        try compareRuns(transaction, read, database, &content, seed)
        #expect(try read.statistics(of: database) == transaction.statistics(of: database))
      }
      #expect(try read.damagedPages(databases: environment.databases) == [])
    }
  }

  private func compareMoves(
    _ transaction: borrowing WriteTransaction, _ read: borrowing ReadTransaction,
    _ database: Database, _ content: inout Content, _ seed: UInt64
  ) throws {
    var theirs = try transaction.cursor(in: database)
    var ours = try read.cursor(in: database)
    var moves: [String] = []
    // The last ten moves are: last, next, next, previous, next, previous, first, previous, previous, next.
    let ends = [1, 20, 20, 70, 20, 70, 0, 70, 70, 20]
    for step in 0..<3000 + ends.count {
      let key = step % 500 == 0 ? [] : content.key()
      let move = step < 3000 ? content.random.next(in: 0..<100) : ends[step - 3000]
      let (expected, found): ([UInt8]?, [UInt8]?)
      switch move {
      case 0: (expected, found) = (try theirs.first()?.joined, try ours.first()?.joined)
      case 1: (expected, found) = (try theirs.last()?.joined, try ours.last()?.joined)
      case 2..<20:
        (expected, found) = (try theirs.seek(key.span)?.joined, try ours.seek(key.span)?.joined)
      case 20..<70: (expected, found) = (try theirs.next()?.joined, try ours.next()?.joined)
      default: (expected, found) = (try theirs.previous()?.joined, try ours.previous()?.joined)
      }
      moves.append("\(move)")
      try #require(found == expected, "seed \(seed), moves \(moves.suffix(8)), key \(key)")
    }
    var (record, other) = (try theirs.first()?.joined, try ours.first()?.joined)
    while record != nil || other != nil {
      try #require(record == other, "seed \(seed)")
      (record, other) = (try theirs.next()?.joined, try ours.next()?.joined)
    }
  }

  private func compareRuns(
    _ transaction: borrowing WriteTransaction, _ read: borrowing ReadTransaction,
    _ database: Database, _ content: inout Content, _ seed: UInt64
  ) throws {
    for _ in 0..<20 {
      let key = content.key()
      var theirs = try transaction.cursor(in: database)
      var record = try theirs.seek(key.span)?.joined
      var runs = try read.runs(from: key.span, in: database)
      while runs.count > 0 {
        for index in 0..<runs.count {
          let found =
            Fixture.bytes(runs.key(index).count) + runs.key(index).array + runs.value(index).array
          try #require(found == record, "seed \(seed), key \(key)")
          record = try theirs.next()?.joined
        }
        try runs.next()
      }
      try #require(record == nil, "seed \(seed), key \(key)")
    }
  }
}

extension Cursor.Record {
  fileprivate var joined: [UInt8] { Fixture.bytes(key.count) + key.array + value.array }
}

/// After `locate`, a write of the same key uses the found position instead of a second search. The result must not change.
@Suite struct Locating {
  let directory = TemporaryDirectory()
  let environment: Environment
  init() throws { environment = try Fixture.open(directory.store) }

  @Test func `a located value is replaced and removed by whatever comes in between`() throws {
    var random = SeededRNG(seed: UInt64(seed))
    // The keys are long enough for three levels of pages, so that pages of the middle level split and merge as well.
    func key(_ number: Int) -> [UInt8] { Fixture.bytes(number) + [UInt8](repeating: 7, count: 392) }
    var depth = 0
    let databases = [Database.main, environment.databases[0]]
    var models: [[Int: [UInt8]]] = [[:], [:]]
    for _ in 0..<30 {
      let before = models
      do {
        try environment.write { transaction in
          for _ in 0..<200 {
            let database = Int.random(in: 0..<2, using: &random)
            let number = Int.random(in: 0..<400, using: &random)
            let name = key(number)
            let found = try transaction.locate(name.span, in: databases[database])?.array
            #expect(found == models[database][number], "LARDER_SEED=\(seed)")
            if Bool.random(using: &random) {
              // Before the write, changes a key of a random database: in one of ten cases the located key, else another key.
              let elsewhere = Int.random(in: 0..<2, using: &random)
              let other = Int.random(in: 0..<10, using: &random) == 0 ? number : number ^ 1
              let bytes = key(other)
              if Bool.random(using: &random) {
                try transaction.put([7, 7].span, for: bytes.span, in: databases[elsewhere])
                models[elsewhere][other] = [7, 7]
              } else {
                let wasThere = try transaction.remove(bytes.span, from: databases[elsewhere])
                #expect(wasThere == (models[elsewhere].removeValue(forKey: other) != nil))
              }
            }
            if Int.random(in: 0..<4, using: &random) == 0 {
              let wasThere = try transaction.remove(name.span, from: databases[database])
              #expect(wasThere == (models[database].removeValue(forKey: number) != nil))
            } else {
              let isLarge = Int.random(in: 0..<20, using: &random) == 0
              let count = Int.random(in: 0..<(isLarge ? 9000 : 300), using: &random)
              let value = Fixture.filling(
                number, count: Bool.random(using: &random) ? found?.count ?? count : count)
              try transaction.put(count: value.count, for: name.span, in: databases[database]) {
                for byte in value { $0.append(byte) }
              }
              models[database][number] = value
            }
          }
          if random.chance(percent: 25) { throw Stop() }
        }
      } catch is Stop { models = before }
      let read = try environment.beginRead()
      for (database, model) in zip(databases, models) {
        let statistics = try read.statistics(of: database)
        #expect(statistics.records >= model.count)
        depth = max(depth, statistics.depth)
        for number in 0..<400 {
          let region = try read.find(key(number).span, in: database)
          #expect(region.map { read.bytes(of: $0).array } == model[number], "LARDER_SEED=\(seed)")
        }
      }
    }
    #expect(depth >= 3)
  }
}
