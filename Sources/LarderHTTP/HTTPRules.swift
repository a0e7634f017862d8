/// The rules of a private cache (RFC 9111, RFC 5861, RFC 8246), without a store, a network or a clock of its own.
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
