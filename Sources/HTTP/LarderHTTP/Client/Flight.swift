#if HTTP
  import HTTPTypes
  import Larder
  import LarderSystem
  import Synchronization

  /// An exchange with the origin. Other clients with similar requests wait for its outcome.
  final class Flight: Sendable {
    /// How the exchange ended, and what the waiting clients do next.
    enum Outcome: Sendable {
      /// The exchange is complete. The waiting clients must read the store again.
      case arrived
      /// The origin answered a request with these fields with an error that a stale response replaces.
      case refused(HTTPFields, Retry)
      /// The response can serve no other client, or comes too slowly, so each waiting client sends its own request.
      case ownOnly
      /// The leading client was cancelled, or the response was invalidated, so a waiting client sends the request again.
      case abandoned
      /// The exchange of a request with these fields failed. Waiting clients with other fields may share one more request.
      case failed(any Error, HTTPFields, Retry)
    }

    private let name: String
    private let flights: SingleFlight<String>
    private let retry: Retry?
    private let isComplete = Atomic(false)
    private let ownOnly = Atomic(false)
    /// Whether only the leading client needs the body, which may be endless. So a refresh in the background stops reading.
    var isOwnOnly: Bool { ownOnly.load(ordering: .relaxed) }

    /// - Parameter name: a name for which ``SingleFlight/join(_:for:)`` has just begun a flight in `flights`.
    init(_ name: String, in flights: SingleFlight<String>, for retry: Retry? = nil) {
      self.name = name
      self.flights = flights
      self.retry = retry
    }

    /// Resumes the waiting clients. Further calls do nothing, because they could end a later flight with the same name.
    func complete(_ outcome: Outcome) {
      if case .ownOnly = outcome { ownOnly.store(true, ordering: .relaxed) }
      if isComplete.exchange(true, ordering: .relaxed) { return }
      retry?.keep(outcome)
      flights.complete(name, with: outcome)
    }

    /// The one request that follows a failed flight, on behalf of all waiting clients with other fields. The outcome of the
    /// request stays available while one of these clients waits for an answer.
    final class Retry: Sendable {
      fileprivate let flights = SingleFlight<String>()
      private let kept = Mutex<Outcome?>(nil)

      /// Joins the request, which may have ended already; if the result is nil, the caller sends it in ``leading(_:)``.
      func join(_ name: String) -> InFlightLoad<Outcome>? {
        if let joined = flights.join(name, for: Outcome.self) { return joined }
        guard let outcome = kept.withLock({ $0 }) else { return nil }
        defer { flights.complete(name, with: outcome) }
        return flights.join(name)
      }

      func leading(_ name: String) -> Flight { Flight(name, in: flights, for: self) }

      /// Keeps the outcome. The outcome of an abandoned request is not kept, because another client sends that request again.
      fileprivate func keep(_ outcome: Outcome) {
        if case .abandoned = outcome { return }
        kept.withLock { $0 = outcome }
      }
    }

    private static let distinguishingFields: Set<HTTPField.Name> = ClientCondition.fields.union([
      .cacheControl, .pragma, .cookie, .range, .ifRange, .ifMatch, .ifUnmodifiedSince, .origin,
    ])

    /// The name under which similar requests wait for one exchange; nil for a request that is always sent.
    static func name(
      of forward: CacheForward, under key: ResponseKey?, policy: HTTPCachePolicy
    ) -> String? {
      let request = forward.original
      guard let key, forward.reason != .bypass,
        request.method == .get || request.method == .head || key.bodyDigest != nil
      else { return nil }
      // After a successful exchange each waiting client reads the store again, and `Vary` selects its response there. So the name
      // needs only the fields that probably select different responses, and the fields that tell the cache what to do.
      var names = distinguishingFields.union(Preferences.names)
      for stored in forward.stored {
        names.formUnion(stored.vary.fields.compactMap { .init($0.name) })
      }
      let fields = request.headerFields.filter { names.contains($0.name) }
        .map { $0.name.canonicalName + ":" + $0.faithfulText }
      let principal = Principal(request, policy: policy).digest ?? ""
      // Only requests with equal time limits and expected types share a flight, because these decide how the flight ends.
      let types = policy.rule(for: request)?.expectedTypes?.sorted().joined(separator: ",") ?? "*"
      return request.method.rawValue + " " + key.uri + "#" + (key.bodyDigest ?? "") + " "
        + principal + " \(policy.timeout) \(policy.longestWait) \(types) "
        + Secrets.digest(fields.sorted().joined(separator: "\n"), key: policy.secret)
    }
  }

  extension OriginExchange {
    /// The outcome of the flight with this name, if another client leads it; nil if this client must lead the flight. A body may
    /// come slowly for hours. So a client sends its own request a minute after two heads and a stalled piece would have failed.
    func outcome(of name: String) async throws -> Flight.Outcome? {
      let joined: InFlightLoad<Flight.Outcome>? =
        if let retry = client.retry { retry.join(name) } else { cache.flights.join(name) }
      guard let joined else { return nil }
      let policy = cache.rules.policy
      let limit = Duration.minutes(1) + policy.timeout.bounded * 3 + policy.longestWait.bounded
      return try await cache.clock.run(
        within: limit, { try await joined.outcome() }, else: { Flight.Outcome.ownOnly })
    }
  }
#endif
