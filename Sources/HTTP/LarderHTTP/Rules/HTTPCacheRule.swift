#if HTTP
  public import HTTPTypes

  /// The settings of an application for the responses of some URIs, in place of the settings of the origin.
  ///
  /// Of the rules in ``HTTPCachePolicy/rules``, the first that matches applies. A rule never stores a response that forbids it
  /// (`no-store`, and `private` in a shared cache), and never avoids a validation that the response demands (`no-cache`).
  public struct HTTPCacheRule: Sendable, Hashable {
    /// The host, the path and the query, with `*` for any bytes: `api.example.com/images/*`, `*/search?*`. The host includes
    /// the port if it is not the scheme's default.
    public var pattern: String
    /// The freshness of the matching responses, in place of the stated freshness and ``defaultFreshness``; nil changes nothing.
    public var freshness: Duration?
    /// The freshness of responses that state no freshness, if their status allows an estimate (RFC 9110, section 15.1). This
    /// freshness replaces the estimate from `Last-Modified`.
    public var defaultFreshness: Duration?
    /// The statuses that are stored; nil for all statuses that may be stored.
    public var statuses: Set<Int>?
    /// The content types that are stored, in lower case, such as `application/json` or `image/*`; nil for all types.
    public var contentTypes: Set<String>?
    /// The content types of a successful answer to GET, as in ``contentTypes``; nil for any type. Another type (except
    /// `multipart/byteranges` of a 206), the status 511 or a redirection to another host counts as the login page of a network,
    /// and is not stored. The request gets a stored response as if offline, or throws ``HTTPCacheError/unexpected(_:)``.
    public var expectedTypes: Set<String>?
    /// The names of query parameters that do not change the response: requests that differ only in these parameters share a
    /// response. The origin gets the parameters of the request that is sent.
    public var ignoredParameters: Set<String>
    /// Whether the order of query parameters does not change the response.
    public var ignoresParameterOrder: Bool
    /// The methods besides GET and HEAD, such as POST or QUERY, whose responses are stored. The keys then include the request's
    /// body, `Content-Type` and `Content-Encoding`. These methods count as safe: such a request invalidates no URI and no group.
    ///
    /// Only responses with a freshness, stated or set by this rule, are stored, and they are never validated. A request with a
    /// body of more than 64 KB is passed through.
    public var bodyMethods: Set<HTTPRequest.Method>

    /// Creates a rule. A parameter that is nil changes nothing.
    public init(
      _ pattern: String, freshness: Duration? = nil, defaultFreshness: Duration? = nil,
      statuses: Set<Int>? = nil, contentTypes: Set<String>? = nil,
      expectedTypes: Set<String>? = nil,
      ignoredParameters: Set<String> = [], ignoresParameterOrder: Bool = false,
      bodyMethods: Set<HTTPRequest.Method> = []
    ) {
      self.pattern = pattern
      self.freshness = freshness
      self.defaultFreshness = defaultFreshness
      self.statuses = statuses
      self.contentTypes = contentTypes
      self.expectedTypes = expectedTypes
      self.ignoredParameters = ignoredParameters
      self.ignoresParameterOrder = ignoresParameterOrder
      self.bodyMethods = bodyMethods
    }
  }

  extension HTTPCacheRule {
    /// Whether the pattern matches all of `text`. O(bytes of the pattern x bytes of the text), for any pattern.
    func matches(_ text: String) -> Bool {
      let (pattern, text) = (Array(pattern.utf8), Array(text.utf8))
      let star = UInt8(ascii: "*")
      var (at, next) = (0, 0)
      // The place of the last `*`, and the end of the bytes of the text that this `*` takes.
      var (lastStar, taken): (Int?, Int) = (nil, 0)
      while at < text.count {
        if next < pattern.count, pattern[next] == star {
          (lastStar, taken) = (next, at)
          next += 1
        } else if next < pattern.count, pattern[next] == text[at] {
          at += 1
          next += 1
        } else if let lastStar {
          taken += 1
          at = taken
          next = lastStar + 1
        } else {
          return false
        }
      }
      return pattern[next...].allSatisfy { $0 == star }
    }

    func allows(_ response: HTTPResponse) -> Bool {
      if let statuses, !statuses.contains(response.status.code) { return false }
      guard let contentTypes else { return true }
      return response.contentType.isOne(of: contentTypes)
    }

    func query(_ parameters: [Substring]) -> [Substring] {
      func name(_ parameter: Substring) -> Substring { parameter.prefix { $0 != "=" } }
      let kept =
        ignoredParameters.isEmpty
        ? parameters : parameters.filter { !ignoredParameters.contains(String(name($0))) }
      // The sort is stable, because the order of parameters with equal names may have a meaning.
      return ignoresParameterOrder ? kept.sorted { name($0) < name($1) } : kept
    }
  }

  extension HTTPResponse {
    /// The content type in lower case, without parameters; empty without a content type.
    fileprivate var contentType: String {
      let type = headerFields[.contentType]?.prefix { $0 != ";" }.lowercased() ?? ""
      return String(type.trimmed)
    }
  }

  extension String {
    fileprivate func isOne(of types: Set<String>) -> Bool {
      types.contains { $0.hasSuffix("/*") ? hasPrefix($0.dropLast()) : $0 == self }
    }
  }

  extension HTTPCachePolicy {
    /// The reason why the rule does not expect this answer; nil for an expected answer.
    func unexpected(_ response: HTTPResponse, to request: HTTPRequest) -> String? {
      guard request.method == .get, let types = rule(for: request)?.expectedTypes else {
        return nil
      }
      switch response.status.code {
      case 204, 304: return nil
      case 206 where response.contentType == "multipart/byteranges": return nil
      case 200..<300:
        let type = response.contentType
        return type.isOne(of: types) ? nil : type.isEmpty ? "of no type" : type
      case 300..<400:
        guard let location = response.headerFields[values: .location].first,
          let target = Invalidation.resolve(location, against: request, policy: self),
          let own = ResponseKey(request, policy: self), target.host != own.host
        else { return nil }
        return "a redirection to \(target.host)"
      case 511: return "a demand to log in to the network (511)"
      default: return nil
      }
    }

    /// The rule for a URI: `host` and `path` (with the query) are in the form that a ``ResponseKey`` uses.
    func rule(host: String, path: String) -> HTTPCacheRule? {
      if rules.isEmpty { return nil }
      let text = host + path
      return rules.first { $0.matches(text) }
    }

    func rule(for request: HTTPRequest) -> HTTPCacheRule? {
      if rules.isEmpty { return nil }
      guard let scheme = request.scheme, let authority = request.authority else { return nil }
      return rule(
        host: ResponseKey.host(scheme: scheme, authority: authority),
        path: RequestTarget.encoded(request.target))
    }
  }
#endif
