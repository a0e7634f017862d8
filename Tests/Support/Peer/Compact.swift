import LMDB

extension Peer {
  /// Compacts again and again, and reports each time, until it is killed.
  func compact() throws {
    var isFirst = true
    while true {
      let environment = try Fixture.open(store)
      if isFirst { Peer.say("open") }
      isFirst = false
      try environment.closeCompacting { _, _ in true }
      Peer.say("compact")
    }
  }
}
