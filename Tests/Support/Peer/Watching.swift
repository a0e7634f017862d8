import Larder

extension Peer {
  /// Subscribes to changes and reads no change, until the input ends.
  func watch() throws {
    let opened = try Store(at: store)
    let changes = opened.changes()
    Peer.say("watching")
    waitForEndOfInput()
    withExtendedLifetime(changes) {}
    try opened.close()
    Peer.say("closed")
  }
}
