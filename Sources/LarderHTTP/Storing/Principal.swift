import HTTPTypes

/// The user that a request speaks for, as digests.
///
/// Credentials are the field `Authorization`, user information in the URI (`alice:pw@host`), and the fields that
/// ``HTTPCachePolicy/partitionFields`` names.
struct Principal: Hashable, Sendable {
  /// A digest of all credentials; nil for a request without any.
  let digest: String?
  /// A digest of `Authorization` alone, by which ``HTTPCache/removeAll(authorization:)`` finds responses.
  let authorization: String?

  init(_ request: HTTPRequest, policy: HTTPCachePolicy) {
    self.init(
      request.headerFields,
      userInformation: request.authority.flatMap { authority in
        authority.lastIndex(of: "@").map { String(authority[..<$0]) }
      }, policy: policy)
  }

  init(_ fields: HTTPFields, userInformation: String? = nil, policy: HTTPCachePolicy) {
    authorization =
      fields.contains(.authorization)
      ? Secrets.digest(
        fields.lines(of: .authorization).joined(separator: "\n"), key: policy.secret) : nil
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

  /// The tags of responses to this user.
  var tags: [String] {
    Set([digest, authorization].compactMap { $0 }).sorted().map(ResponseTags.user)
  }
}
