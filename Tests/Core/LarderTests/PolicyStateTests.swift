import LarderSystem
import Testing

@testable import Larder

/// The number of words that the state of a queue has in the record of the counters.
private let wordCount = 12

@Suite struct WindowTargetTests {
  @Test func `the target begins at a tenth and follows ghost hits, faster the more in a row`() {
    var target = WindowTarget()
    #expect(target.share == 0.1)
    // A ghost hit (an evicted key comes back) moves the target by half of `share`, and by an eighth more for each hit in a row.
    target.ghostHit(.window, share: 0.001, youth: 0)
    #expect(abs(target.share - (0.1 + 0.0005 * 1.125)) < 1e-9)
    target.ghostHit(.window, share: 0.001, youth: 0)
    #expect(abs(target.share - (0.1 + 0.0005 * 2.375)) < 1e-9)
    target.ghostHit(.main, share: 0.001, youth: 0)
    #expect(abs(target.share - (0.1 + 0.0005 * 1.25)) < 1e-9)
  }

  @Test func `a run quadruples the step at most, in a new cache 64 times`() {
    func step(after count: Int, youth: Double) -> Double {
      var target = WindowTarget()
      for _ in 0..<count { target.ghostHit(.window, share: 1e-6, youth: youth) }
      let before = target.share
      target.ghostHit(.window, share: 1e-6, youth: youth)
      return target.share - before
    }
    #expect(abs(step(after: 1000, youth: 0) - 4 * 0.5e-6) < 1e-12)
    // In a new cache (`youth` is 1), a ghost hit moves the target by at least a ten-thousandth of the capacity.
    #expect(abs(step(after: 0, youth: 1) - 0.0001 * 1.125) < 1e-9)
    #expect(step(after: 100, youth: 1) > 10 * step(after: 0, youth: 1))
  }

  @Test func `a part that evicts less counts for more, and the target keeps within its bounds`() {
    var target = WindowTarget()
    for _ in 0..<30 { target.evicted(from: .main, of: 1_000_000) }
    for _ in 0..<10 { target.evicted(from: .window, of: 1_000_000) }
    target.ghostHit(.window, share: 0.001, youth: 0)
    #expect(abs(target.share - (0.1 + 0.0005 * 3 * 1.125)) < 1e-6)
    for _ in 0..<5000 { target.ghostHit(.window, share: 0.001, youth: 0) }
    #expect(target.share == 0.8)
    target.relax(share: 0.001)
    #expect(abs(target.share - 0.7995) < 1e-9)
    for _ in 0..<5000 { target.relax(share: 0.001) }
    #expect(target.share == 0.1)
    for _ in 0..<5000 { target.ghostHit(.main, share: 0.001, youth: 0) }
    #expect(target.share == 0.01)
    target.relax(share: 0.001)
    #expect(target.share == 0.01)
  }
}

@Suite struct ReturnRateTests {
  @Test func `a loop is found after about as many insertions as entries, and left again`() {
    var rates = ReturnRates()
    #expect(!rates.isLooping && rates.areRare)
    var insertions = 0
    while !rates.isLooping {
      rates.inserted(isReturn: true, isGhostHit: true, entries: 1000)
      insertions += 1
    }
    #expect((300...1000).contains(insertions) && !rates.areRare)
    // If one key in ten is new, the rates still show a loop over the keys. The next 3000 keys are all new, so the loop is over.
    for number in 0..<5000 {
      rates.inserted(isReturn: number % 10 > 0, isGhostHit: number % 10 > 0, entries: 1000)
    }
    #expect(rates.isLooping)
    for _ in 0..<3000 { rates.inserted(isReturn: false, isGhostHit: false, entries: 1000) }
    #expect(!rates.isLooping && rates.areRare)
  }

  @Test func `keys that return late are returns, and no sign of a loop`() {
    var rates = ReturnRates()
    for _ in 0..<1000 { rates.inserted(isReturn: true, isGhostHit: false, entries: 100) }
    #expect(!rates.isLooping && !rates.areRare)
  }

  @Test func `a cache is young until it has evicted three tenths of what it holds`() {
    var state = PolicyState()
    #expect(state.youth(of: 1000) == 1 && state.youth(of: 0) == 0)
    state.evictions = 300
    #expect(state.youth(of: 1000) == 1)
    state.evictions = 3000
    #expect(abs(state.youth(of: 1000) - 0.1) < 1e-9)
  }
}

@Suite struct QueueStateTests {
  @Test func `a state survives its record`() {
    var state = QueueState()
    state.windowBoundary = 11
    state.clockHand = 7
    state.windowEntries = 3
    state.windowBytes = 99
    for _ in 0..<500 {
      state.policy.returns.inserted(isReturn: true, isGhostHit: true, entries: 200)
      state.policy.target.ghostHit(.main, share: 0.0001, youth: 0.5)
      _ = state.policy.ghostStamp(entries: 70_000)
      state.policy.evicted(from: .window, of: 70_000)
    }
    #expect(state.policy.returns.isLooping && state.policy.ageShift > 0)
    let record = [UInt8](count: 8 * wordCount) { state.append(to: &$0) }
    var words = WordReader(record.span)
    let copy = QueueState(&words)
    // The record uses one bit of `ghostHits` for `isLooping`, so the copy of `ghostHits` may differ slightly.
    #expect(abs(copy.policy.returns.ghostHits - state.policy.returns.ghostHits) < 1e-12)
    state.policy.returns = copy.policy.returns
    #expect(copy == state && copy.policy.returns.isLooping)
  }

  @Test func `no bits of a record make a state that traps or leaves its bounds`() throws {
    for byte in [0x00, 0x7F, 0x80, 0xF0, 0xFF, 0x7E] as [UInt8] {
      for offset in 0...8 * wordCount {
        var record = [UInt8](repeating: byte, count: 8 * wordCount)
        for index in offset..<min(offset + 8, record.count) { record[index] = 0xFF &- byte }
        var words = WordReader(record.span)
        var state = QueueState(&words)
        #expect((0.01...0.8).contains(state.policy.target.share))
        for entries in [0, 1, 1000, .max] as [UInt64] {
          let slot = GhostSlot(fingerprint: 1, stamp: 5, part: .main, frequency: 15)
          _ = state.policy.ghost(slot, entries: entries)
          _ = state.policy.ghostStamp(entries: entries)
          state.policy.returns.inserted(isReturn: true, isGhostHit: true, entries: entries)
          let youth = state.policy.youth(of: entries)
          state.policy.target.ghostHit(.window, share: 1e300, youth: youth)
          state.policy.target.ghostHit(.main, share: 0, youth: youth)
          state.policy.evicted(from: .main, of: entries)
        }
        #expect((0.01...0.8).contains(state.policy.target.share))
      }
    }
  }
}
