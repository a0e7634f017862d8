import Foundation
import LMDB
import LarderSystem

extension Peer {
  /// Writes batch after batch without a pause until it is killed. Each batch lasts as many milliseconds as the argument says.
  func writeBatches() throws {
    let environment = try Fixture.open(store)
    let milliseconds = argument(0)
    Peer.say("open")
    var number = 0
    while true {
      number += 1
      try environment.write { transaction in
        let end = SystemTime.monotonicMilliseconds + Int64(milliseconds)
        try transaction.put(Fixture.bytes(number).span, for: Fixture.bytes(0).span, in: .main)
        while SystemTime.monotonicMilliseconds < end { usleep(500) }
      }
      Peer.say("\(number)")
    }
  }
}
