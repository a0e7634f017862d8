#if HTTP
  public import HTTPTypes

  /// The settings of an application for the responses of some URIs, in place of the origin's.
  ///
  /// Of the rules in ``HTTPCachePolicy/rules`` the first whose pattern matches applies. A rule never stores what the response
  /// forbids to store (`no-store`, and `private` in a shared cache), and never avoids a validation that it demands
  /// (`no-cache`).
  public struct HTTPCacheRule: Sendable, Hashable {
    /// The host, the path and the query, with `*` for any bytes: `api.example.com/images/*`, `*/search?*`. The host has its
    /// port if that is not the scheme's own.
    public var pattern: String
    /// The freshness in place of the one that a response states; nil leaves that.
    public var freshness: Duration?
    /// The freshness of responses that state none and have a status that allows it (RFC 9110, section 15.1), in place of a
    /// guess by `Last-Modified`.
    public var defaultFreshness: Duration?
    /// The statuses that are stored; nil for all that may be.
    public var statuses: Set<Int>?
    /// The content types that are stored, in lower case, such as `application/json` or `image/*`; nil for all.
    public var contentTypes: Set<String>?
    /// The query parameters that change nothing, by name: requests that differ in these alone share a response. The origin
    /// gets them from the request that is sent.
    public var ignoredParameters: Set<String>
    /// Whether the order of query parameters changes nothing.
    public var ignoresParameterOrder: Bool
    /// The methods besides GET and HEAD, such as POST or QUERY, whose responses are stored by the body of the request, with its
    /// `Content-Type` and `Content-Encoding`. These count as safe: a request invalidates nothing.
    ///
    /// Stored are responses with a freshness, stated or set by this rule. They are never validated. A request with a body of
    /// more than 64 KB passes through.
    public var bodyMethods: Set<HTTPRequest.Method>

    /// Creates a rule. A parameter that is nil changes nothing.
    public init(
      _ pattern: String, freshness: Duration? = nil, defaultFreshness: Duration? = nil,
      statuses: Set<Int>? = nil, contentTypes: Set<String>? = nil,
      ignoredParameters: Set<String> = [], ignoresParameterOrder: Bool = false,
      bodyMethods: Set<HTTPRequest.Method> = []
    ) {
      self.pattern = pattern
      self.freshness = freshness
      self.defaultFreshness = defaultFreshness
      self.statuses = statuses
      self.contentTypes = contentTypes
      self.ignoredParameters = ignoredParameters
      self.ignoresParameterOrder = ignoresParameterOrder
      self.bodyMethods = bodyMethods
    }
  }

  extension HTTPCacheRule {
    /// Whether the pattern matches all of `text`.
    ///
    /// - Complexity: O(bytes of the pattern x bytes of the text), whatever the pattern.
    func matches(_ text: String) -> Bool {
      let (pattern, text) = (Array(pattern.utf8), Array(text.utf8))
      let star = UInt8(ascii: "*")
      var (at, next) = (0, 0)
      // Where the last `*` is, and how much of the text it takes.
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

    /// Whether responses to the method are stored by the body of the request.
    func storesByBody(_ method: HTTPRequest.Method) -> Bool {
      method != .get && method != .head && bodyMethods.contains(method)
    }

    /// Whether the rule lets the response be stored.
    func allows(_ response: HTTPResponse) -> Bool {
      if let statuses, !statuses.contains(response.status.code) { return false }
      guard let contentTypes else { return true }
      let type = response.headerFields[.contentType]?.prefix { $0 != ";" }.lowercased() ?? ""
      let trimmed = Substring(type).trimmed
      return contentTypes.contains { allowed in
        allowed.hasSuffix("/*") ? trimmed.hasPrefix(allowed.dropLast()) : allowed == trimmed
      }
    }

    /// The query that stands in the key.
    func query(_ parameters: [Substring]) -> [Substring] {
      var kept = parameters
      if !ignoredParameters.isEmpty {
        kept.removeAll { parameter in
          ignoredParameters.contains(String(parameter.prefix { $0 != "=" }))
        }
      }
      // A stable order by name: the order of equal names may have a meaning.
      return ignoresParameterOrder
        ? kept.enumerated().sorted {
          let (left, right) = ($0.element.prefix { $0 != "=" }, $1.element.prefix { $0 != "=" })
          return left == right ? $0.offset < $1.offset : left < right
        }.map(\.element) : kept
    }
  }

  extension HTTPCachePolicy {
    /// The rule for a host and a path with its query, as they stand in a ``ResponseKey``.
    func rule(host: String, path: String) -> HTTPCacheRule? {
      if rules.isEmpty { return nil }
      let text = host + path
      return rules.first { $0.matches(text) }
    }

    /// The rule for the target of a request.
    func rule(for request: HTTPRequest) -> HTTPCacheRule? {
      if rules.isEmpty { return nil }
      guard let scheme = request.scheme, let authority = request.authority else { return nil }
      return rule(
        host: ResponseKey.host(scheme: scheme, authority: authority),
        path: RequestTarget.encoded(request.path ?? "/"))
    }
  }
#endif
