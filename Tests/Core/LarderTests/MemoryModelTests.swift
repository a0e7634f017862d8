import TestSupport
import Testing

@testable import Larder

/// Compares reads through the memory tier with reads of the store, during all kinds of changes that can alter an answer.
@Suite struct MemoryModelTests {
  private static let seeds = TestSettings.seeds(corpus: 2)
  private static let steps = 1500
  private let directory = TemporaryDirectory()

  @Test(arguments: seeds) func `memory changes no answer`(seed: UInt64) throws {
    var run = try MemoryRun(seed: seed, path: directory.path)
    try run.run(steps: Self.steps)
  }
}

private struct MemoryRun {
  private var random: SeededRNG
  private let clock = ManualClock()
  private let store: Store
  private let peer: PeerProcess
  private let names = ["a", "b", "c"]
  private let codec = CountingCodec()
  private let keys = (0..<12).map { "k\($0)" } + [String(repeating: "k", count: 300)]
  private var hits: UInt64 = 0

  init(seed: UInt64, path: String) throws {
    random = SeededRNG(seed: seed)
    var options = with(Store.Options(clock: clock)) { $0.flushes = false }
    options.hooks.chunksAbove = random.chance(percent: 50) ? 2000 : nil
    store = try Store(at: path + "/s", options: options)
    peer = try PeerProcess("commands", store.path, ["manual"], saying: "open")
  }

  mutating func run(steps: Int) throws {
    for name in names { try store.declare(Rules(stale: .seconds(5)), for: name) }
    for step in 0..<steps {
      if random.chance(percent: 30) { try change(step) }
      if random.chance(percent: 20) { moveClock() }
      for _ in 0..<3 { try compare() }
    }
    let statistics = store.memory
    #expect(statistics.hits > UInt64(steps / 10) && statistics.revalidatedHits > UInt64(steps / 20))
    #expect(try store.verify().faults == [])
    try peer.endInput()
    #expect(peer.line() == "closed")
    try store.close()
  }

  private func cache(_ name: String) -> Cache<String> {
    store.cache(codec, in: name, memory: MemoryLimits(cost: 20_000, entries: 24))
  }

  /// Reads a key through the memory tier and from the store. Nothing writes meanwhile, so both reads see the same commits.
  private mutating func compare() throws {
    let name = names[random.next(in: 0..<names.count)]
    let key = keys[random.next(in: 0..<keys.count)]
    let with = cache(name)
    let without = store.cache(codec, in: name, memory: MemoryLimits.off)
    let note: String = "LARDER_SEED=\(random.seed): \(name) \(key)"
    #expect(try with.value(for: key) == without.value(for: key), "\(note)")
    if random.chance(percent: 30) {
      #expect(
        outcome { try with.strictValue(for: key) } == outcome { try without.strictValue(for: key) },
        "\(note)")
      #expect(try with.contains(key) == without.contains(key), "\(note)")
      #expect(try with.entry(for: key) == without.entry(for: key), "\(note)")
      let (one, other) = try store.read { moment in
        (try moment.value(for: key, in: with), try moment.value(for: key, in: without))
      }
      #expect(one == other, "\(note)")
    }
  }

  private func outcome(_ read: () throws -> String?) -> String? {
    do { return try read() } catch { return "\(error)" }
  }

  private mutating func value(_ step: Int) -> String {
    "\(step)"
      + String(repeating: "x", count: random.chance(percent: 90) ? random.next(in: 0..<40) : 5000)
  }

  private mutating func life() -> Expiration? {
    switch random.next(in: 0..<4) {
    case 0: nil
    case 1: .never
    default: .after(.milliseconds(random.next(in: 0..<20_000)))
    }
  }

  private mutating func change(_ step: Int) throws {
    let name = names[random.next(in: 0..<names.count)]
    let key = keys[random.next(in: 0..<keys.count)]
    let notes = store.namespace(name)
    switch random.next(in: 0..<100) {
    case 0..<25: try cache(name).set(value(step), for: key, expires: life())
    case 25..<40: try notes.set(value(step), for: key, expires: life())
    case 40..<45: try notes.set([0xFF, 0xFE], for: key)
    case 45..<52: try cache(name).remove(key)
    case 52..<58: try notes.touch(key, expires: life())
    case 58..<62: try notes.clear()
    case 62..<65:
      _ = failure { try store.rename(name, to: names[random.next(in: 0..<names.count)]) }
    case 65..<68: try store.purge()
    case 68..<75: try batch(step)
    case 75..<77: store.trimMemory(toFraction: 0.5)
    default: try tellPeer(step, name: name, key: key)
    }
  }

  private mutating func batch(_ step: Int) throws {
    let stops = random.chance(percent: 30)
    do {
      try store.write { batch in
        for _ in 0..<random.next(in: 1..<6) {
          let cache = cache(names[random.next(in: 0..<names.count)])
          let key = keys[random.next(in: 0..<keys.count)]
          if random.chance(percent: 70) {
            try batch.set(value(step), for: key, in: cache, expires: life())
          } else {
            try batch.remove(key, from: cache)
          }
          try compare()
        }
        if stops { throw Stop() }
      }
    } catch is Stop {}
  }

  /// Sets the clock of the other process to the time of this process. Then that process makes a change. Waits for both answers.
  private mutating func tellPeer(_ step: Int, name: String, key: String) throws {
    let life = random.next(in: 0..<20_000)
    let text = "text \(name) \(key) \(step) \(life)"
    let command = [
      text, text, text, "remove \(name) \(key)", "touch \(name) \(key) \(life)", "clear \(name)",
      "purge",
    ][random.next(in: 0..<7)]
    #expect(try peer.ask("clock \(clock.now.milliseconds)") == "done")
    #expect(try peer.ask(command) == "done")
  }

  private mutating func moveClock() {
    switch random.next(in: 0..<10) {
    case 0..<8: clock.advance(by: .milliseconds(random.next(in: 0..<3000)))
    case 8: clock.set(to: clock.now.advanced(by: .seconds(-random.next(in: 0..<90))))
    default: clock.advance(by: .minutes(random.next(in: 0..<3)))
    }
  }
}

@Suite struct MemoryPressureTests {
  private final class System: Sendable {
    let level = Shared(MemoryPressure.normal)
    let looks = Tally()
    func look() -> MemoryPressure {
      looks.add()
      return level.value
    }
  }

  private func fill(_ cache: Larder.Cache<String>, _ names: Range<Int>) throws {
    for index in names {
      try cache.set("v", for: "\(index)")
      _ = try cache.value(for: "\(index)")
    }
  }

  private func store(_ system: System, _ clock: ManualClock, trims: Bool = true) throws -> Store {
    var options = Store.Options(clock: clock)
    options.hooks.memoryPressure = { system.look() }
    options.trimsMemory = trims
    return try Store.temporary(options: options)
  }

  @Test func `decoded values go while memory is short, and stay without pressure`() throws {
    let (system, clock) = (System(), ManualClock())
    let store = try store(system, clock)
    let cache = store.cache(TextCodec(), in: "notes")
    let other = store.cache(TextCodec(), in: "others")
    try fill(cache, 0..<100)
    try fill(other, 0..<40)
    #expect(cache.memory?.usage.entries == 100)
    system.level.withLock { $0 = .warning }
    let before = system.looks.value
    try fill(cache, 100..<110)
    // The store asks the system for the level at most once a second, so the store does not know the new level yet.
    #expect(system.looks.value == before)
    clock.advance(by: .seconds(1))
    try fill(cache, 110..<111)
    #expect(system.looks.value == before + 1)
    #expect(cache.memory?.usage.entries == 56 && other.memory?.usage.entries == 20)
    clock.advance(by: .seconds(1))
    try fill(cache, 110..<111)
    #expect(cache.memory?.usage.entries == 56, "the level is an average of ten seconds")
    system.level.withLock { $0 = .critical }
    clock.advance(by: .seconds(1))
    try fill(cache, 111..<112)
    #expect(cache.memory?.usage.entries == 6 && other.memory?.usage.entries == 2)
    system.level.withLock { $0 = .normal }
    clock.advance(by: .seconds(1))
    try fill(cache, 112..<120)
    #expect(cache.memory?.usage.entries == 14)
    for index in 0..<120 { #expect(try cache.value(for: "\(index)") == "v") }
    #expect(try store.verify().faults == [])
  }

  @Test func `the option turns it off`() throws {
    let (system, clock) = (System(), ManualClock())
    system.level.withLock { $0 = .critical }
    let cache = try store(system, clock, trims: false).cache(TextCodec(), in: "notes")
    for index in 0..<3 {
      try fill(cache, index * 10..<index * 10 + 10)
      clock.advance(by: .seconds(2))
    }
    #expect(cache.memory?.usage.entries == 30 && system.looks.value == 0)
  }

  @Test func `the files of Linux tell the pressure, and what is no number tells none`() {
    func level(
      _ stalls: String? = nil, limit: String? = nil, statistics: String? = nil
    ) -> MemoryPressure { MemoryPressure(stalls: stalls, limit: limit, statistics: statistics) }
    let quiet =
      "some avg10=0.12 avg60=0.00 avg300=0.00 total=7\nfull avg10=0.00 avg60=0.00 avg300=0.00 total=3\n"
    #expect(level(quiet) == .normal)
    #expect(level(quiet.replacing("some avg10=0.12", with: "some avg10=12.50")) == .warning)
    #expect(level(quiet.replacing("full avg10=0.00", with: "full avg10=5.00")) == .critical)
    #expect(level(limit: "max\n", statistics: "anon 999999999\nfile 1\n") == .normal)
    #expect(level(limit: "1000\n", statistics: "anon 899\nfile 5000\n") == .normal)
    #expect(level(limit: "1000\n", statistics: "anon 900\nfile 1\n") == .warning)
    #expect(level(limit: "1000\n", statistics: "anon 970\nfile 1\n") == .critical)
    for text in ["", "\n\n", "some", "some avg10=", "full avg10=x\n", "anon", "-1", "\u{0}"] {
      #expect(level(text, limit: text, statistics: text) == .normal)
      #expect(level(text, limit: "0", statistics: "anon 5") == .normal)
    }
    // The memory pressure of this machine is not known, so this line only checks that the call succeeds.
    #expect(MemoryPressure.current() >= .normal)
  }
}
