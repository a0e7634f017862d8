public import HTTPTypes
public import Larder

/// What a cache knows of a response that it holds, all but the body.
public struct StoredResponse: Sendable, Hashable {
  /// Status and fields, without those that are not to be used again.
  public var response: HTTPResponse
  /// When the request was sent that it answered, or that last validated it.
  public var requested: Timestamp
  /// When it came.
  public var received: Timestamp
  /// Bytes of the body.
  public var bodySize: Int
  /// What selects it among the responses of its URI.
  var vary: VaryKey
  /// Whose it is, as a digest; nil for a request without credentials.
  var credential: String?

  var fields: HTTPFields { response.headerFields }
  var directives: ResponseDirectives { ResponseDirectives(fields) }
  var entityTag: EntityTag? { EntityTag(fields) }
  var lastModified: String? { fields[values: .lastModified].first }
  var hasValidators: Bool { entityTag != nil || lastModified != nil }

  var age: ResponseAge { ResponseAge(fields, requested: requested, received: received) }

  /// Which part of the whole it is; nil if it is whole.
  var part: ContentRange? {
    response.status.code == 206 ? ContentRange(fields) : nil
  }

  /// Whether a request with these fields selects it (RFC 9111, 4.1). Credentials always part responses.
  func isSelected(by request: HTTPFields) -> Bool {
    credential == Secrets.credential(of: request) && vary.matches(request, response: fields)
  }

  /// Its own date, for choosing the newest.
  var date: HTTPDate {
    HTTPDate(of: .date, in: fields, now: received) ?? HTTPDate(received)
  }

  /// Until when it is worth keeping: as long as it may be served, be it stale, or validated.
  ///
  /// Not after ``received``: it is not worth storing.
  public func keptUntil(policy: HTTPCachePolicy) -> Timestamp {
    let lifetime = FreshnessLifetime(response, received: received, policy: policy)
    let stale = received.advanced(by: .seconds(lifetime.seconds - age.initial))
    var end = stale
    let directives = directives
    if !directives.forbidsStale, lifetime.source != .none || hasValidators {
      let windows = max(directives.staleWhileRevalidate, directives.staleIfError)
      end = max(
        stale.advanced(by: .seconds(windows)), stale.advanced(by: policy.whenDisconnected))
    }
    return hasValidators ? max(end, received.advanced(by: policy.retention)) : end
  }
}
