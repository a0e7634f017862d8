#if HTTP
  public import HTTPTypes

  /// The settings of an application for the responses of some URIs, in place of the origin's.
  ///
  /// Of the rules in ``HTTPCachePolicy/rules`` the first whose pattern matches applies. A rule never stores a response that
  /// forbids it (`no-store`, and `private` in a shared cache), and never avoids a validation that the response demands
  /// (`no-cache`).
  public struct HTTPCacheRule: Sendable, Hashable {
    /// The host, the path and the query, with `*` for any bytes: `api.example.com/images/*`, `*/search?*`. The host has its
    /// port if that is not the scheme's own.
    public var pattern: String
    /// The freshness in place of the freshness that a response states; nil leaves that.
    public var freshness: Duration?
    /// The freshness of responses that state none and have a status that allows it (RFC 9110, section 15.1), in place of a
    /// guess by `Last-Modified`.
    public var defaultFreshness: Duration?
    /// The statuses that are stored; nil for all that may be.
    public var statuses: Set<Int>?
    /// The content types that are stored, in lower case, such as `application/json` or `image/*`; nil for all.
    public var contentTypes: Set<String>?
    /// The content types that a successful answer to GET has, as in ``contentTypes``; nil for any. Another type is refused as
    /// the login page of a network: the request throws ``HTTPCacheError/unexpected(_:)``, or gets a stored response as if the
    /// origin could not be reached, and nothing is stored. So are the status 511 and a redirection to another host.
    public var expectedTypes: Set<String>?
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
      return response.contentType.isOne(of: contentTypes)
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

  extension HTTPResponse {
    /// In lower case and without parameters; empty if it is not given.
    fileprivate var contentType: String {
      let type = headerFields[.contentType]?.prefix { $0 != ";" }.lowercased() ?? ""
      return String(Substring(type).trimmed)
    }
  }

  extension String {
    fileprivate func isOne(of types: Set<String>) -> Bool {
      types.contains { $0.hasSuffix("/*") ? hasPrefix($0.dropLast()) : $0 == self }
    }
  }

  extension HTTPCachePolicy {
    /// The words for an answer that its rule does not expect; nil for a response that it expects.
    func unexpected(_ response: HTTPResponse, to request: HTTPRequest) -> String? {
      guard request.method == .get, let types = rule(for: request)?.expectedTypes else {
        return nil
      }
      switch response.status.code {
      case 204, 304: return nil
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
