#if HTTP
  import HTTPTypes
  import Larder

  /// The head of the origin's response in an exchange. Makes the client's result from the head and the body.
  struct OriginResponse: Sendable {
    let head: HTTPResponse
    let exchange: OriginExchange
    let requested: Timestamp
    let received: Timestamp

    var cache: HTTPCache { exchange.cache }

    func reception(bodySize: Int?) -> CacheReception {
      cache.rules.receive(
        head, bodySize: bodySize, to: exchange.forward, requested: requested, received: received)
    }

    /// Removes the stored responses that this response invalidates, even if the client's task is cancelled, because the origin has
    /// already changed. Call this before this response is stored.
    func end(_ reception: CacheReception) async throws {
      guard !reception.invalidates.isEmpty || !reception.endsTags.isEmpty || reception.endsOrigin
      else { return }
      try await Task {
        let (responses, policy) = (cache.responses, cache.rules.policy)
        let request = exchange.forward.original
        for key in reception.invalidates {
          try await responses.removeAll(of: key, policy: policy, by: exchange.permit)
        }
        for tag in reception.endsTags { _ = try responses.invalidate(tag) }
        if reception.endsOrigin, let key = ResponseKey(request, policy: policy) {
          try await responses.removeAll(ofOrigin: key, for: cache.rules.credential(of: request))
        }
      }.value
    }

    /// Answers with a stored response, whose body the received body may complete. Nil if a stored body is gone, or if a
    /// received part is too long or does not complete the stored part.
    ///
    /// - Parameter preliminary: the reception before the size of the body is known.
    func answered(
      _ answer: CacheAnswer, _ preliminary: CacheReception, body: HTTPBody
    ) async throws -> HTTPCacheResult? {
      // Some bodies are not read, for example the body of an error response that a stored response replaces.
      guard preliminary.needsReceivedBody else {
        // Storing gives the entry another version, under which the stored body is not found. So the body is read first.
        guard var result = try result(answer) else { return nil }
        result.isStored = await storeOrReport(preliminary, .whole([])) != nil
        return result
      }
      let buffers = cache.buffers
      guard let bytes = try await buffers.collect(body, upTo: cache.rules.policy.largestBody) else {
        if case .joined = answer.body { return nil }
        await removeOrReport(preliminary.removes)
        return try result(answer)
      }
      defer { buffers.release(bytes.count) }
      let reception = reception(bodySize: bytes.count)
      guard case .answer(let answer) = reception.outcome else { return nil }
      var whole: HTTPBody?
      var reserved = 0
      defer { buffers.release(reserved) }
      if case .joined(let joined) = answer.body {
        guard let stored = try storedBytes(joined.stored, &reserved) else { return nil }
        whole = HTTPBody(joined.joined(stored: stored, received: bytes))
      }
      let isStored = await storeOrReport(reception, .whole(bytes)) != nil
      var result = try result(answer, body: whole)
      result?.isStored = isStored
      return result
    }

    /// - Parameter body: nil for the stored body.
    private func result(_ answer: CacheAnswer, body: HTTPBody? = nil) throws -> HTTPCacheResult? {
      guard let body = try body ?? cache.responses.body(of: answer, from: exchange.held) else {
        return nil
      }
      var result = HTTPCacheResult(answer, body: body, forwarded: exchange.forward.reason)
      result.originStatus = head.status.code
      return result
    }

    /// Streams the body to the client and, at the same time, into the store.
    func streamed(_ body: HTTPBody, _ reception: CacheReception) async throws -> HTTPCacheResult {
      // Until the first piece comes, a stored response may still become the answer. So the client gets the head after this piece.
      let hasStaleFallback = cache.rules.fail(exchange.forward, at: cache.clock.now) != nil
      let body = hasStaleFallback ? try await body.begun() : body
      var result = HTTPCacheResult(head, body: body, forwarded: exchange.forward.reason)
      let length = head.headerFields[.contentLength].flatMap { ContentRange.position($0) }
      guard exchange.client.key != nil, let (response, source) = reception.stores.first,
        let incoming = incoming(source, length: length)
      else {
        await removeOrReport(reception.removes)
        exchange.flight?.complete(.ownOnly)
        return result
      }
      let left = Freshness(of: response, at: cache.clock.now, policy: cache.rules.policy).left
      var hasBody = length != 0 && head.status.code != 204
      if case .stored = source { hasBody = false }
      guard hasBody else {
        // A response without a body is stored before the client gets it, so that the client's next request is a hit.
        result.isStored = await storeOrReport(self.reception(bodySize: 0), .whole([])) != nil
        if result.isStored { result.remaining = left }
        exchange.flight?.complete(.arrived)
        return result
      }
      result.remaining = left
      result.isBeingStored = true
      // When the client releases the body, the body is abandoned.
      let reader = EndedOnRelease(incoming, end: { incoming in Task { await incoming.abandon() } })
      result.body = HTTPBody(
        count: nil, rewind: { await reader.resource.rewind($0) },
        next: { try await reader.resource.next() })
      Task { await pump(body, into: incoming) }
      return result
    }

    /// Removes stored responses, even if the client's task is cancelled. The client gets a response despite a failure.
    ///
    /// - Parameter error: why no response was stored. After `readOnly` and `busy` the store would also refuse the removal.
    func removeOrReport(_ indexes: [Int], after error: (any Error)? = nil) async {
      let code = (error as? LarderError)?.code
      if code == .readOnly || code == .busy || indexes.isEmpty { return }
      do { try await Task { try await remove(indexes) }.value } catch { cache.report(error) }
    }

    func remove(_ indexes: [Int]) async throws {
      for held in indexes.map({ exchange.held[$0] }) {
        try await cache.responses.remove(held.key, version: held.version)
      }
    }

    /// The longest body, in bytes, for which other clients wait.
    private static let longestAwaited = 64_000_000

    /// A body on its way into the store; nil if the body is too long or there is no room.
    private func incoming(_ source: CacheReception.Body, length: Int?) -> IncomingBody? {
      let largest = cache.rules.policy.largestBody
      // A part that is joined with a stored part must be in memory as a whole, so it gets no writer.
      var writer: (@Sendable () throws -> BodyWriter)?
      if case .received = source {
        writer = { [namespace = cache.namespace, permit = exchange.permit] in
          try BodyWriter(in: namespace, largest: largest, permit: permit)
        }
      }
      var most = writer == nil ? length ?? 0 : min(length ?? 0, BodyParts.usualSize)
      // No body comes for the store if the stored body stays, for example after a HEAD.
      if case .stored = source { most = 0 }
      guard length ?? 0 <= largest, cache.buffers.reserve(most) else { return nil }
      return IncomingBody(
        length: length, reserved: most, in: cache.buffers, largest: largest, writer: writer,
        report: cache.report,
        onPassing: { [flight = exchange.flight] in flight?.complete(.ownOnly) })
    }

    /// Reads the body for the client and the store. The client sees its end after the storing, so the next request is a hit.
    private func pump(_ body: HTTPBody, into incoming: IncomingBody) async {
      let flight = exchange.flight
      var count = 0
      do {
        for try await piece in body {
          count += piece.count
          if count > Self.longestAwaited { flight?.complete(.arrived) }
          guard await incoming.append(piece) else { break }
        }
      } catch {
        await incoming.finish(error)
        flight?.complete(exchange.failure(error))
        return
      }
      guard let received = await incoming.received else {
        // The body is too long or has no room, but the response still replaces the stored response.
        await removeOrReport(reception(bodySize: nil).removes)
        await incoming.finish()
        flight?.complete(.ownOnly)
        return
      }
      let stored = await storeOrReport(reception(bodySize: received.count), received)
      // After a join of parts, the stored body is longer than the received part, so the client must not read the stored body.
      let same = stored.flatMap { $0.count == received.count ? $0 : nil }
      await incoming.finish(
        rest: same.map { same in { cache.responses.stream(same, $0..<same.count) } })
      flight?.complete(.arrived)
    }
  }
#endif
