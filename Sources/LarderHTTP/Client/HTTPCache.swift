public import HTTPTypes
public import Larder

#if !HTTP
  #error("LarderHTTP needs the trait HTTP: .package(..., traits: [\"HTTP\"])")
#endif

/// An HTTP cache over a namespace (RFC 9111), private or shared.
///
/// Each stored response is an entry of the namespace: its body is the value, and its fields are the metadata. Any number
/// of caches, in any process, may share a namespace. An entry expires later than its response, because a stale response
/// can be validated.
public struct HTTPCache: Sendable {
  /// The namespace that holds the responses.
  public let namespace: Store.Namespace
  /// The rules for storing and answering.
  public private(set) var rules: HTTPRules
  let transport: any HTTPTransport
  let flights = SingleFlight<String>()
  let permits = StorePermits()
  let buffers: BufferBudget
  let counters = HTTPCounters()
  let remembered = RememberedResponses()
  let report: @Sendable (any Error) -> Void
  var clock: any LarderClock { namespace.store.clock }

  /// The store's clock gives the time.
  ///
  /// - Parameter report: receives the errors of storing, and of background refreshes that no stored response could replace. Clients get
  ///   their responses regardless.
  public init(
    in namespace: Store.Namespace, over transport: any HTTPTransport,
    policy: HTTPCachePolicy = HTTPCachePolicy(),
    report: @escaping @Sendable (any Error) -> Void = { _ in }
  ) {
    self.namespace = namespace
    self.transport = transport
    self.report = report
    var policy = policy
    policy.secret = namespace.store.secret
    rules = HTTPRules(policy: policy)
    buffers = BufferBudget(policy.bufferLimit)
  }

  /// A copy with another policy, for some calls.
  ///
  /// It shares the stored responses, the requests under way, the memory and the statistics.
  /// ``HTTPCachePolicy/bufferLimit`` stays that of the first. If ``HTTPCachePolicy/rules`` or
  /// ``HTTPCachePolicy/partitionFields`` give a request another key, the copy has responses of its own for it.
  public func with(_ change: (inout HTTPCachePolicy) -> Void) -> HTTPCache {
    var copy = self
    let secret = rules.policy.secret
    change(&copy.rules.policy)
    copy.rules.policy.secret = secret
    return copy
  }

  /// How requests were answered, by this cache and its copies.
  public var statistics: HTTPStatistics { counters.statistics }

  /// Returns the response to `request` from the store or the origin.
  ///
  /// `request` has a scheme and an authority. Of several equal requests at the same time one is sent. Throws the transport's
  /// error, or ``HTTPCacheError/timedOut(_:)``, where the origin cannot be reached and nothing may be served in its place;
  /// and a `LarderError` if the store itself fails.
  ///
  /// - Parameters:
  ///   - body: read while it is sent, and not kept. It is not read if the store answers the request.
  ///   - tags: names by which ``removeAll(tag:)`` finds the stored response. An exchange with the origin adds them to the
  ///     tags that the stored response has; a hit adds none.
  public func send(
    _ request: HTTPRequest, body: HTTPBody = HTTPBody(), tags: [String] = [],
    interim: @escaping @Sendable (HTTPResponse) async -> Void = { _ in }
  ) async throws -> HTTPCacheResult {
    for tag in tags { _ = try EntryAttributes.validated(tag) }
    guard request.headerFields.count <= HTTPCacheError.largestFieldCount else {
      throw HTTPCacheError.tooManyFields(request.headerFields.count)
    }
    let request = request.withEncodedTarget
    if body.count != 0, request.method == .get || request.method == .head {
      // The response may depend on the body, which no key has (RFC 9110, section 9.3.1).
      return try await pass(request, body: body, interim: interim)
    }
    var key = ResponseKey(request, policy: rules.policy)
    var body = body
    if rules.storesByBody(request) {
      body = try await body.gathered(upTo: Self.largestKeyedBody)
      guard let whole = body.whole, whole.count <= Self.largestKeyedBody else {
        return try await pass(request, body: body, interim: interim)
      }
      key?.bodyDigest = ResponseKey.digest(of: whole, in: request, policy: rules.policy)
    }
    var attempt = Attempt(request: request, key: key, body: body, tags: tags, interim: interim)
    do {
      let result = try await result(of: &attempt)
      counters.count(result)
      return result
    } catch {
      counters.countFailure()
      throw error
    }
  }

  /// The longest body, in bytes, by which responses are stored: it is in memory while its request is under way.
  static let largestKeyedBody = 1 << 16

  private func result(of attempt: inout Attempt) async throws -> HTTPCacheResult {
    while true {
      try Task.checkCancellation()
      if let result = try await self.attempt(&attempt) { return result }
    }
  }

  /// Returns the origin's response to `request` without a use of the store: nothing is read, stored or removed.
  ///
  /// Throws the transport's error, or ``HTTPCacheError``.
  public func pass(
    _ request: HTTPRequest, body: HTTPBody = HTTPBody(),
    interim: @escaping @Sendable (HTTPResponse) async -> Void = { _ in }
  ) async throws -> HTTPCacheResult {
    let (response, received) = try await exchange(request, body: body, interim: interim)
    var result = HTTPCacheResult(response, body: received)
    result.forwarded = .bypass
    result.originStatus = response.status.code
    counters.count(result)
    return result
  }

  /// One exchange with the origin, within the time limit.
  func exchange(
    _ request: HTTPRequest, body: HTTPBody,
    interim: @escaping @Sendable (HTTPResponse) async -> Void
  ) async throws -> (HTTPResponse, HTTPBody) {
    let timeout = rules.policy.timeout
    let upload = body.whole == nil ? UploadProgress(clock) : nil
    let body = upload.map(body.observed) ?? body
    let (response, unlimited) = try await within(timeout, by: clock, upload: upload) {
      [transport] in
      try await transport.send(request, body: body, interim: interim)
    }
    guard response.headerFields.count <= HTTPCacheError.largestFieldCount else {
      throw HTTPCacheError.tooManyFields(response.headerFields.count)
    }
    return (response, unlimited.limited(to: timeout, by: clock))
  }

  /// One request of a client under way.
  struct Attempt {
    let request: HTTPRequest
    /// Nil for a request that is not stored.
    let key: ResponseKey?
    let body: HTTPBody
    let tags: [String]
    let interim: @Sendable (HTTPResponse) async -> Void
    /// Nil until a look at the store has shown that a request must be sent; then the store is looked at once more. So an
    /// invalidation applies to what is found, or to the response.
    var permit: StorePermit?
    /// Keys of stored responses whose bodies are gone or damaged.
    var lost: Set<String> = []
    var hasWaited = false
  }

  /// Nil if the stored responses have changed meanwhile and must be read again.
  private func attempt(_ attempt: inout Attempt) async throws -> HTTPCacheResult? {
    let held = try held(under: attempt.key, except: attempt.lost)
    let decision = rules.decide(
      attempt.request, stored: held.map(\.response), at: clock.now)
    switch (decision, attempt.permit) {
    case (.answer(let answer), _):
      return try result(answer, from: held, &attempt)
    case (_, nil):
      attempt.permit = permits.issue(tags(of: attempt.request, under: attempt.key, attempt.tags))
      return nil
    case (.answerWhileRevalidating(let answer, let forward), let permit?):
      let result = try result(answer, from: held, &attempt)
      if result != nil { refresh(forward, held, attempt, permit) }
      return result
    case (.forward(let forward), let permit?):
      return try await self.forward(forward, held, &attempt, permit)
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
}
