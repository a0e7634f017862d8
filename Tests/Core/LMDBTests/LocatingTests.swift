import LMDB
import LarderPeer
import TestSupport
import Testing

/// After `locate`, a write of the same key uses the found position instead of a second search. This must not change the result.
@Suite struct Locating {
  let directory = TemporaryDirectory()
  let environment: Environment

  init() throws { environment = try Fixture.open(directory.store) }

  @Test func `a located value is replaced and removed by whatever comes in between`() throws {
    var random = SeededRNG(seed: UInt64(seed))
    // The keys are long enough for three levels of pages, so that pages of the middle level split and merge as well.
    func key(_ number: Int) -> [UInt8] {
      Fixture.bytes(number) + [UInt8](repeating: 7, count: 392)
    }
    var depth = 0
    let databases = [Database.main, environment.databases[0]]
    var models: [[Int: [UInt8]]] = [[:], [:]]
    for _ in 0..<30 {
      let before = models
      let isKept = try keepingOrNot(&random) { transaction, random in
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
      }
      if !isKept { models = before }
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

  /// Runs a write, and discards the write in one of four cases. Returns whether the write was committed.
  private func keepingOrNot(
    _ random: inout SeededRNG,
    _ body: (inout WriteTransaction, inout SeededRNG) throws -> Void
  ) throws -> Bool {
    var generator = random
    defer { random = generator }
    do {
      try environment.write { transaction in
        try body(&transaction, &generator)
        if Int.random(in: 0..<4, using: &generator) == 0 { throw Stop() }
      }
      return true
    } catch is Stop {
      return false
    }
  }
}
