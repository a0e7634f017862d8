/// How a cache handles a response of the origin.
public struct CacheReception: Sendable {
  /// The next step for the client's request.
  public enum Outcome: Sendable, Hashable {
    /// Pass the response on.
    case pass
    /// Answer the client with this response instead.
    case answer(CacheAnswer)
    /// The response is unusable: send this request and handle its response.
    case again(CacheForward)
  }

  /// The source of a stored body.
  public enum Body: Sendable, Hashable {
    /// The received body.
    case received
    /// The stored body of that index.
    case stored(Int)
    /// A stored part and the received one, put together.
    case joined(JoinedBody)
  }

  /// The next step for the client's request.
  public var outcome: Outcome
  /// The responses to store, with the source of their bodies.
  public var stores: [(response: StoredResponse, body: Body)] = []
  /// Indices of stored responses to remove.
  public var removes: [Int] = []
  /// URIs whose responses are invalid; remove them before storing.
  public var invalidates: [ResponseKey] = []

  /// Whether the answer or a stored response is made of the received body.
  var needsReceivedBody: Bool {
    stores.contains { store in
      if case .stored = store.body { false } else { true }
    }
  }

  init(_ outcome: Outcome) { self.outcome = outcome }
}
