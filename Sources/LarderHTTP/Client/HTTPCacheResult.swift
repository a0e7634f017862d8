public import HTTPTypes

/// An answer, and where it comes from.
public struct HTTPCacheResult: Sendable {
  public var response: HTTPResponse
  public var body: HTTPBody
  /// Why the cache could give it; nil where it is the origin's answer as it came.
  public var reason: CacheAnswer.Reason?
  /// Why the origin was asked; nil where it was not.
  public var forwarded: CacheForward.Reason?
  /// What the origin answered with.
  public var originStatus: Int?
  /// Whether it is stored, or will be once all of it has come.
  public var isStored = false
  /// Whether it waited for another's request.
  public var isCollapsed = false
  /// In seconds; nil for an answer as it came.
  public var age: Int?
  /// For how many seconds it is fresh; negative if it is stale, and nil for an answer that came and is not stored.
  public var remaining: Int?

  /// Whether the origin was not asked for it.
  public var isHit: Bool { reason != nil && forwarded == nil }

  init(_ response: HTTPResponse, body: HTTPBody) {
    self.response = response
    self.body = body
  }

  init(_ answer: CacheAnswer, body: [UInt8]) {
    self.init(answer.response, body: HTTPBody(body))
    reason = answer.reason
    age = answer.age
    remaining = answer.remaining
  }
}
