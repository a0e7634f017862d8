import LMDB

extension Peer {
  /// Writes until the disk is full, reads, waits for a line of input, and writes a small value.
  func fill() throws {
    let environment = try Fixture.open(store)
    var stored = 0
    let end = Peer.outcome {
      while true {
        try environment.set(Fixture.bytes(stored), Fixture.filling(stored, count: 20_000))
        stored += 1
      }
    }
    Peer.say("write \(end)")
    let whole = try (0..<stored).allSatisfy {
      try environment.value(Fixture.bytes($0)) == Fixture.filling($0, count: 20_000)
    }
    Peer.say("stored \(stored > 10) \(whole)")
    let second = try Fixture.open(store)
    Peer.say("same \(second === environment)")
    waitForInput()
    Peer.say("write \(Peer.outcome { try environment.set(Fixture.bytes(stored), [1]) })")
  }
}
