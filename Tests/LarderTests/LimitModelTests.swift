import LMDB
import Testing

@testable import Larder

/// Random changes of three namespaces and of their limits, in two processes: after each, what the store holds is counted
/// anew and compared with its counters and with every limit.
@Suite struct LimitModelTests {
  /// `LARDER_TEST_SEED` sees a failure again, `LARDER_LIMIT_STEPS` makes the run longer or shorter.
  private static let seed = setting("LARDER_TEST_SEED", otherwise: .random(in: 0..<1_000_000))
  private static let steps = setting("LARDER_LIMIT_STEPS", otherwise: 100_000)

  @Test func `after every commit nothing holds more than it may`() throws {
    try withDirectory { path in
      var options = Store.Options()
      options.flushes = false
      let store = try Store(at: path + "/store", options: options)
      let peer = try OtherProcess("limits", path + "/store", "\(Self.seed)", "\(Self.steps / 20)")
      #expect(peer.line() == "open")
      do {
        var run = LimitRun(seed: Self.seed, store: store)
        for step in 1...Self.steps {
          try run.change()
          try run.check()
          if step % 10_000 == 0 { try #require(try store.verify().faults == []) }
        }
        #expect(run.refused < Self.steps / 4)
      } catch {
        Issue.record("LARDER_TEST_SEED=\(Self.seed): \(error)")
      }
      #expect(peer.line()?.hasPrefix("done") == true)
      #expect(try store.verify().faults == [])
      try store.close()
    }
  }
}

struct LimitRun {
  let store: Store
  var dice: Dice
  var refused = 0
  private let names = ["a", "b", "c"]

  struct Exceeded: Error, CustomStringConvertible {
    var description: String
  }

  init(seed: Int, store: Store) {
    self.store = store
    dice = Dice(seed: seed)
  }

  mutating func change() throws {
    do {
      try changeOnce()
    } catch let error as LarderError
      where [.full, .overLimit, .noSuchOwner, .noSuchNamespace].contains(error.code)
    {
      refused += 1
    }
  }

  private mutating func changeOnce() throws {
    let name = names[dice.roll(0..<3)]
    let notes = store.namespace(name)
    let key = "\(dice.roll(0..<60))"
    switch dice.roll(0..<100) {
    case 0..<55: try notes.set(value(), for: key, attributes())
    case 55..<65: let _: [UInt8]? = try notes.value(for: key)
    case 65..<72: try notes.remove(key)
    case 72..<76: try notes.touch(key, expires: life())
    case 76..<78: _ = try dice.chance(40) ? notes.pin(key) : notes.unpin(key)
    case 78..<84:
      let count = dice.roll(1..<15)
      try store.write { batch in
        for _ in 0..<count {
          try batch.set(value(), for: "\(dice.roll(0..<60))", in: notes, attributes())
        }
      }
    case 84..<88: try store.declare(rules(), for: name)
    case 88..<91:
      let overrides = Rules.Overrides(
        limits: dice.chance(30)
          ? nil
          : Limits(entries: dice.chance(50) ? nil : dice.roll(0..<40), bytes: Limits.unlimited))
      try store.override(overrides, for: name)
    case 91..<94:
      try store.declare(
        StoreLimits(
          entries: dice.chance(50) ? nil : dice.roll(10..<120),
          bytes: dice.chance(50) ? nil : dice.roll(500..<10_000)))
    case 94..<95: try notes.clear()
    case 95..<96: try store.purge()
    default: for key in 0..<60 { try notes.unpin("\(key)") }
    }
  }

  private mutating func value() -> [UInt8] {
    [UInt8](repeating: 7, count: dice.roll(0..<(dice.chance(90) ? 200 : 3000)))
  }

  private mutating func attributes() -> EntryAttributes {
    var attributes = EntryAttributes(expires: life())
    if dice.chance(5) { attributes.isPinned = true }
    if dice.chance(10) {
      attributes.owners = [Owner(Key("\(dice.roll(0..<60))"), in: names[dice.roll(0..<3)])]
    }
    return attributes
  }

  private mutating func life() -> Expiration {
    dice.chance(80) ? .never : .after(.milliseconds(dice.roll(0..<20)))
  }

  private mutating func rules() -> Rules {
    Rules(
      limits: Limits(
        entries: dice.chance(30) ? nil : dice.roll(1..<50),
        bytes: dice.chance(30) ? nil : dice.roll(100..<5000)),
      eviction: [.adaptive, .adaptive, .fifo, .refuse][dice.roll(0..<4)],
      priority: Priority.allCases[dice.roll(0..<3)])
  }

  /// One snapshot: each namespace and the store, counted anew.
  func check() throws {
    let engine = store.engine
    let transaction = try engine.beginRead()
    let limits = try engine.settings(in: transaction).limits
    var total = (entries: 0, bytes: 0)
    for namespace in try engine.namespaces(in: transaction) {
      let facts = namespace.facts
      var found = (entries: 0, bytes: 0)
      var cursor = try transaction.cursor(in: .main)
      let prefix = namespace.id.prefix
      var record = try cursor.seek(prefix.span)
      while let bytes = record, bytes.key.starts(with: prefix.span) {
        let header = EntryHeader(bytes.value)!
        found.entries += 1
        found.bytes += bytes.value.count - header.payloadStart
        record = try cursor.next()
      }
      guard found == (facts.entries, facts.bytes) else {
        throw Exceeded(description: "\(facts.name): found \(found), counted \(facts)")
      }
      guard facts.rules.limits.exceeded(by: namespace.counters) == nil else {
        throw Exceeded(description: "\(facts)")
      }
      total.entries += found.entries
      total.bytes += found.bytes
    }
    guard total.entries <= limits.entries ?? .max, total.bytes <= limits.bytes ?? .max else {
      throw Exceeded(description: "\(total) in a store limited to \(limits)")
    }
  }
}
