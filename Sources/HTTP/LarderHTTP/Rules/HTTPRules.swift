#if HTTP
  public import HTTPTypes
  public import Larder

  /// The rules of an HTTP cache (RFC 9111, 5861, 8246 and 9213), without a store, a network or a clock of its own.
  ///
  /// Ask ``decide(_:stored:at:)`` with a request and all stored responses of its URI. If the decision is to forward, send that
  /// request and pass its response to ``receive(_:bodySize:to:requested:received:)``. Without a response, call ``fail(_:at:)``.
  public struct HTTPRules: Sendable {
    /// The settings that the rules follow.
    public var policy: HTTPCachePolicy

    /// Rules that follow a policy.
    public init(policy: HTTPCachePolicy = HTTPCachePolicy()) { self.policy = policy }
  }

  /// The choices that RFC 9111 leaves to a cache.
  public struct HTTPCachePolicy: Sendable {
    /// The users for whom a cache stores responses (RFC 9111, section 1).
    public enum Kind: Sendable, Hashable {
      /// For one user, or for users with separate credentials.
      case `private`
      /// For all users: `s-maxage`, `private` and `proxy-revalidate` apply, and a response to a request with credentials is
      /// stored only if the origin allows it (RFC 9111, section 3.5).
      case shared
    }

    /// The users for whom responses are stored. Default: private.
    public var kind: Kind
    /// How long a response with validators is kept for validation, counted from its last exchange. Default: 30 days.
    public var retention: Duration
    /// How long a stale response may be served if the origin cannot be reached and no directive forbids it. Default: one day.
    public var whenDisconnected: Duration
    /// Whether ``whenDisconnected`` applies to an insecure origin, too: ``TransportFailure/isInsecure``. Default: false.
    public var servesStaleWhenInsecure: Bool
    /// The longest freshness of a response that states no freshness. Default: one day.
    public var longestHeuristic: Duration
    /// Whether `Set-Cookie` is stored and served with its response. In a shared cache every client of the response gets the
    /// cookie: set true only if no cookie of the origins identifies a user. Default: false.
    public var storesCookies: Bool
    /// The time limit for the head of a response, and then for each piece of its body. Default: 15 s.
    public var timeout: Duration
    /// The longest wait for a GET or HEAD that an origin can demand by `Retry-After` with 429 or 503. After the wait the request
    /// is sent once more. If the origin demands a longer wait, or answers with a second 429 or 503, the client gets that answer.
    /// There is no wait if a stored response replaces a 503. Default: zero, for no second request.
    public var longestWait: Duration
    /// The largest body, in bytes, that is stored. A stored body is also at most half of each limit of the namespace and the
    /// store. Larger bodies pass through. Default: 1,000,000,000.
    public var largestBody: Int
    /// The memory, in bytes, for all bodies that are on their way into the store. Most bodies need at most 256 KB and one piece
    /// of the origin. If no memory is left, a body passes through and is not stored. Default: 64,000,000.
    public var bufferLimit: Int
    /// The most responses of one URI that `Vary` and credentials may separate. A further response removes the least recently
    /// used response. At least 1; default: 32.
    public var largestVariantCount: Int
    /// Names of query parameters with secret values, in lower case. Keys hold digests of the values.
    public var secretParameters: Set<String>
    /// Rules for some URIs; the first rule that matches applies. Default: none.
    public var rules: [HTTPCacheRule]
    /// Request fields that identify a user, besides `Authorization`, such as `Cookie`. In a private cache, requests with
    /// different values share no response, even without `Vary`, but share responses if ``principal`` gives them one name.
    public var partitionFields: Set<HTTPField.Name>
    /// Names the user of a request, such as the subject of its token; nil if the request does not identify a user.
    ///
    /// A name replaces the credentials of the request: requests with equal names share responses, even if their tokens differ.
    /// In a private cache, requests with different names share no response. Without a name the credentials count. The closure
    /// must always return the same name for the same request; one request may call it several times. Default: none.
    public var principal: (@Sendable (HTTPRequest) -> String?)?
    /// The key of all digests. An ``HTTPCache`` takes the key from its store. Rules without a store have a key of their process.
    var secret = Secrets.processKey

    /// Makes a policy. A setting without an argument has the default of its property.
    public init(
      kind: Kind = .private, retention: Duration = .days(30), whenDisconnected: Duration = .days(1),
      servesStaleWhenInsecure: Bool = false, longestHeuristic: Duration = .days(1),
      storesCookies: Bool = false, timeout: Duration = .seconds(15), longestWait: Duration = .zero,
      largestBody: Int = 1_000_000_000, bufferLimit: Int = 64_000_000,
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
