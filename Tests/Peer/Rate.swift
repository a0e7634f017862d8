import Foundation
import LMDB
import Larder

extension Peer {
  /// Says how many writes of 200 bytes to random keys a second a store of the level takes, one by one, for so many
  /// milliseconds: level, milliseconds.
  func rate() throws {
    var options = Store.Options()
    options.durability = Durability(rawValue: arguments[0])!
    let store = try Store(at: store, options: options)
    let notes = store.namespace("notes")
    let value = [UInt8](repeating: 7, count: 200)
    var random = SplitMix(state: 1)
    let (begin, limit) = (ContinuousClock.now, Duration.milliseconds(argument(1)))
    var writes = 0
    while ContinuousClock.now - begin < limit {
      try notes.set(value, for: Int.random(in: 0..<100_000, using: &random))
      writes += 1
    }
    let seconds = (ContinuousClock.now - begin) / .seconds(1)
    try store.close()
    Peer.say("\(Int(Double(writes) / seconds))")
  }
}
