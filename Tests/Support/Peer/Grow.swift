import LMDB

extension Peer {
  /// Writes values of 64 KiB, as many as the argument says, and then keeps the store open.
  func grow() throws {
    let environment = try Fixture.open(store, Fixture.options(mapSize: 1 << 20))
    for number in 0..<argument(0) {
      try environment.set(Fixture.bytes(number), Fixture.filling(number, count: 65_536))
    }
    Peer.say("grown")
    waitForEndOfInput()
  }
}
