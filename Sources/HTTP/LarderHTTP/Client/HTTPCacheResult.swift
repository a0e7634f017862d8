#if HTTP
  public import HTTPTypes

  /// A response and its source.
  public struct HTTPCacheResult: Sendable {
    /// The status and the fields.
    public var response: HTTPResponse
    /// The body, which can be read once.
    public var body: HTTPBody
    /// Why the cache could answer; nil for the origin's response.
    public var reason: CacheAnswer.Reason?
    /// Why the origin was asked; nil if it was not.
    public var forwarded: CacheForward.Reason?
    /// The status of the origin's response.
    public var originStatus: Int?
    /// Whether the response is stored.
    public var isStored = false
    /// Whether the response will be stored at the end of its body, if that comes whole and the store has room.
    public var isBeingStored = false
    /// Whether the request waited for the exchange of another client.
    public var isCollapsed = false
    /// The age in seconds; nil for the origin's response.
    public var age: Int?
    /// The remaining freshness in seconds, negative if stale; nil for the origin's response that is not stored.
    public var remaining: Int?

    /// Whether the cache answered without asking the origin.
    public var isHit: Bool { reason != nil && forwarded == nil }

    /// The origin's response.
    init(_ response: HTTPResponse, body: HTTPBody, forwarded: CacheForward.Reason) {
      self.response = response
      self.body = body
      self.forwarded = forwarded
      originStatus = response.status.code
    }

    /// A response of the cache.
    init(_ answer: CacheAnswer, body: HTTPBody, forwarded: CacheForward.Reason? = nil) {
      response = answer.response
      self.body = body
      self.forwarded = forwarded
      reason = answer.reason
      age = answer.age
      remaining = answer.remaining
    }
  }
#endif
