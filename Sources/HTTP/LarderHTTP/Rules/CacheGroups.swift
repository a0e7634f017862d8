#if HTTP
  import HTTPTypes

  /// Groups of responses of one origin (RFC 9875), as tags of their entries.
  enum CacheGroups {
    private static let prefix = "http-group:"
    /// RFC 9875, section 2, asks for at least 32 groups of 32 bytes. The cache ignores the groups of a response after the first
    /// 64 groups, because each group is a record of the store.
    private static let most = 64
    private static let longestTag = 200

    /// The tags of the groups that a field names; empty if the field is not a list of strings.
    static func tags(
      _ name: HTTPField.Name, in fields: HTTPFields, of origin: String
    ) -> [String] {
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

    /// The tag of a group. Equal names mean one group only within an origin (section 2.1).
    private static func tag(_ group: String, of origin: String) -> String {
      // The origin has no space and the hash has no colon, so no two groups get one tag.
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
      // Clear Site Data, section 3: a user agent obeys the field of a secure origin. A shared cache is not a user agent.
      endsOrigin =
        rules.policy.kind == .private && request.scheme?.lowercased() == "https"
        && response.headerFields.members(of: .clearSiteData).contains {
          $0 == "\"cache\"" || $0 == "\"*\""
        }
    }
  }
#endif
