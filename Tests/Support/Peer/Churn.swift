import Foundation
package import LMDB
import Larder
import Synchronization
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
  /// The number and the size of each stored value.
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

  /// Stores a new value for each key with a size, and removes the other keys. Returns false if there was no room.
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
    for key in Self.keys {
      let expected = model[key].map { Fixture.filling($0.number, count: $0.size) }
      guard try read.copy(Fixture.bytes(author) + Fixture.bytes(key)) == expected else {
        return false
      }
    }
    return true
  }

  /// `race STORE SEED ROUNDS CLIENT`: four threads make all kinds of calls at the same time as other peers do.
  ///
  /// Prints `sum N` for the increments that returned, `claims N` for the keys that this process stored first, and `WRONG` for a
  /// result that no order of calls explains.
  func race() throws {
    let opened = try Store(at: store)
    let rounds = argument(1)
    let client = argument(2)
    let sum = Atomic(0)
    let claims = Atomic(0)
    Peer.say("open")
    try inThreads(4) { thread in
      var random = SeededRNG(seed: UInt64(argument(0) * 100 + client * 4 + thread))
      for round in 0..<rounds {
        do {
          try raceOnce(opened, round, client * 4 + thread, &random, sum, claims)
        } catch let error as LarderError where error.code == .busy {
          // A process may have been stopped while it held the lock, so this call may fail.
        } catch {
          Peer.say("WRONG \(error)")
        }
      }
    }
    Peer.say("sum \(sum.load(ordering: .relaxed))")
    Peer.say("claims \(claims.load(ordering: .relaxed))")
    try opened.close()
    Peer.say("end")
  }

  private func raceOnce(
    _ store: Store, _ round: Int, _ writer: Int, _ random: inout SeededRNG,
    _ sum: borrowing Atomic<Int>, _ claims: borrowing Atomic<Int>
  ) throws {
    let notes = store.namespace("notes")
    switch random.next(in: 0..<20) {
    case 0...3:
      try store.namespace("sums").increment(random.next(in: 0..<4))
      sum.add(1, ordering: .relaxed)
    case 4...6:
      if try store.namespace("claims").setIfAbsent("\(writer)", for: round) {
        claims.add(1, ordering: .relaxed)
      }
    case 7...9:
      // These two entries always change together. A read that finds two different values is wrong.
      let value = "\(writer) \(round)"
      try store.write { batch in
        try batch.set(value, for: "left", in: notes)
        try batch.set(value, for: "right", in: notes)
      }
    case 10, 11:
      try store.read { snapshot in
        let left = try snapshot.value(for: "left", in: notes)
        let right = try snapshot.value(for: "right", in: notes)
        if left != right { Peer.say("WRONG \(left ?? []) beside \(right ?? [])") }
      }
    case 12...14:
      var attributes = EntryAttributes(expires: .after(.milliseconds(random.next(in: 1..<50))))
      attributes.tags = ["t\(round % 3)"]
      let key = random.next(in: 0..<60)
      try notes.set([UInt8](repeating: UInt8(key), count: key * 211), for: key, attributes)
    case 15:
      let key = random.next(in: 0..<60)
      if let value: [UInt8] = try notes.value(for: key),
        value != [UInt8](repeating: UInt8(key), count: key * 211)
      {
        Peer.say("WRONG value of \(key)")
      }
    case 16: try notes.remove(random.next(in: 0..<60))
    case 17: _ = try store.invalidate(tag: "t\(round % 3)")
    case 18: _ = try store.purge()
    default: try notes.scan { _, _ in true }
    }
  }
}
