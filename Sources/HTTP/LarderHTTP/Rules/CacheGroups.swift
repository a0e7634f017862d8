#if HTTP
  import HTTPTypes

  /// Groups of responses of one origin (RFC 9875), as tags of their entries.
  enum CacheGroups {
    private static let prefix = "http-group:"
    /// RFC 9875, section 2, asks for 32 of 32 bytes. Further ones do not count: each is a record of the store.
    private static let most = 64
    private static let longestTag = 200

    /// The tags of the groups that a field names; none for a field that is no list of strings.
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

    /// The same text is the same group only within an origin (section 2.1).
    private static func tag(_ group: String, of origin: String) -> String {
      // An origin has no space, and a hash no colon.
      let name = origin + " " + group
      return prefix
        + (prefix.utf8.count + name.utf8.count <= longestTag ? name : Secrets.hash(name))
    }

    static func isTag(_ tag: String) -> Bool { tag.hasPrefix(prefix) }
  }

  extension HTTPField.Name {
    static let cacheGroups = Self("Cache-Groups")!
    static let cacheGroupInvalidation = Self("Cache-Group-Invalidation")!
    static let clearSiteData = Self("Clear-Site-Data")!
  }

  extension CacheReception {
    /// Notes what the fields of a response end beside the URIs of ``invalidates``.
    mutating func noteEndings(
      _ response: HTTPResponse, to request: HTTPRequest, by rules: HTTPRules
    ) {
      guard let key = ResponseKey(request, policy: rules.policy) else { return }
      // RFC 9875, section 3: not after a safe method.
      if !Invalidation.isSafe(request.method), !rules.storesByBody(request) {
        endsTags = CacheGroups.tags(
          .cacheGroupInvalidation, in: response.headerFields, of: key.origin)
      }
      // Clear Site Data, section 3: a user agent obeys a secure origin. A shared cache is none.
      endsOrigin =
        rules.policy.kind == .private && request.scheme?.lowercased() == "https"
        && response.headerFields.members(of: .clearSiteData).contains {
          $0 == "\"cache\"" || $0 == "\"*\""
        }
    }
  }
#endif
