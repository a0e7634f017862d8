import Foundation
import LMDB

extension Peer {
  /// Does what a backup made inside the process would do: reads lock.mdb, and with that drops LMDB's locks.
  func loseLocks() throws {
    let environment = try Fixture.open(store)
    let bytes = FileManager.default.contents(atPath: store + "/lock.mdb")
    Peer.say("lost \(bytes?.count ?? 0)")
    waitForEndOfInput()
    environment.close()
  }
}
