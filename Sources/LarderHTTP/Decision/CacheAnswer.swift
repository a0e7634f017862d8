public import HTTPTypes

/// A response that a cache builds from stored responses.
public struct CacheAnswer: Sendable, Hashable {
  /// The source of the body.
  public enum Body: Sendable, Hashable {
    /// No body.
    case none
    /// The whole body of the stored response with that index.
    case stored(Int)
    /// These bytes of it.
    case part(Int, Range<Int>)
    /// The stored body of that index and the one just received, put together.
    case joined(JoinedBody)
  }

  /// Why the cache may answer with a stored response.
  public enum Reason: String, Sendable, Hashable {
    /// The stored response is fresh.
    case fresh
    /// The origin has just confirmed it.
    case validated
    /// The part just received completes it.
    case completed
    /// The client accepts it stale.
    case staleByRequest = "stale-by-request"
    /// Stale, while it is validated.
    case staleWhileRevalidating = "stale-while-revalidating"
    /// Stale, because the origin answered with an error.
    case staleOnError = "stale-on-error"
    /// Stale, because the origin could not be reached.
    case staleDisconnected = "stale-disconnected"
    /// No stored response is usable and the request has `only-if-cached`: a 504.
    case onlyIfCached = "only-if-cached"

    /// Whether the answer is stale.
    public var isStale: Bool {
      switch self {
      case .fresh, .validated, .completed, .onlyIfCached: false
      case .staleByRequest, .staleWhileRevalidating, .staleOnError, .staleDisconnected: true
      }
    }
  }

  /// The status and the fields for the client.
  public var response: HTTPResponse
  /// The source of the body.
  public var body: Body
  /// Why the cache may give this answer.
  public var reason: Reason
  /// The age in seconds, as in the `Age` field.
  public var age: Int
  /// The remaining freshness in seconds; negative for a stale response.
  public var remaining: Int

  static let onlyIfCached = CacheAnswer(
    response: HTTPResponse(
      status: .init(code: 504, reasonPhrase: "Gateway Timeout"),
      headerFields: [.contentLength: "0"]),
    body: .none, reason: .onlyIfCached, age: 0, remaining: 0)
}

/// Two overlapping or adjoining parts of a whole.
public struct JoinedBody: Sendable, Hashable {
  /// The index of the stored part.
  public var stored: Int
  /// The place of the stored part in the whole body, in bytes.
  public var storedStart: Int
  /// The place of the received part in the whole body, in bytes.
  public var receivedStart: Int

  /// The joined bytes. Where the parts overlap, the received bytes are used.
  public func joined(stored: [UInt8], received: [UInt8]) -> [UInt8] {
    let start = min(storedStart, receivedStart)
    var bytes = [UInt8](
      repeating: 0,
      count: max(storedStart + stored.count, receivedStart + received.count) - start)
    bytes.replaceSubrange(storedStart - start..<storedStart - start + stored.count, with: stored)
    bytes.replaceSubrange(
      receivedStart - start..<receivedStart - start + received.count, with: received)
    return bytes
  }
}
