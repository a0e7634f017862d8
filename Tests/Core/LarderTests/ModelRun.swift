import LMDB
import TestSupport
import Testing

@testable import Larder

@Suite struct ModelTests {
  /// `make trials` runs these tests with more seeds and with more steps for each seed.
  private static let seeds = TestSettings.seeds(corpus: 6)
  private static let steps = TestSettings.trials > 1 ? 2000 : 1200
  private let directory = TemporaryDirectory()

  @Test(arguments: seeds)
  func `whatever is done, the store does what the model says`(seed: UInt64) throws {
    var run = try ModelRun(seed: seed, path: directory.path)
    try run.run(steps: Self.steps)
  }
}

struct ModelRun {
  private let path: String
  private let options: Store.Options
  private let clock = ManualClock()
  var store: Store
  var model: Model
  var random: SeededRNG
  private let names = ["a", "b", "c"]
  let keys: [[UInt8]]
  private var commit: UInt64 = 0

  init(seed: UInt64, path: String) throws {
    var random = SeededRNG(seed: seed)
    var options = with(Store.Options(clock: clock)) { $0.flushes = false }
    // The timer never fires, so with the write buffer only steps of the run commit.
    options.writeBuffer = random.chance(percent: 50) ? 256 << 10 : 0
    options.hooks.timer = { _, _ in }
    options.hooks.chunksAbove = random.chance(percent: 50) ? 2000 : nil
    self.options = options
    self.path = path + "/store"
    store = try Store(at: self.path, options: options)
    model = Model(now: clock.now.milliseconds)
    model.monotonic = Int64(clock.monotonic / .milliseconds(1))
    model.opened = (model.now, model.monotonic)
    let head = [UInt8](repeating: 0x70, count: 238)
    var keys = ["a", "ab", "b", "\u{0}", "a\u{0}", "\u{10FFFF}"].map { Array($0.utf8) }
    keys += (0..<5).map { head + [$0] }
    keys += (0..<8).map { head + [UInt8](repeating: $0 / 2, count: 11 + Int($0) * 7) }
    keys += (0..<5).map { _ in random.bytes(random.next(in: 1..<600)) }
    // The order of a set differs from run to run, so the keys are sorted. Their order then depends only on the seed.
    self.keys = Set(keys).sorted { $0.lexicographicallyPrecedes($1) }
    self.random = random
  }

  mutating func run(steps: Int) throws {
    for step in 1...steps {
      try change()
      if step % 400 == 0 || step == steps { try compare() }
    }
    try store.close()
  }

  private mutating func change() throws {
    commit = store.engine.environment.lastTransaction
    let name = names[random.next(in: 0..<names.count)]
    let key = keys[random.next(in: 0..<keys.count)]
    switch random.next(in: 0..<100) {
    case 0..<26: try put(key, in: name)
    case 26..<31: try putIfAbsent(key, in: name)
    case 31..<39:
      #expect(try store.namespace(name).remove(key) == model.remove(key, in: name))
      settleAfterWrite()
    case 39..<47: try touch(key, in: name)
    case 47..<62:
      #expect(try store.namespace(name).bytes(key) == model.get(key, in: name))
      // A write removes at most 64 of the expired entries that reads found. The model removes all, so a count keeps them few.
      if model.spaces.values.reduce(0, { $0 + $1.asked.count }) > 30 { try count(name) }
    case 62..<67:
      #expect(try store.namespace(name).contains(key) == (model.fresh(key, in: name) != nil))
    case 67..<71: try list(name)
    case 71..<75: try batch()
    case 75..<79: try purge(only: random.chance(percent: 50) ? name : nil)
    case 79..<81: try clear(name)
    case 81..<83: try rename(name)
    case 83..<86: try declare(name)
    case 86..<88: try count(name)
    case 88..<89: try reopen()
    default: moveClock()
    }
  }

  /// Makes the removals that the commit of a write also makes. A write to the write buffer makes no commit.
  private mutating func settleAfterWrite() {
    if store.engine.environment.lastTransaction != commit { model.settle() }
  }

  private mutating func value() -> [UInt8] {
    let sizes = [
      0, 1, random.next(in: 0..<50), random.next(in: 0..<3000), 4096,
      random.next(in: 4000..<12_000),
    ]
    let size = sizes[
      random.chance(percent: 70) ? random.next(in: 0..<3) : random.next(in: 0..<sizes.count)]
    return [UInt8](repeating: UInt8(random.next(in: 0..<256)), count: size)
  }

  private mutating func life() -> Expiration {
    switch random.next(in: 0..<5) {
    case 0: .never
    case 1: .at(clock.now.advanced(by: .milliseconds(random.next(in: -5..<20_000))))
    case 2: .after(.microseconds(random.next(in: 0..<3_000_000)))
    default: .after(.seconds(random.next(in: 0..<60)))
    }
  }

  private mutating func attributes() -> EntryAttributes {
    var attributes = EntryAttributes(expires: random.chance(percent: 70) ? life() : nil)
    if random.chance(percent: 20) { attributes.stale = .seconds(random.next(in: 0..<20)) }
    if random.chance(percent: 40) {
      attributes.tags = (0..<random.next(in: 1..<4)).map { "tag \($0)" }.shuffled(using: &random)
    }
    if random.chance(percent: 20) { attributes.entityTag = [UInt8(random.next(in: 0..<256))] }
    if random.chance(percent: 30) { attributes.isPinned = random.chance(percent: 30) }
    return attributes
  }

  private mutating func put(_ key: [UInt8], in name: String) throws {
    let (value, attributes) = (value(), attributes())
    try store.namespace(name).set(value, for: key, attributes)
    model.put(value, for: key, in: name, attributes: attributes)
    settleAfterWrite()
  }

  private mutating func putIfAbsent(_ key: [UInt8], in name: String) throws {
    let (value, attributes) = (value(), attributes())
    let isAbsent = model.fresh(key, in: name) == nil
    let did = try store.namespace(name).putIfAbsent(value.span, for: key, attributes: attributes)
    #expect(did == isAbsent)
    if isAbsent { model.put(value, for: key, in: name, attributes: attributes) }
    settleAfterWrite()
  }

  private mutating func touch(_ key: [UInt8], in name: String) throws {
    let life: Expiration? =
      switch random.next(in: 0..<3) {
      case 0: nil
      case 1: .never
      default: life()
      }
    let isTouched = try store.namespace(name).touch(key, expires: life)
    #expect(isTouched == model.touch(key, in: name, expires: life))
    settleAfterWrite()
  }

  private mutating func batch() throws {
    let before = model
    let stops = random.chance(percent: 30)
    do {
      try store.write { batch in
        for _ in 0..<random.next(in: 1..<20) {
          let name = names[random.next(in: 0..<names.count)]
          let key = keys[random.next(in: 0..<keys.count)]
          let notes = store.namespace(name)
          if random.chance(percent: 60) {
            let (value, life) = (value(), random.chance(percent: 50) ? life() : nil)
            try batch.set(value, for: key, in: notes, expires: life)
            model.put(value, for: key, in: name, attributes: EntryAttributes(expires: life))
          } else if random.chance(percent: 70) {
            #expect(try batch.remove(key, from: notes) == model.remove(key, in: name))
          } else if random.chance(percent: 80) {
            #expect(try batch.value(for: key, in: notes) == model.fresh(key, in: name))
          } else {
            #expect(try batch.clear(notes) == model.clear(name))
          }
        }
        if stops { throw Stop() }
      }
      model.settle()
    } catch is Stop { model = before }
  }

  private mutating func purge(only: String?) throws {
    let removal = try only.map { try store.namespace($0).purge() } ?? store.purge()
    if removal.skippedAfterClockJump {
      #expect(!model.isClockPlausible)
      #expect(removal.entries == 0)
    } else {
      #expect(removal == model.purge(only: only))
    }
    model.settle()
  }

  private mutating func clear(_ name: String) throws {
    if random.chance(percent: 80) {
      #expect(try store.namespace(name).clear() == model.clear(name))
    } else {
      var expected = RemovalResult()
      for name in names { expected += model.clear(name) }
      #expect(try store.clear() == expected)
    }
    model.settle()
  }

  private mutating func rename(_ name: String) throws {
    let other = names[random.next(in: 0..<names.count)]
    let outcome = failure { try store.rename(name, to: other) }
    if model.spaces[name] == nil {
      #expect(outcome == .noSuchNamespace)
    } else if name != other, model.spaces[other] != nil {
      #expect(outcome == .exists)
    } else {
      #expect(outcome == nil)
      model.spaces[other] = model.spaces.removeValue(forKey: name)
      model.settle()
    }
  }

  private mutating func declare(_ name: String) throws {
    let rules = Rules(
      expires: life(), stale: .seconds(random.chance(percent: 50) ? random.next(in: 0..<20) : 0))
    try store.declare(rules, for: name)
    model.spaces[name, default: Model.Space()].rules = rules
    model.settle()
  }

  private mutating func count(_ name: String) throws {
    let count = try store.namespace(name).count()
    model.settle()
    #expect(count == model.spaces[name]?.entries.count ?? 0)
  }

  private mutating func reopen() throws {
    try store.close()
    model.settle()
    store = try Store(at: path, options: options)
    model.opened = (clock.now.milliseconds, Int64(clock.monotonic / .milliseconds(1)))
  }

  private mutating func moveClock() {
    switch random.next(in: 0..<100) {
    case 0..<80: clock.advance(by: .milliseconds(random.next(in: 0..<8000)))
    case 80..<90: clock.advance(by: .minutes(random.next(in: 1..<300)))
    case 90..<92: clock.advance(by: .days(random.next(in: 1..<4)))
    case 92..<97: clock.set(to: clock.now.advanced(by: .seconds(-random.next(in: 1..<200))))
    default: clock.set(to: clock.now.advanced(by: .hours(random.next(in: 1..<30))))
    }
    model.now = clock.now.milliseconds
    model.monotonic = Int64(clock.monotonic / .milliseconds(1))
  }
}
