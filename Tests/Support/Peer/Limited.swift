import LMDB

extension Peer {
  /// Runs ``Churn`` within a limit. Prints the commits, the writes that found no room, and whether all values are intact.
  func churnInLimit() throws {
    let environment = try Fixture.open(store, Fixture.options(durability: .temporary))
    environment.setFileLimit(argument(0))
    var churn = Churn(environment, limit: argument(0), author: argument(1), seed: argument(2))
    Peer.say("open")
    waitForInput()
    try churn.run(argument(3))
    Peer.say("\(churn.commits) \(churn.refusals) \(try churn.isIntact())")
  }
}
