import Larder

/// What a cache does where RFC 9111 leaves it the choice.
public struct HTTPCachePolicy: Sendable, Hashable {
  /// For how long a response with validators is kept to be validated, counted from its last exchange.
  public var retention = Duration.days(30)
  /// How long after its freshness a response may be served while the origin cannot be reached and nothing forbids it.
  public var whenDisconnected = Duration.days(1)
  /// The longest time for which a response is fresh that does not say for how long.
  public var longestHeuristic = Duration.days(1)
  /// Whether `Set-Cookie` is stored with the response that it came with.
  public var storesCookies = false
  /// How long the origin may take to answer, and may then say nothing before the next piece of a body.
  public var timeout = Duration.seconds(15)
  /// Bodies that are longer pass through and are not stored.
  public var largestBody = 64_000_000
  /// Names of query parameters whose values are secrets, in lower case: keys hold a digest in their place.
  public var secretParameters: Set<String> = [
    "key", "api_key", "apikey", "api-key", "token", "access_token", "auth_token", "secret",
    "password", "sig", "signature",
  ]

  public init() {}
}
