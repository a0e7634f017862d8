public import HTTPTypes

/// A request that the origin has to answer, and what its answer will be held against.
public struct CacheForward: Sendable, Hashable {
  /// Why the cache could not answer by itself; named as `fwd` of `Cache-Status` (RFC 9211, 2.2).
  public enum Reason: String, Sendable, Hashable {
    /// The request is none that a cache answers.
    case bypass
    case method
    /// Nothing is stored for the URI.
    case uriMiss = "uri-miss"
    /// What is stored for it was selected by other fields.
    case varyMiss = "vary-miss"
    /// The request wanted something newer.
    case request
    case stale
    /// What is stored is a part that does not reach.
    case partial
  }

  /// What to send.
  public var request: HTTPRequest
  public var reason: Reason
  /// What the client sent.
  public let original: HTTPRequest
  /// All stored responses of the URI, as they were.
  let stored: [StoredResponse]
  /// Which of them the request selects.
  var selected: Int?
  /// Which of them the request asks the origin about.
  var validates: [Int] = []
  /// The part that the answer may complete.
  var completes: Int?
  var permission = StalePermission.none

  /// Whether it asks the origin for nothing but whether something stored still holds.
  public var isConditional: Bool { !validates.isEmpty }

  init(_ request: HTTPRequest, because reason: Reason, stored: [StoredResponse]) {
    self.request = request
    self.reason = reason
    original = request
    self.stored = stored
  }

  /// The same request as the client sent it, which nothing stored has a part in.
  var unconditional: CacheForward {
    var forward = self
    forward.request = original
    // Its own condition is evaluated here, on what comes.
    if isConditional || completes != nil {
      forward.request.headerFields.removeAll(ClientCondition.fields)
    }
    forward.validates = []
    forward.completes = nil
    return forward
  }
}
