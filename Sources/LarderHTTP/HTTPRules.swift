/// The rules of an HTTP cache (RFC 9111, 5861, 8246 and 9213), without a store, a network or a clock of its own.
///
/// Ask ``decide(_:stored:at:)`` with a request and all stored responses of its URI. Where it says to forward, send that
/// and give the answer to ``receive(_:bodySize:to:requested:received:)``, or say ``fail(_:at:)``.
public struct HTTPRules: Sendable {
  /// The settings that the rules follow.
  public var policy: HTTPCachePolicy

  /// Rules that follow a policy, the default one unless told otherwise.
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
