#if HTTP
  import HTTPTypes
  import Larder

  struct ClientRequest: Sendable {
    let request: HTTPRequest
    /// The key of the responses; nil for a request whose response is not stored.
    let key: ResponseKey?
    var body: HTTPBody
    let tags: [String]
    var interim: @Sendable (HTTPResponse) async -> Void = { _ in }
    /// The permit to store the response; nil until a read of the store has shown that a request must be sent. The store is read
    /// again after that: the read sees all invalidations before the permit, and later invalidations revoke the permit.
    var permit: StorePermit?
    /// Keys of stored responses whose bodies are damaged or incomplete.
    var lost: Set<String> = []
    var hasWaited = false
    /// The second request after a failed exchange. The clients that waited together for the exchange share this request.
    var retry: Flight.Retry?
  }

  /// A request to the origin on behalf of the client, and the stored responses of its URI.
  struct OriginExchange: Sendable {
    let cache: HTTPCache
    private(set) var client: ClientRequest
    private(set) var forward: CacheForward
    /// The stored responses of the URI, in the order of ``CacheForward/stored``.
    let held: [StoredVariant]
    let permit: StorePermit
    /// The clients that wait for this exchange; nil if no client may wait.
    private(set) var flight: Flight?

    /// Sends the request, or waits for a similar request that is under way; nil if the store must be read again. If the client
    /// has waited, `waiting` gets a note of the wait, and the second request that the client shares.
    func result(_ waiting: inout ClientRequest) async throws -> HTTPCacheResult? {
      guard !waiting.hasWaited, let name = flightName else { return try await perform() }
      guard let outcome = try await outcome(of: name) else {
        let flight = client.retry?.leading(name) ?? Flight(name, in: cache.flights)
        return try await leading(flight).perform()
      }
      switch outcome {
      case .failed(let error, let fields, let retry):
        // The fields of the failed request may be the reason for the failure. So all clients with other fields send one further
        // request together, but not after a timeout, because the origin would probably be too slow again.
        let isTimeout = if case HTTPCacheError.timedOut = error { true } else { false }
        guard fields != forward.original.headerFields, !isTimeout, waiting.retry == nil else {
          var result = try staleFallback(after: error)
          (result.forwarded, result.isCollapsed) = (nil, true)
          return result
        }
        waiting.retry = retry
      case .abandoned: break
      case .refused(let fields, let retry):
        let isOwn = fields == forward.original.headerFields || waiting.retry != nil
        if isOwn, var result = try staleResult(if: \.onError, because: .staleOnError) {
          (result.forwarded, result.isCollapsed) = (nil, true)
          return result
        }
        (waiting.retry, waiting.hasWaited) = (retry, isOwn)
      case .arrived, .ownOnly: waiting.hasWaited = true
      }
      return nil
    }

    /// Refreshes the stored response in the background, at most once a second, because the origin may be down.
    func refresh() {
      // A read-only handle could store no response, so each later hit would start a further refresh.
      guard !cache.namespace.store.isReadOnly, let name = flightName,
        !cache.flights.isPaused(name, at: cache.clock.monotonic),
        cache.flights.join(name, for: Flight.Outcome.self) == nil
      else { return }
      cache.flights.pause(name, at: cache.clock.monotonic)
      var exchange = leading(Flight(name, in: cache.flights))
      exchange.client.interim = { _ in }
      if client.key?.bodyDigest == nil { exchange.client.body = HTTPBody() }
      Task(priority: .background) { [exchange] in
        do {
          var pieces = try await exchange.perform()?.body.makeAsyncIterator()
          while exchange.flight?.isOwnOnly == false, try await pieces?.next() != nil {}
        } catch { cache.report(error) }
      }
    }

    private var flightName: String? {
      Flight.name(of: forward, under: client.key, policy: cache.rules.policy)
    }

    private func leading(_ flight: Flight) -> OriginExchange {
      var exchange = self
      exchange.flight = flight
      cache.responses.permits.add(flight, to: permit)
      return exchange
    }

    func failure(_ error: any Error) -> Flight.Outcome {
      .failed(error, forward.original.headerFields, Flight.Retry())
    }

    /// Whether another exchange has stored `present`, which must stay, since this exchange read the store.
    func isLate(_ response: StoredResponse, for key: String, holding present: Store.Entry) -> Bool {
      guard present.state == .fresh, !client.lost.contains(key),
        !held.contains(where: { $0.version == present.version })
      else { return false }
      return StoredResponse(present).map { response.givesWay(to: $0) } ?? false
    }

    /// Asks the origin, stores the response, and returns the result for the client; nil if the store must be read again. The
    /// flight is complete when the call returns. But the flight of a streamed body may be complete only when the body ends.
    private func perform() async throws -> HTTPCacheResult? {
      do {
        // Between the read of the store and this flight, another exchange may have stored a response, which is then the answer.
        if flight != nil {
          let present = try cache.responses.variants(
            under: client.key, except: client.lost, policy: cache.rules.policy)
          guard present.map(\.version) == held.map(\.version) else {
            flight?.complete(.arrived)
            return nil
          }
        }
        return try await ask()
      } catch {
        // A transport may report the cancellation of the client by another error, which is no failure of the waiting clients.
        let isCancelled = error is CancellationError || Task.isCancelled
        if isCancelled || error is LarderError {
          flight?.complete(isCancelled ? .abandoned : .arrived)
          throw error
        }
        flight?.complete(failure(error))
        let result = try staleFallback(after: error)
        cache.report(error)
        return result
      }
    }

    /// A stored response that may be served because the exchange failed; throws `error` without such a response.
    private func staleFallback(after error: any Error) throws -> HTTPCacheResult {
      let isInsecure = (error as? any TransportFailure)?.isInsecure == true
      guard !isInsecure || cache.rules.policy.servesStaleWhenInsecure,
        let result = try staleResult(if: \.whenDisconnected, because: .staleDisconnected)
      else { throw error }
      return result
    }

    private func staleResult(
      if isAllowed: KeyPath<StalePermission, Bool>, because reason: CacheAnswer.Reason
    ) throws -> HTTPCacheResult? {
      guard
        let answer = cache.rules.stale(forward, if: isAllowed, because: reason, at: cache.clock.now)
      else { return nil }
      return try cache.responses.body(of: answer, from: held).map {
        HTTPCacheResult(answer, body: $0, forwarded: forward.reason)
      }
    }

    private func ask() async throws -> HTTPCacheResult? {
      let (policy, clock) = (cache.rules.policy, cache.clock)
      // The permit gets the tags of the stored responses, because their invalidation must also apply to the new response.
      let credential = cache.rules.credential(of: forward.original)
      cache.responses.permits.add(
        held.filter { $0.response.credential == credential }.flatMap(\.tags), to: permit)
      let (head, body, requested) = try await cache.transport.send(
        forward.request, body: client.body, interim: client.interim, under: policy,
        hasSubstitute: cache.rules.stale(
          forward, if: \.onError, because: .staleOnError, at: clock.now) != nil, by: clock)
      let response = OriginResponse(
        head: head, exchange: self, requested: requested, received: clock.now)
      let reception = response.reception(bodySize: nil)
      do {
        try await response.end(reception)  // The origin has already executed the request.
      } catch let error as LarderError where error.code == .readOnly { cache.report(error) }
      var next = self
      switch reception.outcome {
      case .pass: return try await response.streamed(body, reception)
      case .again(let forward): next.forward = forward
      case .answer(let answer):
        if let result = try await response.answered(answer, reception, body: body) {
          flight?.complete(
            answer.reason == .staleOnError
              ? .refused(forward.original.headerFields, Flight.Retry()) : .arrived)
          return result
        }
        // A stored body is gone, or the received part does not complete the stored part. So one unconditional request follows.
        next.forward = forward.unconditional
        // The stored body cannot replace the next answer either.
        next.forward.permission = StalePermission()
      }
      return try await next.ask()
    }
  }
#endif
