import LMDB

extension Peer {
  /// Begins more reads than the pool has slots, again and again: LMDB makes and frees slots of its reader table all the time.
  func crowd() throws {
    let environment = try Fixture.open(store)
    try nest(250, environment) {
      Peer.say("open")
      var rounds = 0
      while true {
        for _ in 0..<100 { try nest(10, environment) {} }
        rounds += 1
        Peer.say("\(rounds)")
      }
    }
  }

  private func nest(_ depth: Int, _ environment: Environment, _ body: () throws -> Void) throws {
    if depth == 0 { return try body() }
    let read = try environment.beginRead()
    try nest(depth - 1, environment, body)
    precondition(read.id > 0)
  }
}
