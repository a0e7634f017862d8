public import HTTPTypes

/// A request for the origin, with the stored responses that its answer concerns.
public struct CacheForward: Sendable, Hashable {
  /// Why the cache could not answer by itself; named as `fwd` of `Cache-Status` (RFC 9211, 2.2).
  public enum Reason: String, Sendable, Hashable {
    /// A cache does not answer such a request.
    case bypass
    /// The method is one that the cache does not answer.
    case method
    /// No response is stored for the URI.
    case uriMiss = "uri-miss"
    /// The stored responses belong to other field values (`Vary`).
    case varyMiss = "vary-miss"
    /// The request demands a newer response.
    case request
    /// The stored response is stale.
    case stale
    /// The stored part does not contain the requested range.
    case partial
  }

  /// The request to send.
  public var request: HTTPRequest
  /// Why the cache could not answer by itself.
  public var reason: Reason
  /// The request of the client.
  public let original: HTTPRequest
  /// All stored responses of the URI.
  let stored: [StoredResponse]
  /// The index of the response that the request selects.
  var selected: Int?
  /// The indices of the responses that the request validates.
  var validates: [Int] = []
  /// The index of the part that the answer may complete.
  var completes: Int?
  var permission = StalePermission.none

  /// Whether the request only validates stored responses.
  public var isConditional: Bool { !validates.isEmpty }

  init(_ request: HTTPRequest, because reason: Reason, stored: [StoredResponse]) {
    self.request = request
    self.reason = reason
    original = request
    self.stored = stored
  }

  /// The client's request without validators of stored responses.
  var unconditional: CacheForward {
    var forward = self
    forward.request = original
    // The cache evaluates the client's condition on the response.
    if isConditional || completes != nil {
      forward.request.headerFields.removeAll(ClientCondition.fields)
    }
    forward.validates = []
    forward.completes = nil
    return forward
  }
}
