import LMDB
import LarderSystem
import TestSupport
import Testing

@testable import Larder

/// Random changes of three namespaces and of their limits, in two processes. After each change, the test counts what the store
/// holds, and compares the counts with the counters and with every limit.
@Suite struct LimitModelTests {
  private static let seed = Int(TestSettings.seed)
  private static let steps = 10_000 * TestSettings.trials

  @Test func `after every commit nothing holds more than it may`() throws {
    var options = Store.Options()
    options.flushes = false
    try withStoreOnDisk(options) { store, _ in
      let peer = try PeerProcess(
        "limits", store.path, ["\(Self.seed)", "\(Self.steps / 20)"], saying: "open")
      do {
        var run = LimitRun(seed: Self.seed, store: store)
        for step in 1...Self.steps {
          try run.change()
          try run.check()
          if step % 10_000 == 0 { try #require(try store.verify().faults == []) }
        }
        #expect(run.refused < Self.steps / 4)
      } catch {
        Issue.record("LARDER_SEED=\(Self.seed): \(error)")
      }
      #expect(peer.line()?.hasPrefix("done") == true)
    }
  }
}

struct LimitRun {
  let store: Store
  var random: SeededRNG
  var refused = 0
  private let names = ["a", "b", "c"]

  struct Exceeded: Error, CustomStringConvertible {
    var description: String
  }

  init(seed: Int, store: Store) {
    self.store = store
    random = SeededRNG(seed: seed)
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
    let name = names[random.next(in: 0..<3)]
    let notes = store.namespace(name)
    let key = "\(random.next(in: 0..<60))"
    switch random.next(in: 0..<100) {
    case 0..<55: try notes.set(value(), for: key, attributes())
    case 55..<65: let _: [UInt8]? = try notes.value(for: key)
    case 65..<72: try notes.remove(key)
    case 72..<76: try notes.touch(key, expires: life())
    case 76..<78: _ = try random.chance(percent: 40) ? notes.pin(key) : notes.unpin(key)
    case 78..<84:
      let count = random.next(in: 1..<15)
      try store.write { batch in
        for _ in 0..<count {
          try batch.set(value(), for: "\(random.next(in: 0..<60))", in: notes, attributes())
        }
      }
    case 84..<88: try store.declare(rules(), for: name)
    case 88..<91:
      let overrides = Rules.Overrides(
        limits: random.chance(percent: 30)
          ? nil
          : Limits(
            entries: random.chance(percent: 50) ? nil : random.next(in: 0..<40),
            bytes: Limits.unlimited))
      try store.override(overrides, for: name)
    case 91..<94:
      try store.declare(
        StoreLimits(
          entries: random.chance(percent: 50) ? nil : random.next(in: 10..<120),
          bytes: random.chance(percent: 50) ? nil : random.next(in: 500..<10_000)))
    case 94..<95: try notes.clear()
    case 95..<96: try store.purge()
    default: for key in 0..<60 { try notes.unpin("\(key)") }
    }
  }

  private mutating func value() -> [UInt8] {
    [UInt8](repeating: 7, count: random.next(in: 0..<(random.chance(percent: 90) ? 200 : 3000)))
  }

  private mutating func attributes() -> EntryAttributes {
    var attributes = EntryAttributes(expires: life())
    if random.chance(percent: 5) { attributes.isPinned = true }
    if random.chance(percent: 10) {
      attributes.owners = [
        Owner(Key("\(random.next(in: 0..<60))"), in: names[random.next(in: 0..<3)])
      ]
    }
    return attributes
  }

  private mutating func life() -> Expiration {
    random.chance(percent: 80) ? .never : .after(.milliseconds(random.next(in: 0..<20)))
  }

  private mutating func rules() -> Rules {
    Rules(
      limits: Limits(
        entries: random.chance(percent: 30) ? nil : random.next(in: 1..<50),
        bytes: random.chance(percent: 30) ? nil : random.next(in: 100..<5000)),
      eviction: [.adaptive, .adaptive, .fifo, .refuse][random.next(in: 0..<4)],
      priority: Priority.allCases[random.next(in: 0..<3)])
  }

  /// Checks one snapshot: counts each namespace and the store anew.
  func check() throws {
    let engine = store.engine
    let transaction = try engine.beginRead()
    let limits = try engine.metadata.settings(in: transaction).limits
    var total = (entries: 0, bytes: 0)
    for namespace in try engine.metadata.namespaces(in: transaction) {
      let facts = namespace.facts
      var found = (entries: 0, bytes: 0)
      var cursor = try transaction.cursor(in: .entries)
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
      guard
        facts.rules.limits.exceeded(
          by: Usage(entries: namespace.counters.entries, bytes: namespace.counters.bytes)) == nil
      else {
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
