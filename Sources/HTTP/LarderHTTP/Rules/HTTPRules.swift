#if HTTP
  public import HTTPTypes
  public import Larder

  /// The rules of an HTTP cache (RFC 9111, 5861, 8246 and 9213), without a store, a network or a clock of its own.
  ///
  /// Ask ``decide(_:stored:at:)`` with a request and all stored responses of its URI. If the decision is to forward, send that
  /// request and pass its response to ``receive(_:bodySize:to:requested:received:)``. Call ``fail(_:at:)`` if no response
  /// comes.
  public struct HTTPRules: Sendable {
    /// The settings that the rules follow.
    public var policy: HTTPCachePolicy

    /// Rules that follow a policy.
    public init(policy: HTTPCachePolicy = HTTPCachePolicy()) { self.policy = policy }
  }

  /// The choices that RFC 9111 leaves to a cache.
  public struct HTTPCachePolicy: Sendable {
    /// For whom a cache stores responses (RFC 9111, section 1).
    public enum Kind: Sendable, Hashable {
      /// For one user, or for users that their credentials separate.
      case `private`
      /// For all users: `s-maxage`, `private` and `proxy-revalidate` apply, and a response to a request with credentials is
      /// stored only if the origin allows it (RFC 9111, section 3.5).
      case shared
    }

    /// For whom responses are stored. Default: private.
    public var kind: Kind
    /// How long a response with validators is kept for validation, counted from its last exchange. Default: 30 days.
    public var retention: Duration
    /// How long after its freshness a response may be served while the origin cannot be reached and no directive forbids
    /// it. Default: one day.
    public var whenDisconnected: Duration
    /// Whether that also holds for an origin with which no secure connection comes about: ``TransportFailure/isInsecure``. Default: false.
    public var servesStaleWhenInsecure: Bool
    /// The longest freshness of a response that states none. Default: one day.
    public var longestHeuristic: Duration
    /// Whether `Set-Cookie` is stored with its response, and served with it. In a shared cache every client of the response
    /// gets the cookie: leave it out unless no cookie of the origins names a user. Default: false.
    public var storesCookies: Bool
    /// The time limit for the head of a response, and then for each piece of its body. Default: 15 s.
    public var timeout: Duration
    /// How long a GET or HEAD waits at most for an origin that asks for it by `Retry-After` with the status 429 or 503, before it is
    /// sent once more. Longer waits, and a second such answer, are left to the client; nothing waits where a stored
    /// response takes the place of a 503. Default: zero, for no second request.
    public var longestWait: Duration
    /// The largest body, in bytes, that is stored, and at most half of the limits of the namespace and the store. Larger bodies
    /// pass through. Default: 1,000,000,000.
    public var largestBody: Int
    /// The memory, in bytes, for bodies on their way into the store, all requests together: at most 256 KB and one piece of the
    /// origin for each. A body for which there is no room passes through and is not stored. Default: 64,000,000.
    public var bufferLimit: Int
    /// The number of responses per URI that `Vary` and credentials may separate. One more removes the least recently used
    /// one. At least 1; default: 32.
    public var largestVariantCount: Int
    /// Names of query parameters with secret values, in lower case. Keys hold a digest in place of the value.
    public var secretParameters: Set<String>
    /// Rules for some URIs, of which the first that matches applies. Default: none.
    public var rules: [HTTPCacheRule]
    /// Request fields that identify a user besides `Authorization`: `Cookie`, `X-API-Key`. Requests with different values
    /// never share a response, whatever `Vary` says.
    public var partitionFields: Set<HTTPField.Name>
    /// Names the user of a request, such as the subject of its token; nil where the request says nothing of a user.
    ///
    /// A name takes the place of the credentials of the request: requests with the same name share responses, although their
    /// tokens differ, and requests with different names never do. Without a name the credentials count. The closure must
    /// return the same name for the same request each time; one request may call it several times. Default: none.
    public var principal: (@Sendable (HTTPRequest) -> String?)?
    /// The key of all digests. An ``HTTPCache`` takes it from its store; digests of rules without a store are of use in this
    /// process alone.
    var secret = Secrets.processKey

    /// A policy. Settings that are not given have the defaults of the properties.
    public init(
      kind: Kind = .private, retention: Duration = .days(30), whenDisconnected: Duration = .days(1),
      servesStaleWhenInsecure: Bool = false, longestHeuristic: Duration = .days(1),
      storesCookies: Bool = false,
      timeout: Duration = .seconds(15), longestWait: Duration = .zero,
      largestBody: Int = 1_000_000_000,
      bufferLimit: Int = 64_000_000,
      largestVariantCount: Int = 32,
      secretParameters: Set<String> = [
        "key", "api_key", "apikey", "api-key", "token", "access_token", "auth_token", "secret",
        "password", "sig", "signature",
      ], partitionFields: Set<HTTPField.Name> = [],
      principal: (@Sendable (HTTPRequest) -> String?)? = nil, rules: [HTTPCacheRule] = []
    ) {
      self.kind = kind
      self.retention = retention
      self.whenDisconnected = whenDisconnected
      self.servesStaleWhenInsecure = servesStaleWhenInsecure
      self.longestHeuristic = longestHeuristic
      self.storesCookies = storesCookies
      self.timeout = timeout
      self.longestWait = longestWait
      self.largestBody = largestBody
      self.bufferLimit = bufferLimit
      self.largestVariantCount = largestVariantCount
      self.secretParameters = secretParameters
      self.partitionFields = partitionFields
      self.principal = principal
      self.rules = rules
    }
  }
#endif
