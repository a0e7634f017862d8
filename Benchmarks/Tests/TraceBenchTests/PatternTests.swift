import Testing

@testable import TraceBench

struct PatternTests {
  @Test func `a seed repeats its patterns, and another makes others of the same shape`() {
    let one = Patterns.all(capacity: 100, seed: 1)
    let again = Patterns.all(capacity: 100, seed: 1)
    let other = Patterns.all(capacity: 100, seed: 2)
    #expect(one.map(\.requests) == again.map(\.requests) && one.map(\.name) == other.map(\.name))
    #expect(one.map(\.requests) != other.map(\.requests))
    #expect(Set(one.map(\.name)).count == one.count)
    #expect(one.allSatisfy { $0.capacities([1, 10], least: 50).map(\.entries) == [100] })
  }

  @Test func `a loop has the length it says, and as many other keys`() throws {
    let loops = Patterns.loops(capacity: 100, seed: 3)
    #expect(loops.map(\.name).prefix(2) == ["loop of 1.02 x", "loop of 1.1 x"])
    #expect(loops[0].keys == 102 && loops[0].requests.count == 40 * 102)
    let mixed = try #require(loops.last)
    let others = Double(mixed.requests.count - 40 * 150) / Double(mixed.requests.count)
    #expect(mixed.keys == 150 + mixed.requests.count - 40 * 150)
    #expect(abs(others - 0.3) < 0.03)
  }

  @Test func `LRU hits nothing in a loop, and all but the first round after a scan`() {
    for trace in Patterns.all(capacity: 100, seed: 4) {
      let hits = LRU.replay(trace, capacity: 100).hitRatio
      if trace.name.hasPrefix("loop") {
        #expect(hits == 0)
      } else if trace.name.contains("the last") {
        #expect(hits == 100 * Double(trace.requests.count - 2000) / Double(trace.requests.count))
      }
    }
  }

  @Test func `adaptive has 0.8 of the best policy's hits in each loop`() {
    for trace in Patterns.loops(capacity: 200, seed: 5) {
      let best =
        [
          S3FIFO.replay(trace, capacity: 200), ARC.replay(trace, capacity: 200),
          WTinyLFU<HillClimbing>.replay(trace, capacity: 200),
          WTinyLFU<FixedWindow>.replay(trace, capacity: 200), SIEVE.replay(trace, capacity: 200),
        ].map(\.hitRatio).max() ?? 0
      let own = Adaptive<ExactTable>.replay(trace, capacity: 200).hitRatio
      #expect(own >= 0.8 * best, "\(trace.name): \(own) of \(best)")
    }
  }
}
