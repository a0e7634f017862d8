import Foundation
import Larder
import LarderSystem
import TestSupport

extension Peer {
  /// Works like ``power()``, but on a disk that fails a sync. Prints the outcome of every call. After an error, closes the
  /// store and opens the store again.
  func powerFailing() throws {
    var random = SeededRNG(seed: value(2) { UInt64($0) })
    var options = PowerWork.options(boot: argument(3))
    options.durability = value(0) { Durability(rawValue: $0) }
    var left = argument(1)
    // Another process may take long to notice a failed sync. Until then the store does not open, so many attempts are allowed.
    for session in 0..<400 where left > 0 || session < 2 {
      do {
        Peer.say("opening")
        let store = try Store(at: store, options: options)
        Peer.say("open \(session)")
        Peer.say("found \(try PowerWork.number(in: store))")
        let share = max(1, argument(1) / 3)
        var isWriting = false
        do {
          for _ in 0..<share where left > 0 {
            Peer.say("begin")
            isWriting = true
            let number = try PowerWork.write(to: store)
            isWriting = false
            left -= 1
            Peer.say("ack \(number) \(SystemTime.monotonicMilliseconds)")
            if Int.random(in: 0..<4, using: &random) == 0 {
              try store.sync()
              Peer.say("sync \(number)")
            }
            if Int.random(in: 0..<4, using: &random) == 0 {
              usleep(useconds_t.random(in: 0..<8000, using: &random))
            }
          }
        } catch {
          Peer.say("\(isWriting ? "dropped" : "failed") \(error)")
        }
        let last = Result { try PowerWork.number(in: store) }
        Peer.say("closing")
        do {
          try store.close()
          Peer.say("closed \((try? last.get()) ?? 0)")
        } catch {
          Peer.say("unsaved \(error)")
        }
      } catch {
        Peer.say("refused \(error)")
        usleep(2000)
      }
    }
    Peer.say(left == 0 ? "end" : "gave up")
  }
}
