public import HTTPTypes
public import Larder

/// The head of a stored response, and its times.
public struct StoredResponse: Sendable, Hashable {
  /// The status and the reusable fields.
  public var response: HTTPResponse
  /// When its request, or its last validation, was sent.
  public var requested: Timestamp
  /// When the response arrived.
  public var received: Timestamp
  /// Bytes of the body.
  public var bodySize: Int
  /// Identifies the stored body: a validation keeps it, another body has another. Nil if it is not stored yet.
  var bodyID: UInt64?
  /// The length of the parts in which the body is stored; nil for a body that is the value of the response's entry.
  var partSize: Int?
  /// The freshness in seconds that a rule of the application has given it; nil for what it states itself.
  var assignedFreshness: Int?
  /// The request fields that select it among the responses of its URI.
  var vary: VaryKey
  /// The digest of the credentials of its request; nil without credentials.
  var credential: String?

  /// The entries of the body; nil for a body that is the value of the response's entry.
  var parts: BodyParts? {
    guard let bodyID, let partSize else { return nil }
    return BodyParts(id: bodyID, size: partSize)
  }

  var fields: HTTPFields { response.headerFields }
  var entityTag: EntityTag? { EntityTag(fields) }
  var lastModified: String? { fields[values: .lastModified].first }
  var hasValidators: Bool { entityTag != nil || lastModified != nil }

  var age: ResponseAge { ResponseAge(fields, requested: requested, received: received) }

  /// Its range in the whole representation; nil if it is complete.
  var part: ContentRange? {
    response.status.code == 206 ? ContentRange(fields) : nil
  }

  func directives(for kind: HTTPCachePolicy.Kind) -> ResponseDirectives {
    ResponseDirectives(fields, for: kind)
  }

  /// Whether `Vary` selects it for a request with these fields (RFC 9111, section 4.1).
  func isSelected(by request: HTTPFields) -> Bool { vary.matches(request, response: fields) }

  /// Its date, by which the newest is selected.
  var date: HTTPDate {
    HTTPDate(of: .date, in: fields, now: received) ?? HTTPDate(received)
  }

  func lifetime(policy: HTTPCachePolicy) -> FreshnessLifetime {
    assignedFreshness.map(FreshnessLifetime.init(assigned:))
      ?? FreshnessLifetime(response, received: received, policy: policy)
  }

  /// The time until which it may be served, also stale, or validated.
  ///
  /// A time not after ``received`` means that it is not stored.
  public func keptUntil(policy: HTTPCachePolicy) -> Timestamp {
    let lifetime = lifetime(policy: policy)
    let stale = received.advanced(by: .seconds(lifetime.seconds - age.initial))
    var end = stale
    let directives = directives(for: policy.kind)
    if !directives.forbidsStale, lifetime.source != .none || hasValidators {
      let windows = max(directives.staleWhileRevalidate, directives.staleIfError ?? 0)
      end = max(
        stale.advanced(by: .seconds(windows)), stale.advanced(by: policy.whenDisconnected))
    }
    return hasValidators ? max(end, received.advanced(by: policy.retention)) : end
  }
}
