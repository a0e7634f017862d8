import TestSupport
import Testing

@testable import Larder

/// Compares reads through the memory tier with reads of the store, during all kinds of changes that can alter an answer.
@Suite struct MemoryModelTests {
  private static let seeds = TestSettings.seeds(corpus: 2)
  private static let steps = 1500

  @Test(arguments: seeds)
  func `memory changes no answer`(seed: UInt64) throws {
    try withTemporaryDirectory { path in
      do {
        var run = try MemoryRun(seed: seed, path: path)
        try run.run(steps: Self.steps)
      } catch {
        Issue.record("LARDER_SEED=\(seed): \(error)")
      }
    }
  }
}

private struct MemoryRun {
  private let seed: UInt64
  private var random: SeededRNG
  private let clock = ManualClock()
  private let store: Store
  private let peer: PeerProcess
  private let names = ["a", "b", "c"]
  private let codec = CountingCodec()
  private let keys = (0..<12).map { "k\($0)" } + [String(repeating: "k", count: 300)]
  private var hits: UInt64 = 0

  init(seed: UInt64, path: String) throws {
    self.seed = seed
    random = SeededRNG(seed: seed)
    var options = Store.Options(clock: clock)
    options.flushes = false
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

  /// Both reads of a pair see the same commits, because no other writer writes meanwhile.
  private mutating func compare() throws {
    let name = names[random.next(in: 0..<names.count)]
    let key = keys[random.next(in: 0..<keys.count)]
    let with = cache(name)
    let without = store.cache(codec, in: name, memory: MemoryLimits.off)
    let note: String = "LARDER_SEED=\(seed): \(name) \(key)"
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

  /// Sets the clock of the other process to the time of this process, and makes a change there. Returns after the change.
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
