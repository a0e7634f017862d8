import HTTPTypes

/// The user that a request speaks for, as digests.
///
/// ``HTTPCachePolicy/principal`` names the user. Without a name the credentials stand for the user: these are the field `Authorization`, user information in the URI (`alice:pw@host`), and the fields that
/// ``HTTPCachePolicy/partitionFields`` names.
struct Principal: Hashable, Sendable {
  /// A digest of the name, or of all credentials; nil for a request without either.
  let digest: String?
  /// A digest of `Authorization` alone, by which ``HTTPCache/removeAll(authorization:)`` finds responses.
  let authorization: String?

  init(_ request: HTTPRequest, policy: HTTPCachePolicy) {
    self.init(
      request.headerFields,
      userInformation: request.authority.flatMap { authority in
        authority.lastIndex(of: "@").map { String(authority[..<$0]) }
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
    var others = userInformation.map { ["user " + $0] } ?? []
    for name in policy.partitionFields.sorted(by: { $0.canonicalName < $1.canonicalName })
    where fields.contains(name) && name != .authorization {
      others.append(name.canonicalName + " " + fields.lines(of: name).joined(separator: "\n"))
    }
    if others.isEmpty {
      digest = authorization
    } else {
      let parts = (authorization.map { [$0] } ?? []) + others
      digest = Secrets.digest(parts.joined(separator: "\n\n"), key: policy.secret)
    }
  }

  /// The digest of a user whom ``HTTPCachePolicy/principal`` names.
  static func digest(ofName name: String, policy: HTTPCachePolicy) -> String {
    Secrets.digest("principal\n\n" + name, key: policy.secret)
  }

  /// The tags of responses to this user.
  var tags: [String] {
    Set([digest, authorization].compactMap { $0 }).sorted().map(ResponseTags.user)
  }
}
