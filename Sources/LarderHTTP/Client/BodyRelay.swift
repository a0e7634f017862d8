/// A body that is read for two: for the client as fast as it likes, and for the store without waiting for the client.
///
/// Once it is longer than can be stored, it is read no faster than the client does.
actor BodyRelay {
  private var pieces: [[UInt8]] = []
  private var isEnded = false
  private var failure: (any Error)?
  private var reader: CheckedContinuation<Void, Never>?
  private var writer: CheckedContinuation<Void, Never>?
  /// Whether nobody reads any more.
  private var isAbandoned = false

  func append(_ piece: [UInt8]) {
    if !isAbandoned { pieces.append(piece) }
    wakeReader()
  }

  func end(_ failure: (any Error)? = nil) {
    isEnded = true
    self.failure = failure
    wakeReader()
  }

  /// Waits until the client has taken all; false if it never will.
  func drained() async -> Bool {
    while !pieces.isEmpty, !isAbandoned {
      await withCheckedContinuation { writer = $0 }
    }
    return !isAbandoned
  }

  func abandon() {
    isAbandoned = true
    pieces = []
    wakeWriter()
  }

  func next() async throws -> [UInt8]? {
    while pieces.isEmpty, !isEnded {
      await withCheckedContinuation { reader = $0 }
    }
    if !pieces.isEmpty {
      let piece = pieces.removeFirst()
      wakeWriter()
      return piece
    }
    if let failure { throw failure }
    return nil
  }

  private func wakeReader() {
    reader?.resume()
    reader = nil
  }

  private func wakeWriter() {
    writer?.resume()
    writer = nil
  }
}

/// Tells the relay when the client lets go of the body.
final class BodyReader: Sendable {
  let relay: BodyRelay

  init(_ relay: BodyRelay) { self.relay = relay }

  deinit {
    let relay = relay
    Task { await relay.abandon() }
  }
}
