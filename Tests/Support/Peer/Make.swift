import Larder
import TestSupport

extension Peer {
  /// Makes a store, and waits before the store is complete until the input ends.
  func makeStore() throws {
    do {
      try Store.making(at: store, Store.Options()) { made in
        try made.namespace("notes").set("half", for: "k")
        Peer.say("half")
        waitForEndOfInput()
      }
      Peer.say("made")
    } catch let error as LarderError {
      Peer.say("refused \(error.code.rawValue)")
    }
  }
}
