#if HTTP
  public import HTTPTypes
  public import Larder

  extension HTTPRules {
    /// Handles the origin's final response to a forwarded request (RFC 9111, 3, 4.3.3, 4.3.4 and 4.4).
    ///
    /// - Parameters:
    ///   - bodySize: the size of the received body; nil while it is unknown: the `stores` of the result are then preliminary.
    ///   - requested: the time at which the request was sent.
    ///   - received: the time at which the head of the response arrived.
    public func receive(
      _ response: HTTPResponse, bodySize: Int?, to forward: CacheForward, requested: Timestamp,
      received: Timestamp
    ) -> CacheReception {
      let exchange = Exchange(
        response: response, bodySize: bodySize, forward: forward, requested: requested,
        received: received)
      var reception = self.reception(of: exchange)
      // RFC 9111, 4.3.4: with other names in `Vary` the updated response has another key, and its former state must not stay.
      for (updated, body) in reception.stores {
        var former: Int?
        if case .stored(let index) = body { former = index }
        if case .joined(let joined) = body { former = joined.stored }
        if let former,
          updated.vary.fields.map(\.name) != forward.stored[former].vary.fields.map(\.name),
          selected(by: forward.original, among: forward.stored).contains(former)
        {
          reception.removes.append(former)
        }
      }
      reception.noteEndings(response, to: forward.original, by: self)
      return reception
    }

    private func reception(of exchange: Exchange) -> CacheReception {
      let (request, forward) = (exchange.forward.original, exchange.forward)
      guard [.get, .head].contains(request.method) || storesByBody(request) else {
        var reception = CacheReception(.pass)
        reception.invalidates = Invalidation.keys(of: request, exchange.response, policy: policy)
        if let stored = stored(exchange) { reception.stores = [(stored, .received)] }
        return reception
      }
      if [500, 502, 503, 504].contains(exchange.response.status.code),
        let answer = stale(forward, if: \.onError, because: .staleOnError, at: exchange.received)
      {
        return CacheReception(.answer(answer))
      }
      if request.method == .head { return receiveHead(exchange) }
      if exchange.response.status.code == 304, forward.isConditional {
        return receiveConfirmation(exchange)
      }
      if forward.completes != nil, [206, 416].contains(exchange.response.status.code) {
        return receiveRest(exchange)
      }
      return receiveNew(exchange)
    }

    struct Exchange {
      let response: HTTPResponse
      let bodySize: Int?
      let forward: CacheForward
      let requested: Timestamp
      let received: Timestamp
    }

    private func receiveNew(_ exchange: Exchange) -> CacheReception {
      let (response, forward) = (exchange.response, exchange.forward)
      var reception = CacheReception(.pass)
      if response.status.code == 206, let joined = joinable(exchange) {
        reception.stores = joined
        return reception
      }
      if let stored = stored(exchange) { reception.stores = [(stored, .received)] }
      // A successful response replaces the selected response. An answer that the resource is gone, or not for this client,
      // removes the selected response. After any other error the selected response stays, because the error may be temporary.
      let status = response.status.code
      if let selected = forward.selected,
        (200...299).contains(status) && status != 206 || [401, 403, 404, 410].contains(status)
      {
        reception.removes = [selected]
      }
      // The cache has removed or replaced the client's condition in the request, so the cache itself evaluates the condition.
      if forward.request != forward.original, let stored = reception.stores.first?.response,
        let condition = ClientCondition(forward.original.headerFields), condition.isMet(by: stored)
      {
        var answer = answer(
          forward.original, from: 0, of: stored.forClient(response), because: .validated,
          Freshness(of: stored, at: exchange.received, policy: policy))
        answer.body = .none
        reception.outcome = .answer(answer)
      }
      return reception
    }

    private func receiveConfirmation(_ exchange: Exchange) -> CacheReception {
      let forward = exchange.forward
      let asked = forward.validates.map { forward.stored[$0] }
      guard let confirmed = Validation.confirmed(exchange.response.headerFields, among: asked)
      else { return CacheReception(.again(forward.unconditional)) }
      let index = forward.validates[confirmed]
      let (full, stored) = freshened(forward.stored[index], by: exchange)
      let answer = answer(
        forward.original, from: index, of: full, because: .validated,
        Freshness(of: full, at: exchange.received, policy: policy))
      return CacheReception(.answer(answer), replacing: index, by: stored)
    }

    /// A stored response with the fields of a newer response: in full for the client, and in the form to store if allowed.
    func freshened(
      _ old: StoredResponse, by exchange: Exchange
    ) -> (full: StoredResponse, stored: StoredResponse?) {
      var full = old
      full.requested = exchange.requested
      full.received = exchange.received
      var newer = exchange.response.headerFields
      // If the newer tag does not confirm the tag of the stored body, the stored response keeps its own tag.
      if let tag = EntityTag(newer), let own = old.entityTag, !tag.confirms(own) {
        newer[.eTag] = nil
      }
      full.response.headerFields = old.fields.updated(by: newer, received: exchange.received)
      full.assignedFreshness = policy.rule(for: exchange.forward.original).flatMap {
        assignedFreshness($0, full.response, received: exchange.received)
      }
      let fields = exchange.forward.original.headerFields
      guard let vary = VaryKey(of: full.fields, request: fields, policy: policy) else {
        return (full, nil)
      }
      full.vary = vary
      let directives = full.directives(for: policy.kind)
      var stored = full
      stored.response.headerFields = full.fields.storable(directives, policy: policy)
      let isStorable =
        !RequestDirectives(fields).noStore && self.isStorable(old.response.status, directives)
      // The newer fields may belong to one user, so a shared cache stores the fields only if the directives allow that.
      let credential = Principal(exchange.forward.original, policy: policy).digest
      let mayStay = isStorable && allowsSharing(directives, credential: credential)
      return (full, mayStay && stored.keptUntil(policy: policy) > exchange.received ? stored : nil)
    }

    /// Handles a response to HEAD, which updates or invalidates the stored response to GET (RFC 9111, 4.3.5).
    private func receiveHead(_ exchange: Exchange) -> CacheReception {
      let (response, forward) = (exchange.response, exchange.forward)
      guard response.status.code == 200, let index = forward.selected,
        case let old = forward.stored[index], old.response.status.code == 200
      else { return CacheReception(.pass) }
      let isSame = isSameRepresentation(old, response.headerFields)
      let updated = isSame ? freshened(old, by: exchange).stored : nil
      return CacheReception(.pass, replacing: index, by: updated)
    }

    private func isSameRepresentation(_ stored: StoredResponse, _ fields: HTTPFields) -> Bool {
      if let tag = EntityTag(fields), stored.entityTag.map(tag.confirms) != true { return false }
      if let modified = fields.lines(of: .lastModified).first,
        stored.lastModified?.hasBytes(of: modified) != true
      {
        return false
      }
      // A response of another length counts as another representation, although an origin that encodes each response again may
      // also send another length for the same representation.
      let length = fields[.contentLength].flatMap { ContentRange.position($0) }
      return length.map { $0 == stored.bodySize } ?? true
    }
  }
#endif
