/// The rules of a private cache (RFC 9111, RFC 5861, RFC 8246), without a store, a network or a clock of its own.
///
/// Ask ``decide(_:stored:at:)`` with a request and all stored responses of its URI. Where it says to forward, send that
/// and give the answer to ``receive(_:bodySize:to:requested:received:)``, or say ``fail(_:at:)``.
public struct HTTPRules: Sendable {
  /// The settings that the rules follow.
  public var policy: HTTPCachePolicy

  /// Rules that follow a policy, the default one unless told otherwise.
  public init(policy: HTTPCachePolicy = HTTPCachePolicy()) { self.policy = policy }
}
