#if HTTP
  public import HTTPTypes

  /// The user of a request, as digests.
  ///
  /// ``HTTPCachePolicy/principal`` names the user. Without a name, the credentials identify the user: the field
  /// `Authorization`, user information in the URI (`alice:pw@host`), and the fields in ``HTTPCachePolicy/partitionFields``.
  struct Principal: Hashable, Sendable {
    /// A digest of the name or, without a name, of all credentials; nil for a request without a name and credentials.
    let digest: String?
    /// A digest of `Authorization` alone, by which ``HTTPCache/removeAll(authorization:)`` finds responses.
    let authorization: String?

    init(_ request: HTTPRequest, policy: HTTPCachePolicy) {
      self.init(
        request.headerFields,
        userInformation: request.authority.flatMap { authority in
          authority.utf8.lastIndex(of: UInt8(ascii: "@")).map { String(authority[..<$0]) }
        }, name: policy.principal?(request), policy: policy)
    }

    init(
      _ fields: HTTPFields, userInformation: String? = nil, name: String? = nil,
      policy: HTTPCachePolicy
    ) {
      authorization =
        fields.contains(.authorization)
        ? Secrets.digest(
          fields.lines(of: .authorization).joined(separator: "\n"), key: policy.secret) : nil
      if let name {
        digest = Self.digest(ofName: name, policy: policy)
        return
      }
      var others = userInformation.map { ["@ " + $0] } ?? []  // `@` is the name of no field.
      for name in policy.partitionFields.sorted(by: { $0.canonicalName < $1.canonicalName })
      where fields.contains(name) && name != .authorization {
        others.append(name.canonicalName + " " + fields.lines(of: name).joined(separator: "\n"))
      }
      // The lines of a field never have two NULs in a row. So no `Authorization` has the digest of other credentials or a name.
      let parts = [authorization ?? ""] + others
      digest =
        others.isEmpty
        ? authorization : Secrets.digest(parts.joined(separator: "\0\0"), key: policy.secret)
    }

    static func digest(ofName name: String, policy: HTTPCachePolicy) -> String {
      Secrets.digest("principal\0\0" + name, key: policy.secret)
    }

    var tags: [String] {
      Set([digest, authorization].compactMap { $0 }).sorted().map(ResponseTags.user)
    }
  }

  extension HTTPCachePolicy {
    /// A copy of `request` without the fields that identify its user, for a redirection to another origin.
    ///
    /// The copy lacks `Authorization`, `Proxy-Authorization`, `Cookie` and the fields of ``partitionFields``. If ``principal``
    /// still names a user, the copy has only fields that identify no user, such as `Accept-Language` and `Range`.
    public func withoutCredentials(_ request: HTTPRequest) -> HTTPRequest {
      var request = request
      request.headerFields.removeAll(Secrets.fields.union(partitionFields))
      // The cache cannot know which fields the closure reads, so only fields that identify no user stay.
      if principal?(request) != nil {
        request.headerFields = request.headerFields.filter { Self.impersonal.contains($0.name) }
      }
      return request
    }

    private static let impersonal: Set<HTTPField.Name> = ClientCondition.fields
      .union(Preferences.names).union([
        .cacheControl, .contentEncoding, .contentLanguage, .contentLength, .contentType, .ifMatch,
        .ifRange, .ifUnmodifiedSince, .pragma, .range, .userAgent,
      ])
  }

  /// The tags of stored responses. One call can remove all responses with a tag, such as those of a host or of a user.
  enum ResponseTags {
    private static let longestHost = 150

    /// - Parameter host: as in ``ResponseKey/host``, or as a caller writes it. The ports 80 and 443 are removed for any scheme.
    static func host(_ host: String) -> String {
      var host = ResponseKey.host(scheme: "", authority: host).lowercased()
      for port in [":80", ":443", ":"] where host.hasSuffix(port) {
        host.removeLast(port.count)
        break
      }
      return "http-host:" + (host.utf8.count <= longestHost ? host : Secrets.hash(host))
    }

    /// - Parameter credential: a digest, as in ``StoredResponse/credential``.
    static func user(_ credential: String) -> String { "http-user:" + credential }

    /// The tag of all responses of a URI. Only requests under way have this tag; stored responses are found by their keys.
    static func uri(_ key: ResponseKey) -> String { "http-uri:" + key.uri }

    /// The tag of all responses of an origin. Only requests under way have this tag.
    static func origin(_ key: ResponseKey) -> String { "http-origin:" + key.origin }
  }
#endif
