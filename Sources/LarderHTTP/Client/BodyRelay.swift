/// A body with two readers: the client at its own speed, and the store without waiting for the client.
///
/// A body that is too long to be stored is read no faster than the client reads it.
actor BodyRelay {
  private var pieces: [[UInt8]] = []
  private var isEnded = false
  private var failure: (any Error)?
  private var reader: CheckedContinuation<Void, Never>?
  private var writer: CheckedContinuation<Void, Never>?
  /// Whether the client has stopped reading.
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

  /// Waits until the client has read all pieces; false if it has stopped reading.
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

/// Abandons the relay when the client releases the body.
final class BodyReader: Sendable {
  let relay: BodyRelay

  init(_ relay: BodyRelay) { self.relay = relay }

  deinit {
    let relay = relay
    Task { await relay.abandon() }
  }
}
