import HTTPTypes
import Larder

/// How a request ended, for other clients that asked for the same meanwhile.
enum ExchangeOutcome: Sendable {
  /// Look at the store again.
  case arrived
  /// The response serves no other client.
  case ownOnly
  /// Its client gave up; another may send the request.
  case abandoned
  /// The origin could not be reached.
  case failed(any Error)
}

/// Requests that wait for the exchange of another one: a flight is an exchange that serves all of them.
extension HTTPCache {
  /// Sends a request, or waits for a similar one that is under way.
  func forward(
    _ forward: CacheForward, _ held: [StoredVariant], _ attempt: inout Attempt,
    _ permit: StorePermit
  ) async throws -> HTTPCacheResult? {
    guard let flight = flight(of: forward, under: attempt.key), !attempt.hasWaited else {
      return try await exchange(forward, held, attempt, permit, flight: nil)
    }
    if let joined = flights.join(flight, for: ExchangeOutcome.self) {
      attempt.hasWaited = true
      switch try await joined.outcome() {
      case .failed(let error):
        return try staleFallback(for: forward, held, after: error, &attempt.lost)
      case .abandoned: attempt.hasWaited = false
      case .arrived, .ownOnly: break
      }
      return nil
    }
    guard try isLeader(of: flight, after: held, attempt) else { return nil }
    return try await exchange(forward, held, attempt, permit, flight: flight)
  }

  /// Whether the caller that begins a flight must go on. Another exchange may have ended between its look at the store and
  /// the beginning of the flight; then the flight ends at once, and the caller looks again.
  private func isLeader(
    of flight: String, after held: [StoredVariant], _ attempt: Attempt
  ) throws -> Bool {
    do {
      let present = try self.held(under: attempt.key, except: attempt.lost)
      if present.count == held.count, zip(present, held).allSatisfy({ $0.version == $1.version }) {
        return true
      }
    } catch {
      complete(flight, .arrived)
      throw error
    }
    complete(flight, .arrived)
    return false
  }

  private static let distinguishingFields: Set<HTTPField.Name> = ClientCondition.fields.union([
    .cacheControl, .pragma, .cookie, .range, .ifRange, .ifMatch, .ifUnmodifiedSince, .origin,
  ])

  func complete(_ flight: String, _ outcome: ExchangeOutcome) {
    flights.complete(flight, with: outcome)
  }

  /// The name under which similar requests wait for one exchange; nil where each is sent.
  private func flight(of forward: CacheForward, under key: ResponseKey?) -> String? {
    let request = forward.original
    guard let key, forward.reason != .bypass,
      request.method == .get || request.method == .head || key.bodyDigest != nil
    else { return nil }
    // After the exchange every waiting client looks at the store again, where `Vary` decides. So only fields that are
    // likely to select another response, or that concern the cache, keep clients from waiting together.
    var names = Self.distinguishingFields.union(Preferences.names)
    for stored in forward.stored {
      names.formUnion(stored.vary.fields.compactMap { .init($0.name) })
    }
    let fields = request.headerFields.filter { names.contains($0.name) }
      .map { $0.name.canonicalName + ":" + $0.faithfulText }
    let principal = Principal(request, policy: rules.policy).digest ?? ""
    return request.method.rawValue + " " + key.uri + "#" + (key.bodyDigest ?? "") + " " + principal
      + " "
      + Secrets.digest(fields.sorted().joined(separator: "\n"), key: rules.policy.secret)
  }

  /// Refreshes in the background, unless the same exchange is under way.
  func refresh(
    _ forward: CacheForward, _ held: [StoredVariant], _ client: Attempt, _ permit: StorePermit
  ) {
    guard let flight = flight(of: forward, under: client.key),
      flights.join(flight, for: ExchangeOutcome.self) == nil
    else { return }
    let attempt = Attempt(
      request: forward.original, key: client.key,
      body: client.key?.bodyDigest == nil ? HTTPBody() : client.body, tags: client.tags,
      interim: { _ in })
    Task(priority: .background) {
      do {
        // Another refresh may have ended before this one began.
        guard try isLeader(of: flight, after: held, attempt) else { return }
        let result = try await exchange(forward, held, attempt, permit, flight: flight)
        if let body = result?.body { for try await _ in body {} }
      } catch {
        report(error)
      }
    }
  }
}
