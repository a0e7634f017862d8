import Synchronization
import TestSupport
import Testing

@testable import Larder

@Suite struct MemoryPressureTests {
  private final class System: Sendable {
    let level = Atomic(MemoryPressure.normal.rawValue)
    let looks = Atomic(0)
    func look() -> MemoryPressure {
      looks.add(1, ordering: .relaxed)
      return MemoryPressure(rawValue: level.load(ordering: .relaxed))!
    }
  }

  private func fill(_ cache: Larder.Cache<String>, _ names: Range<Int>) throws {
    for index in names {
      try cache.set("v", for: "\(index)")
      _ = try cache.value(for: "\(index)")
    }
  }

  private func store(
    _ system: System, _ clock: ManualClock, trims: Bool = true
  ) throws -> Store {
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
    system.level.store(MemoryPressure.warning.rawValue, ordering: .relaxed)
    let before = system.looks.load(ordering: .relaxed)
    try fill(cache, 100..<110)
    // The store asks the system at most once a second, so it does not know the new level yet.
    #expect(system.looks.load(ordering: .relaxed) == before)
    clock.advance(by: .seconds(1))
    try fill(cache, 110..<111)
    #expect(system.looks.load(ordering: .relaxed) == before + 1)
    #expect(cache.memory?.usage.entries == 56 && other.memory?.usage.entries == 20)
    system.level.store(MemoryPressure.critical.rawValue, ordering: .relaxed)
    clock.advance(by: .seconds(1))
    try fill(cache, 111..<112)
    #expect(cache.memory?.usage.entries == 6 && other.memory?.usage.entries == 2)
    system.level.store(MemoryPressure.normal.rawValue, ordering: .relaxed)
    clock.advance(by: .seconds(1))
    try fill(cache, 112..<120)
    #expect(cache.memory?.usage.entries == 14)
    for index in 0..<120 { #expect(try cache.value(for: "\(index)") == "v") }
    #expect(try store.verify().faults == [])
  }

  @Test func `the option turns it off`() throws {
    let (system, clock) = (System(), ManualClock())
    system.level.store(MemoryPressure.critical.rawValue, ordering: .relaxed)
    let cache = try store(system, clock, trims: false).cache(TextCodec(), in: "notes")
    for index in 0..<3 {
      try fill(cache, index * 10..<index * 10 + 10)
      clock.advance(by: .seconds(2))
    }
    #expect(cache.memory?.usage.entries == 30 && system.looks.load(ordering: .relaxed) == 0)
  }

  @Test func `the files of Linux tell the pressure, and what is no number tells none`() {
    func level(
      _ stalls: String? = nil, limit: String? = nil, statistics: String? = nil
    ) -> MemoryPressure {
      MemoryPressure(stalls: stalls, limit: limit, statistics: statistics)
    }
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
    // The level of this machine is not known, so this line only checks that the call works.
    #expect(MemoryPressure.current() >= .normal)
  }
}
