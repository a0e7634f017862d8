#if HTTP
  import HTTPTypes

  /// The invalidation by unsafe requests (RFC 9111, 4.4).
  enum Invalidation {
    /// Safe methods (RFC 9110, 9.2.1; RFC 4918 and 3253; QUERY). All other methods, known or unknown, are unsafe.
    private static let safe: Set<String> = [
      "GET", "HEAD", "OPTIONS", "TRACE", "PROPFIND", "REPORT", "SEARCH", "QUERY",
    ]

    /// The most references of a field that end stored responses. Each reference costs a commit before the client gets the answer.
    private static let mostReferences = 8

    static func isSafe(_ method: HTTPRequest.Method) -> Bool { safe.contains(method.rawValue) }

    /// A successful unsafe request invalidates its target, and URIs of its origin in `Location` and `Content-Location`.
    static func keys(
      of request: HTTPRequest, _ response: HTTPResponse, policy: HTTPCachePolicy
    ) -> [ResponseKey] {
      guard !isSafe(request.method), (200...399).contains(response.status.code),
        let target = ResponseKey(request, policy: policy)
      else { return [] }
      var keys = [target]
      for name in [HTTPField.Name.location, .contentLocation] {
        for location in response.headerFields[values: name].prefix(mostReferences) {
          guard let key = resolve(location, against: request, policy: policy),
            key.origin == target.origin, !keys.contains(key)
          else { continue }
          keys.append(key)
        }
      }
      return keys
    }

    /// Resolves a reference in a response (RFC 3986, 5.2); nil if it is not an HTTP URI.
    ///
    /// Nothing is encoded or decoded, so a reference has the key of an equal request. The segments `.` and `..` are removed.
    static func resolve(
      _ reference: String, against request: HTTPRequest, policy: HTTPCachePolicy
    ) -> ResponseKey? {
      guard var scheme = request.scheme, var authority = request.authority else { return nil }
      var rest = reference.prefix { $0 != "#" }
      let first = rest.prefix { !":/?".contains($0) }
      if rest[first.endIndex...].hasPrefix(":") {
        scheme = first.lowercased()
        rest = rest[first.endIndex...].dropFirst()
        guard ["http", "https"].contains(scheme), rest.hasPrefix("//") else { return nil }
      }
      let target = request.target
      let base = target.prefix { $0 != "?" }
      var path: Substring
      if rest.hasPrefix("//") {
        let host = rest.dropFirst(2).prefix { $0 != "/" && $0 != "?" }
        if host.isEmpty { return nil }
        authority = String(host)
        path = rest[host.endIndex...]
        if !path.hasPrefix("/") { path = "/" + path }
      } else if rest.isEmpty {
        path = target[...]
      } else if rest.hasPrefix("?") {
        path = base + rest
      } else if rest.hasPrefix("/") {
        path = rest
      } else {
        let folder = base.lastIndex(of: "/").map { base[...$0] } ?? "/"
        path = folder + rest
      }
      return ResponseKey(
        scheme: scheme, authority: authority, path: withoutDots(path), policy: policy)
    }

    /// The path without the segments `.` and `..` (RFC 3986, 5.2.4).
    private static func withoutDots(_ target: Substring) -> String {
      let path = target.prefix { $0 != "?" }
      let query = target[path.endIndex...]
      guard path.contains("/.") else { return String(target) }
      var segments: [Substring] = []
      let all = path.dropFirst().split(separator: "/", omittingEmptySubsequences: false)
      for (number, segment) in all.enumerated() {
        let isLast = number == all.count - 1
        switch segment {
        case ".": if isLast { segments.append("") }
        case "..":
          _ = segments.popLast()
          if isLast { segments.append("") }
        default: segments.append(segment)
        }
      }
      return "/" + segments.joined(separator: "/") + query
    }
  }

  /// Groups of responses of one origin (RFC 9875), as tags of their entries.
  enum CacheGroups {
    private static let prefix = "http-group:"
    /// RFC 9875, section 2, asks for at least 32 groups of 32 bytes. The cache ignores the groups of a response after the first
    /// 64 groups, because each group is a record of the store.
    private static let most = 64
    private static let longestTag = 200

    /// The tags of the groups that a field names; empty if the field is not a list of strings.
    static func tags(_ name: HTTPField.Name, in fields: HTTPFields, of origin: String) -> [String] {
      let lines = fields.lines(of: name)
      guard !lines.isEmpty, let members = StructuredDictionary.list(lines) else { return [] }
      var tags: [String] = []
      for member in members {
        guard case .string(let group) = member else { return [] }
        let tag = tag(group, of: origin)
        if tags.count < most, !tags.contains(tag) { tags.append(tag) }
      }
      return tags
    }

    /// The tag of a group. The groups of two origins differ, even if their names are equal (section 2.1).
    private static func tag(_ group: String, of origin: String) -> String {
      // An origin contains no space and a hash contains no colon, so two groups never have the same tag.
      let name = origin + " " + group
      return prefix
        + (prefix.utf8.count + name.utf8.count <= longestTag ? name : Secrets.hash(name))
    }

    static func isTag(_ tag: String) -> Bool { tag.hasPrefix(prefix) }
  }

  extension CacheReception {
    /// Notes the groups and the origin whose stored responses this response invalidates, besides the URIs of ``invalidates``.
    mutating func noteEndings(
      _ response: HTTPResponse, to request: HTTPRequest, by rules: HTTPRules
    ) {
      guard let key = ResponseKey(request, policy: rules.policy) else { return }
      // RFC 9875, section 3: a response to a safe method invalidates no group.
      if !Invalidation.isSafe(request.method), !rules.storesByBody(request) {
        endsTags = CacheGroups.tags(
          .cacheGroupInvalidation, in: response.headerFields, of: key.origin)
      }
      // Clear Site Data, section 3: user agents obey the field of a secure origin. So a private cache obeys the field.
      endsOrigin =
        rules.policy.kind == .private && request.scheme?.lowercased() == "https"
        && response.headerFields.members(of: .clearSiteData).contains {
          $0 == "\"cache\"" || $0 == "\"*\""
        }
    }
  }
#endif
