import HTTPTypes
import Larder
import Synchronization

/// An exchange with the origin for which other clients with similar requests wait.
final class Flight: Sendable {
  /// The end of a flight, for those that wait.
  enum Outcome: Sendable {
    /// Look at the store again.
    case arrived
    /// The response serves no other client.
    case ownOnly
    /// Its client gave up, or its response was invalidated; another may send the request.
    case abandoned
    /// The origin gave no response to a request with these fields.
    case failed(any Error, HTTPFields)
  }

  private let name: String
  private let flights: SingleFlight<String>
  private let isComplete = Atomic(false)

  /// - Parameter name: one that ``SingleFlight/join(_:for:)`` has just begun in `flights`.
  init(_ name: String, in flights: SingleFlight<String>) {
    self.name = name
    self.flights = flights
  }

  /// Resumes those that wait. Only the first call counts: another flight may have the name since.
  func complete(_ outcome: Outcome) {
    if !isComplete.exchange(true, ordering: .relaxed) { flights.complete(name, with: outcome) }
  }

  private static let distinguishingFields: Set<HTTPField.Name> = ClientCondition.fields.union([
    .cacheControl, .pragma, .cookie, .range, .ifRange, .ifMatch, .ifUnmodifiedSince, .origin,
  ])

  /// The name under which similar requests wait for one exchange; nil where each is sent.
  static func name(
    of forward: CacheForward, under key: ResponseKey?, policy: HTTPCachePolicy
  ) -> String? {
    let request = forward.original
    guard let key, forward.reason != .bypass,
      request.method == .get || request.method == .head || key.bodyDigest != nil
    else { return nil }
    // After the exchange every waiting client looks at the store again, where `Vary` decides. So only fields that are
    // likely to select another response, or that concern the cache, keep clients from waiting together.
    var names = distinguishingFields.union(Preferences.names)
    for stored in forward.stored {
      names.formUnion(stored.vary.fields.compactMap { .init($0.name) })
    }
    let fields = request.headerFields.filter { names.contains($0.name) }
      .map { $0.name.canonicalName + ":" + $0.faithfulText }
    let principal = Principal(request, policy: policy).digest ?? ""
    return request.method.rawValue + " " + key.uri + "#" + (key.bodyDigest ?? "") + " " + principal
      + " " + Secrets.digest(fields.sorted().joined(separator: "\n"), key: policy.secret)
  }
}
