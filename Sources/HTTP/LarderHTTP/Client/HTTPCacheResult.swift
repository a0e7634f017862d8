#if HTTP
  public import HTTPTypes

  /// A response and its source.
  public struct HTTPCacheResult: Sendable {
    /// The status and the fields.
    public var response: HTTPResponse
    /// The body, which can be read once.
    public var body: HTTPBody
    /// The reason why the cache could answer; nil for the origin's response.
    public var reason: CacheAnswer.Reason?
    /// The reason why the cache asked the origin; nil if the cache did not ask the origin.
    public var forwarded: CacheForward.Reason?
    /// The status of the origin's response; nil without such a response.
    public var originStatus: Int?
    /// Whether the response was stored in this exchange with the origin. A hit stores nothing, so the value of a hit is false.
    public var isStored = false
    /// Whether the response will be stored at the end of its body, if the whole body comes and the store has room.
    public var isBeingStored = false
    /// Whether the store answered after the request had waited for the exchange of another client.
    public var isCollapsed = false
    /// The age in seconds; nil for the origin's response.
    public var age: Int?
    /// The remaining freshness in seconds, 0 or negative for a stale response; nil for an origin's response that is not stored.
    public var remaining: Int?

    /// Whether the cache answered without asking the origin.
    public var isHit: Bool { reason != nil && forwarded == nil }

    init(_ response: HTTPResponse, body: HTTPBody, forwarded: CacheForward.Reason) {
      self.response = response
      self.body = body
      self.forwarded = forwarded
      originStatus = response.status.code
    }

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
