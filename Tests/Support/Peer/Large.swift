import Larder
import TestSupport

extension Peer {
  /// Fills a store with small entries, with as few waits for the disk as possible. The argument is their number.
  func fillLarge() throws {
    var options = Store.Options()
    options.flushes = false
    let opened = try Store(at: store, options: options)
    let large = opened.namespace("large")
    let count = argument(0)
    for start in stride(from: 0, to: count, by: 20_000) {
      try opened.write { batch in
        for number in start..<min(start + 20_000, count) {
          let digits = String(number)
          let key = "entry:" + String(repeating: "0", count: 9 - digits.count) + digits
          try batch.set(
            "{\"number\":\(number)}", for: key, in: large,
            expires: .after(.seconds(86_400 + number % 86_400)))
        }
      }
    }
    try opened.close()
    Peer.say("filled")
  }
}
