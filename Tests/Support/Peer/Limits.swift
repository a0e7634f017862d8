import Foundation
import Larder
import Synchronization
import TestSupport

extension Peer {
  /// Writes, removes and changes limits at random in the namespaces a, b and c. Arguments: the seed and the number of steps.
  func changeWithinLimits() throws {
    let opened = try Store(at: store)
    var random = SeededRNG(seed: value(0) { UInt64($0) })
    func roll(_ range: Range<Int>) -> Int { random.next(in: range) }
    Peer.say("open")
    var refused = 0
    for _ in 0..<argument(1) {
      let name = ["a", "b", "c"][roll(0..<3)]
      let notes = opened.namespace(name)
      do throws(any Error) {
        switch roll(0..<100) {
        case 0..<75:
          try notes.set([UInt8](repeating: 1, count: roll(0..<300)), for: "\(roll(0..<80))")
        case 75..<85: try notes.remove("\(roll(0..<80))")
        case 85..<92:
          try opened.declare(
            Rules(limits: Limits(entries: roll(3..<40), bytes: roll(300..<4000))), for: name)
        case 92..<95: try opened.declare(StoreLimits(entries: roll(10..<90)))
        default: try notes.clear()
        }
      } catch let error as LarderError where error.code == .full || error.code == .overLimit {
        refused += 1
      }
    }
    try opened.close()
    Peer.say("done \(refused)")
  }
}

extension Peer {
  func holdMoment() throws {
    let opened = try Store(at: store)
    try opened.read { _ in
      Peer.say("holding")
      waitForEndOfInput()
    }
    try opened.close()
  }

  /// Reads three times from the store, makes a temporary store, and ends without closing the two stores.
  func keepStores() throws {
    let opened = try Store(at: store)
    let temporary = try Store.temporary()
    try temporary.namespace("notes").set("v", for: "k")
    for key in ["a", "b", "c"] {
      let _: String? = try opened.namespace("notes").value(for: key)
    }
    Self.kept.withLock { $0 = [opened, temporary] }
    Peer.say(temporary.path)
  }

  /// Writes entries. The arguments are the number of entries and the size of each value in bytes.
  func fillStore() throws {
    let opened = try Store(at: store)
    let notes = opened.namespace("notes")
    for index in 0..<argument(0) {
      try notes.set([UInt8](repeating: 9, count: argument(1)), for: "peer \(index)")
    }
    try opened.close()
    Peer.say("done")
  }
}
