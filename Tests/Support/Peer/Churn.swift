package import LMDB
import TestSupport

/// Random writes, replacements and removals of values of all sizes in a store with a limit, compared with a model.
///
/// Each author has keys of its own, so several processes with different authors can change one store at the same time.
package struct Churn {
  package struct LimitPassed: Error {
    let size: Int
    let limit: Int
  }

  private static let keys = 0..<1000
  private let environment: Environment
  private let limit: Int
  private let author: Int
  private let largest: Int
  private var random: SeededRNG
  /// The number and the size of the value of each stored key.
  private var model: [Int: (number: Int, size: Int)] = [:]
  private var next = 0
  package private(set) var commits = 0
  /// The number of writes that found no room.
  package private(set) var refusals = 0

  package init(
    _ environment: Environment, limit: Int, author: Int = 0, seed: Int, largest: Int = 120_000
  ) {
    self.environment = environment
    self.limit = limit
    self.author = author
    self.largest = largest
    random = SeededRNG(seed: UInt64(seed) &+ UInt64(author) &* 7919)
  }

  /// Makes `count` writes. When a write finds no room, removes about a tenth of the values.
  package mutating func run(_ count: Int) throws {
    for _ in 0..<count {
      if try !write() {
        refusals += 1
        for key in model.keys.sorted() where Int.random(in: 0..<10, using: &random) == 0 {
          if try !change([(key, nil)]) { break }
        }
      }
    }
  }

  private mutating func write() throws -> Bool {
    try change(
      (0..<Int.random(in: 1...6, using: &random)).map { _ in
        let key = Int.random(in: Self.keys, using: &random)
        return (key, Int.random(in: 0..<8, using: &random) == 0 ? nil : size())
      })
  }

  private mutating func size() -> Int {
    switch Int.random(in: 0..<4, using: &random) {
    case 0: Int.random(in: 8..<200, using: &random)
    case 1: Int.random(in: 200..<2100, using: &random)
    case 2: Int.random(in: 2100..<9000, using: &random)
    default: Int.random(in: 9000..<max(largest, 9001), using: &random)
    }
  }

  /// Stores a new value for each key with a size, and removes the other keys. Returns false if no room was left.
  private mutating func change(_ changes: [(key: Int, size: Int?)]) throws -> Bool {
    var changed = model
    do {
      try environment.write { transaction in
        for (key, size) in changes {
          let name = Fixture.bytes(author) + Fixture.bytes(key)
          if let size {
            next += 1
            let value = Fixture.filling(next, count: size)
            try transaction.put(value.span, for: name.span, in: .main)
            changed[key] = (next, size)
          } else {
            try transaction.remove(name.span, from: .main)
            changed[key] = nil
          }
        }
      }
    } catch let error as LMDBError where error == .mapFull {
      try checkSize()
      return false
    }
    model = changed
    commits += 1
    try checkSize()
    return true
  }

  private func checkSize() throws {
    let size = environment.fileSize
    if size > limit { throw LimitPassed(size: size, limit: limit) }
  }

  package func isIntact() throws -> Bool {
    let read = try environment.beginRead()
    return try Self.keys.allSatisfy { key in
      let expected = model[key].map { Fixture.filling($0.number, count: $0.size) }
      return try read.copy(Fixture.bytes(author) + Fixture.bytes(key)) == expected
    }
  }
}
