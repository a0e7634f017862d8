public import HTTPTypes
public import Larder

/// A private HTTP cache over a namespace (RFC 9111).
///
/// Each stored response is an entry of the namespace: its body is the value, and its fields are the metadata. Any number
/// of these, in any process, may share a namespace. What has been stale for long is still kept to be validated, so an entry's
/// end is not that of the response's freshness.
public struct HTTPCache: Sendable {
  public let namespace: Store.Namespace
  public let rules: HTTPRules
  let transport: any HTTPTransport
  let flights = SingleFlight<String>()
  let permits = StoreTokens()
  let report: @Sendable (any Error) -> Void
  var clock: any LarderClock { namespace.store.clock }

  /// Time is that of the store's clock.
  ///
  /// - Parameter report: is told why something could not be stored, and why a refresh in the background failed where nothing
  ///   stored stood in for it. Neither keeps an answer from a client.
  public init(
    in namespace: Store.Namespace, over transport: any HTTPTransport,
    policy: HTTPCachePolicy = HTTPCachePolicy(),
    report: @escaping @Sendable (any Error) -> Void = { _ in }
  ) {
    self.namespace = namespace
    self.transport = transport
    self.report = report
    rules = HTTPRules(policy: policy)
  }

  /// The answer to `request`, from the store or the origin.
  ///
  /// `request` has a scheme and an authority. Of several that ask the same at once, one is sent. Throws the transport's
  /// error, or ``HTTPCacheError/timedOut(_:)``, where the origin cannot be reached and nothing may be served in its place;
  /// and a `LarderError` if the store itself fails.
  ///
  /// - Parameter tags: what is stored of the answer can be ended by these: see ``removeAll(tag:)``. They are added to those that a
  ///   stored response has already when the origin is asked about it, and not where it answers by itself.
  public func send(
    _ request: HTTPRequest, body: [UInt8] = [], tags: [String] = [],
    interim: @escaping @Sendable (HTTPResponse) async -> Void = { _ in }
  ) async throws -> HTTPCacheResult {
    for tag in tags { _ = try EntryAttributes.validated(tag) }
    var attempt = Attempt(
      request: request, body: body, tags: tags, interim: interim,
      permit: permits.issue(self.tags(of: request, tags)))
    while true {
      try Task.checkCancellation()
      if let result = try await self.attempt(&attempt) { return result }
    }
  }

  /// One request of a client on its way to an answer.
  struct Attempt {
    let request: HTTPRequest
    let body: [UInt8]
    let tags: [String]
    let interim: @Sendable (HTTPResponse) async -> Void
    /// Issued before anything was looked at: what is ended later is ended for whatever this comes to.
    let permit: Permit
    /// Keys whose bodies turned out to be gone or damaged.
    var lost: Set<String> = []
    var hasWaited = false
  }

  /// Nil: what was stored has changed meanwhile, and is to be looked at again.
  private func attempt(_ attempt: inout Attempt) async throws -> HTTPCacheResult? {
    let held = try held(for: attempt.request, except: attempt.lost)
    let decision = rules.decide(
      attempt.request, stored: held.map(\.response), at: clock.now)
    switch decision {
    case .answer(let answer):
      return try result(answer, from: held, &attempt)
    case .answerWhileRevalidating(let answer, let forward):
      let result = try result(answer, from: held, &attempt)
      if result != nil { refresh(forward, held, attempt) }
      return result
    case .forward(let forward):
      return try await self.forward(forward, held, &attempt)
    }
  }

  private func result(
    _ answer: CacheAnswer, from held: [StoredVariant], _ attempt: inout Attempt
  ) throws -> HTTPCacheResult? {
    guard let body = try body(of: answer, from: held, lost: &attempt.lost) else { return nil }
    var result = HTTPCacheResult(answer, body: body)
    result.isCollapsed = attempt.hasWaited
    return result
  }

  private func forward(
    _ forward: CacheForward, _ held: [StoredVariant], _ attempt: inout Attempt
  ) async throws -> HTTPCacheResult? {
    guard let flight = flight(of: forward), !attempt.hasWaited else {
      return try await exchange(forward, held, attempt, flight: nil)
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
    return try await exchange(forward, held, attempt, flight: flight)
  }

  func complete(_ flight: String, _ outcome: ExchangeOutcome) {
    flights.complete(flight, with: outcome)
  }

  /// The name under which equal requests wait for each other; nil where each is to be sent.
  private func flight(of forward: CacheForward) -> String? {
    guard forward.original.method == .get || forward.original.method == .head,
      forward.reason != .bypass, let key = ResponseKey(forward.original, policy: rules.policy)
    else { return nil }
    let fields = forward.original.headerFields.map { $0.name.canonicalName + ":" + $0.faithfulText }
    return forward.original.method.rawValue + " " + key.uri + " "
      + Secrets.digest(fields.sorted().joined(separator: "\n"))
  }

  /// Makes a request in the background, unless the same is under way.
  private func refresh(_ forward: CacheForward, _ held: [StoredVariant], _ client: Attempt) {
    guard let flight = flight(of: forward), flights.join(flight, for: ExchangeOutcome.self) == nil
    else { return }
    let attempt = Attempt(
      request: forward.original, body: [], tags: client.tags, interim: { _ in },
      permit: client.permit)
    Task(priority: .background) {
      do {
        let result = try await exchange(forward, held, attempt, flight: flight)
        _ = try await result?.body.bytes()
      } catch {
        report(error)
      }
    }
  }
}
