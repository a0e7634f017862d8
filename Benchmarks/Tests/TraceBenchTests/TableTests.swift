import Testing

@testable import TraceBench

struct TableTests {
  @Test func `a word returns what it was made of`() {
    for tag in [1, 512, 1023] as [UInt32] {
      for frequency in 0...15 {
        for clock in 0...3 {
          let mark = AccessStats(frequency: frequency, clock: clock)
          #expect(AccessSlot(tag: tag, stats: mark).tag == tag)
          #expect(AccessSlot(tag: tag, stats: mark).stats == mark)
        }
      }
    }
    for age in [0, 1, 1024, 2047] {
      for part in [Part.window, .main] {
        let word = GhostSlot(fingerprint: 65535, age: age, part: part, frequency: 9)
        #expect(word.fingerprint == 65535 && word.age == age)
        #expect(word.part == part && word.frequency == 9)
      }
    }
  }

  @Test func `a use raises the clock to three, and the frequency with it`() {
    var mark = AccessStats(frequency: 14, clock: 1)
    mark.hit()
    #expect(mark == AccessStats(frequency: 15, clock: 2))
    mark.hit()
    #expect(mark == AccessStats(frequency: 15, clock: 3))
    mark = AccessStats(frequency: 2, clock: 3)
    mark.hit()
    #expect(mark == AccessStats(frequency: 2, clock: 3))
  }

  @Test func `the exact table keeps a ghost for four times as many evictions as entries`() {
    expectLifetime(of: ExactTable(entries: 10, keys: 100), entries: 10)
  }

  @Test func `so does the tagged table where nothing collides`() {
    expectLifetime(of: TaggedTable(entries: 10, keys: 100), entries: 10)
  }

  private func expectLifetime(of fresh: some AccessTable, entries: Int) {
    var table = fresh
    #expect(table.takeGhost(of: 0) == nil)
    table.putGhost(of: 0, part: .main, frequency: 5)
    #expect(table.takeGhost(of: 0) == Ghost(age: 1, part: .main, frequency: 5))
    #expect(table.takeGhost(of: 0) == nil, "a ghost is taken once")

    table.putGhost(of: 1, part: .window, frequency: 2)
    for _ in 0..<4 * entries - 2 { table.putGhost(of: 0, part: .main, frequency: 0) }
    var other = table
    #expect(
      other.takeGhost(of: 1) == Ghost(age: 4 * entries - 1, part: .window, frequency: 2))
    table.putGhost(of: 0, part: .main, frequency: 0)
    #expect(table.takeGhost(of: 1) == nil)
  }

  @Test func `the tagged table forgets little of as many marks as entries`() {
    let entries = 10_000
    var table = TaggedTable(entries: entries, keys: entries)
    for key in 0..<entries {
      table.setStats(AccessStats(frequency: key % 15 + 1, clock: 0), of: key)
    }
    let kept = (0..<entries).count { table.stats(of: $0).frequency == $0 % 15 + 1 }
    #expect(kept > entries * 95 / 100)
    table.halveFrequencies()
    let halved = (0..<entries).count { table.stats(of: $0).frequency == ($0 % 15 + 1) / 2 }
    #expect(halved >= kept)
    for key in 0..<entries { table.removeStats(of: key) }
    #expect((0..<entries).allSatisfy { table.stats(of: $0) == AccessStats() })
  }

  @Test func `the sketch never counts too little, until it halves`() {
    var sketch = FrequencySketch(capacity: 100)
    for round in 1...5 {
      for key in 0..<100 { sketch.increment(key) }
      #expect((0..<100).allSatisfy { sketch.frequency(of: $0) >= round })
    }
    for _ in 0..<500 { sketch.increment(7) }
    #expect(sketch.frequency(of: 7) == 15)
  }
}
