/// The rules of an HTTP cache (RFC 9111, 5861, 8246 and 9213), without a store, a network or a clock of its own.
///
/// Ask ``decide(_:stored:at:)`` with a request and all stored responses of its URI. If the decision is to forward, send
/// that request and pass its response to ``receive(_:bodySize:to:requested:received:)``, or call ``fail(_:at:)`` if
/// there is none.
public struct HTTPRules: Sendable {
  /// The settings that the rules follow.
  public var policy: HTTPCachePolicy

  /// Rules that follow a policy.
  public init(policy: HTTPCachePolicy = HTTPCachePolicy()) { self.policy = policy }
}

/// How a cache handles a request.
public enum CacheDecision: Sendable, Hashable {
  /// Answer without asking the origin.
  case answer(CacheAnswer)
  /// Answer at once and revalidate in the background, once for all clients.
  case answerWhileRevalidating(CacheAnswer, CacheForward)
  /// Send a request to the origin.
  case forward(CacheForward)
}
