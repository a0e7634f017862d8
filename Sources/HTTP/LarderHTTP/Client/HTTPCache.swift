#if HTTP
  public import HTTPTypes
  public import Larder

  /// An HTTP cache over a namespace (RFC 9111), private or shared.
  ///
  /// Each stored response is an entry of the namespace. The metadata of the entry holds the status and the fields, and the
  /// value holds the body; a long body has further entries. Any number of caches, in any process, may share a namespace. A
  /// stale response stays stored: the cache can validate the response, or answer with it if the origin is unreachable.
  public struct HTTPCache: Sendable {
    /// The namespace that holds the responses.
    public let namespace: Store.Namespace
    /// The rules for storing and answering.
    public private(set) var rules: HTTPRules
    let responses: ResponseStore
    let transport: any HTTPTransport
    var addedFields: HTTPFields { transport.addedFields }
    let flights = SingleFlight<String>()
    let buffers: BufferBudget
    let counters = HTTPCounters()
    let report: @Sendable (any Error) -> Void
    var clock: any LarderClock { namespace.store.clock }

    /// Makes a cache that takes the time from the store's clock.
    ///
    /// - Parameter report: receives the errors of storing and of background refreshes, and the errors that a stale response
    ///   replaces. Clients get their responses despite these errors.
    public init(
      in namespace: Store.Namespace, over transport: any HTTPTransport,
      policy: HTTPCachePolicy = HTTPCachePolicy(),
      report: @escaping @Sendable (any Error) -> Void = { _ in }
    ) {
      self.namespace = namespace
      self.transport = transport
      self.report = report
      responses = ResponseStore(in: namespace)
      var policy = policy
      policy.secret = namespace.store.secret
      rules = HTTPRules(policy: policy)
      buffers = BufferBudget(policy.bufferLimit)
    }

    /// A copy of this cache with a changed policy, for the calls that need another policy.
    ///
    /// The copy shares the stored responses, the memory, the statistics and, with an equal ``HTTPCachePolicy/timeout``,
    /// ``HTTPCachePolicy/longestWait`` and ``HTTPCacheRule/expectedTypes``, the requests under way, and has the
    /// ``HTTPCachePolicy/bufferLimit`` of this cache. If ``HTTPCachePolicy/rules`` or ``HTTPCachePolicy/partitionFields`` give a
    /// request another key, it has its own responses.
    public func with(_ change: (inout HTTPCachePolicy) -> Void) -> HTTPCache {
      var copy = self
      let secret = rules.policy.secret
      change(&copy.rules.policy)
      copy.rules.policy.secret = secret
      return copy
    }

    /// The counts of answered requests, of this cache and its copies.
    public var statistics: HTTPStatistics { counters.statistics }

    /// Returns the response to `request` from the store or the origin.
    ///
    /// The path must begin with a slash, or be `*` for OPTIONS. A path, scheme or authority that cannot form a URI throws
    /// `LarderError/Code/invalidArgument`. Equal requests of GET, HEAD or ``HTTPCacheRule/bodyMethods`` at the same time wait
    /// for one exchange. If the origin gives no usable response and no stored response may be served, the call throws the
    /// transport's error or ``HTTPCacheError``. If the store fails, the call throws a `LarderError`: the origin may have
    /// executed the request. If the secure connection fails (``TransportFailure/isInsecure``), the call throws even if a stale
    /// response is stored, except with ``HTTPCachePolicy/servesStaleWhenInsecure``.
    ///
    /// - Parameters:
    ///   - body: read only while it is sent, and not kept. A body for ``HTTPCacheRule/bodyMethods`` is read first, for the key.
    ///   - tags: names by which ``removeAll(tag:)`` finds the stored response. An exchange with the origin adds these tags to
    ///     the response's earlier tags; a hit adds no tag.
    public func send(
      _ request: HTTPRequest, body: HTTPBody = HTTPBody(), tags: [String] = [],
      interim: @escaping @Sendable (HTTPResponse) async -> Void = { _ in }
    ) async throws -> HTTPCacheResult {
      for tag in tags { _ = try EntryAttributes.validated(tag) }
      try HTTPCacheError.check(fieldCount: request.headerFields.count)
      let request = try request.adding(addedFields).withCheckedTarget()
      var body = body
      // The response may depend on the body, which is in no key, so the store is not used (RFC 9110, section 9.3.1).
      var isPassed = body.count != 0 && (request.method == .get || request.method == .head)
      if rules.storesByBody(request) {
        body = try await body.gathered(upTo: Self.largestKeyedBody)
        isPassed = body.whole.map { $0.count > Self.largestKeyedBody } ?? true
      }
      if isPassed, !RequestDirectives(request.headerFields).onlyIfCached {
        return try await pass(request, body: body, interim: interim)
      }
      var client = ClientRequest(
        request: request, key: isPassed ? nil : rules.key(of: request, body: body.whole),
        body: body, tags: tags, interim: interim)
      do {
        while true {
          try Task.checkCancellation()
          if let result = try await attempt(&client) {
            counters.count(result)
            return result
          }
        }
      } catch {
        counters.countFailure()
        throw error
      }
    }

    /// The longest body, in bytes, that can be part of a key. A keyed body is in memory while its request is under way.
    static let largestKeyedBody = 1 << 16

    /// Returns the origin's response to `request` without the store: nothing is read, stored or removed.
    ///
    /// Throws the transport's error, ``HTTPCacheError``, or `LarderError/Code/invalidArgument` for an invalid target.
    public func pass(
      _ request: HTTPRequest, body: HTTPBody = HTTPBody(),
      interim: @escaping @Sendable (HTTPResponse) async -> Void = { _ in }
    ) async throws -> HTTPCacheResult {
      let (response, received, _) = try await transport.send(
        try request.withCheckedTarget(), body: body, interim: interim, under: rules.policy,
        by: clock)
      let result = HTTPCacheResult(response, body: received, forwarded: .bypass)
      counters.count(result)
      return result
    }

    /// Attempts to answer once. The result is nil if the cache must read the store again and make a further attempt.
    private func attempt(_ client: inout ClientRequest) async throws -> HTTPCacheResult? {
      let held = try responses.variants(
        under: client.key, except: client.lost, policy: rules.policy)
      let decision = rules.decide(client.request, stored: held.map(\.response), at: clock.now)
      if case .answer(let answer) = decision, answer.reason != .onlyIfCached {
        return try result(answer, from: held, &client)
      }
      if let result = try equivalentResult(&client) { return result }
      if case .answer(let answer) = decision { return try result(answer, from: held, &client) }
      // An invalidation may have revoked the permit while the client waited. A new permit demands a new read of the store.
      guard let permit = client.permit, permit.isValid else {
        client.permit = responses.permit(
          for: client.request, under: client.key, client.tags, policy: rules.policy)
        return nil
      }
      switch decision {
      case .answer: return nil
      case .answerWhileRevalidating(let answer, let forward):
        guard let result = try result(answer, from: held, &client) else { return nil }
        OriginExchange(cache: self, client: client, forward: forward, held: held, permit: permit)
          .refresh()
        return result
      case .forward(let forward):
        return try await OriginExchange(
          cache: self, client: client, forward: forward, held: held, permit: permit
        ).result(&client)
      }
    }

    /// A fresh response of another URI that differs only in parts of the query that do not count (`No-Vary-Search`).
    private func equivalentResult(_ client: inout ClientRequest) throws -> HTTPCacheResult? {
      guard let key = client.key, [.get, .head].contains(client.request.method),
        let held = try responses.equivalents(of: key, except: client.lost, policy: rules.policy),
        case .answer(let answer) = rules.decide(
          client.request, stored: held.map(\.response), at: clock.now), answer.reason == .fresh
      else { return nil }
      return try result(answer, from: held, &client)
    }

    private func result(
      _ answer: CacheAnswer, from held: [StoredVariant], _ client: inout ClientRequest
    ) throws -> HTTPCacheResult? {
      guard let body = try responses.body(of: answer, from: held) else {
        // An entry with another version was replaced and is read again. An entry with the same version is damaged and skipped.
        if let stored = answer.slice(of: held).map({ held[$0.index] }),
          try namespace.entry(for: stored.key)?.version == stored.version
        {
          client.lost.insert(stored.key)
        }
        return nil
      }
      var result = HTTPCacheResult(answer, body: body)
      result.isCollapsed = client.hasWaited
      return result
    }
  }
#else
  @available(
    *, unavailable, message: "LarderHTTP needs the trait HTTP: .package(..., traits: [\"HTTP\"])"
  )
  public struct HTTPCache {}
#endif
