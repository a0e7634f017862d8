import LMDB

extension Peer {
  /// Begins as many reads as it is told, and keeps them until its input ends.
  func read() throws {
    let environment = try Fixture.open(store)
    do {
      try holdReads(argument(0), of: environment)
    } catch let error as LMDBError where error == .readersFull {
      Peer.say("full")
    }
  }

  private func holdReads(_ count: Int, of environment: Environment) throws {
    if count == 0 {
      Peer.say("reading")
      waitForEndOfInput()
      return
    }
    let read = try environment.beginRead()
    try holdReads(count - 1, of: environment)
    let value = try read.copy(Fixture.signature)
    precondition(value != nil)
  }
}
