#if HTTP
  public import HTTPTypes
  public import Larder

  /// Access to stored responses by their requests, without the origin.
  extension HTTPCache {
    /// The stored response that `request` selects, fresh or stale; nil without such a response.
    ///
    /// The call counts neither as a read nor as an access, and ignores `Cache-Control` of the request.
    /// ``HTTPCacheResult/remaining`` is 0 or negative for a stale response. O(stored responses of the URI).
    ///
    /// - Parameter requestBody: the body of the request, for ``HTTPCacheRule/bodyMethods``.
    public func peek(_ request: HTTPRequest, requestBody: [UInt8] = []) throws -> HTTPCacheResult? {
      let request = try request.adding(addedFields).withCheckedTarget()
      let held = try responses.variants(
        under: rules.key(of: request, body: requestBody), policy: rules.policy)
      let selection = Selection(request, stored: held.map(\.response), policy: rules.policy)
      guard [.get, .head].contains(request.method) || rules.storesByBody(request),
        let index = selection.best
      else { return nil }
      let response = held[index].response
      let answer = rules.answer(
        request, from: index, of: response, because: .fresh,
        Freshness(of: response, at: clock.now, policy: rules.policy))
      let body = answer.slice(of: held).map { responses.stream(held[$0.index].body, $0.range) }
      var result = HTTPCacheResult(answer, body: body ?? HTTPBody())
      if answer.remaining <= 0 { result.reason = .staleByRequest }
      return result
    }

    /// Stores `response`, which has just arrived, as the origin's answer to `request`. As after an exchange, a full answer replaces
    /// the earlier response to `request`. If the answer may not or cannot be stored, the earlier response is only removed, or
    /// stays after a redirection, after an error other than 401, 403, 404 and 410, after an answer that
    /// ``HTTPCacheRule/expectedTypes`` excludes, and if the store is read-only or busy.
    ///
    /// - Parameters:
    ///   - requestBody: the body of the request, for ``HTTPCacheRule/bodyMethods``.
    ///   - body: stored if it has at most ``HTTPCachePolicy/largestBody`` bytes.
    ///   - tags: as for ``send(_:body:tags:interim:)``.
    /// - Returns: whether the response is stored. False if the rules forbid storing (RFC 9111, 3), the body is too long, or an
    ///   invalidation or a newer response came during the call.
    /// - Throws: ``HTTPCacheError/tooManyFields(_:)``; `LarderError` for an invalid tag or target, or from the store.
    @discardableResult
    public func put(
      _ response: HTTPResponse, body: [UInt8], for request: HTTPRequest, requestBody: [UInt8] = [],
      tags: [String] = []
    ) async throws -> Bool {
      for tag in tags { _ = try EntryAttributes.validated(tag) }
      try HTTPCacheError.check(
        fieldCount: max(request.headerFields.count, response.headerFields.count))
      let request = try request.adding(addedFields).withCheckedTarget()
      guard request.method == .get || rules.storesByBody(request),
        rules.policy.unexpected(response, to: request) == nil
      else { return false }
      let client = ClientRequest(
        request: request, key: rules.key(of: request, body: requestBody), body: HTTPBody(),
        tags: tags)
      let now = clock.now
      let permit = responses.permit(for: request, under: client.key, tags, policy: rules.policy)
      let held = try responses.variants(under: client.key, policy: rules.policy)
      var forward = CacheForward(request, because: .request, stored: held.map(\.response))
      forward.selected = Selection(request, stored: forward.stored, policy: rules.policy).best
      let exchange = OriginExchange(
        cache: self, client: client, forward: forward, held: held, permit: permit)
      let arrival = OriginResponse(
        head: response, exchange: exchange, requested: now, received: now)
      let reception = arrival.reception(bodySize: body.count)
      guard body.count <= rules.policy.largestBody else {
        try await arrival.remove(reception.removes)
        return false
      }
      do { return try await arrival.store(reception, .whole(body)) != nil } catch {
        await arrival.removeOrReport(reception.removes, after: error)
        throw error
      }
    }
  }

  /// Removes stored responses and invalidates requests under way, in all processes.
  ///
  /// A request under way is still answered, but its response is not stored, except after ``removeAll(where:)``.
  extension HTTPCache {
    /// Removes every response of a host, for all users.
    ///
    /// - Parameter host: the authority, with the port if it is not the scheme's default: `api.example.com`, `127.0.0.1:8000`.
    /// - Complexity: as `invalidate(tag:)` of `Store.Namespace`. After the first transaction no process finds a removed response.
    @discardableResult
    public func removeAll(host: String) async throws -> RemovalResult {
      try responses.invalidate(ResponseTags.host(host))
    }

    /// Removes every response to requests with this value of `Authorization`, on any host. Removes nothing from a shared cache.
    ///
    /// - Parameter authorization: the value of the field, such as `Bearer ...`. The store holds only a digest of this value.
    /// - Complexity: as ``removeAll(host:)``.
    @discardableResult
    public func removeAll(authorization: String) async throws -> RemovalResult {
      let principal = Principal([.authorization: authorization], policy: rules.policy)
      guard let digest = principal.authorization else { return RemovalResult() }
      return try responses.invalidate(ResponseTags.user(digest))
    }

    /// Removes every response to requests of the user with this name, on any host. Removes nothing from a shared cache.
    ///
    /// - Parameter principal: the name that ``HTTPCachePolicy/principal`` gives the user.
    /// - Complexity: as ``removeAll(host:)``.
    @discardableResult
    public func removeAll(principal: String) async throws -> RemovalResult {
      try responses.invalidate(
        ResponseTags.user(Principal.digest(ofName: principal, policy: rules.policy)))
    }

    /// Removes every response that was requested with this tag.
    ///
    /// Entries of other namespaces may have the same tag. To remove these entries, too, call `Store.invalidate(tag:)`.
    ///
    /// - Complexity: as ``removeAll(host:)``.
    @discardableResult
    public func removeAll(tag: String) async throws -> RemovalResult {
      try responses.invalidate(tag)
    }

    /// Removes all stored responses of the request's URI, for all users. A client that is reading a body can read to the end.
    ///
    /// - Complexity: O(stored responses of the URI). A write removes up to 16 responses.
    @discardableResult
    public func removeAll(for request: HTTPRequest) async throws -> RemovalResult {
      let request = try request.withCheckedTarget()
      guard let key = ResponseKey(request, policy: rules.policy) else { return RemovalResult() }
      return try await responses.removeAll(of: key, policy: rules.policy)
    }

    /// Removes the stored responses of this namespace for which `isUnwanted` returns true.
    ///
    /// A request under way can still store its response, except if the call removes the stored response that the request selects.
    ///
    /// - Parameter isUnwanted: gets the key, which begins with the URI, and the head, dated by ``StoredResponse/received``.
    /// - Complexity: O(entries of the namespace). A write removes up to 16 responses.
    @discardableResult
    public func removeAll(
      where isUnwanted: (_ key: String, _ response: StoredResponse) throws -> Bool
    ) async throws -> RemovalResult {
      try await responses.removeAll { entry, response in
        guard let key = entry.key.string, let response else { return false }
        return try isUnwanted(key, response)
      }
    }
  }
#endif
