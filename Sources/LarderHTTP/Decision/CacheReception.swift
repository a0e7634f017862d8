/// What to do with an answer of the origin.
public struct CacheReception: Sendable {
  public enum Outcome: Sendable, Hashable {
    /// The client gets it as it is.
    case pass
    /// The client gets this instead.
    case answer(CacheAnswer)
    /// It says nothing that can be used: make this request, and judge its answer.
    case again(CacheForward)
  }

  public enum Body: Sendable, Hashable {
    /// The one that came.
    case received
    /// The one that was stored with that index.
    case stored(Int)
    case joined(JoinedBody)
  }

  public var outcome: Outcome
  /// What to store, and with which body.
  public var stores: [(response: StoredResponse, body: Body)] = []
  /// Indexes of stored responses that no longer hold.
  public var removes: [Int] = []
  /// URIs none of whose responses holds any more; to be removed before anything is stored.
  public var invalidates: [ResponseKey] = []

  init(_ outcome: Outcome) { self.outcome = outcome }
}
