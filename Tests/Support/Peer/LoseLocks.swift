import Foundation
import LMDB

extension Peer {
  /// Reads lock.mdb, as a backup inside the process would do, and thereby drops LMDB's locks.
  func loseLocks() throws {
    let environment = try Fixture.open(store)
    let bytes = FileManager.default.contents(atPath: store + "/lock.mdb")
    Peer.say("lost \(bytes?.count ?? 0)")
    waitForEndOfInput()
    environment.close()
  }
}
