import LMDB

extension Peer {
  /// Begins reads and keeps them until the input ends. The argument is their number.
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
