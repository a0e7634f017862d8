import HTTPTypes
import Larder

extension HTTPCache {
  /// Asks the origin, stores its response, and returns the result for the client; nil to repeat the attempt.
  ///
  /// - Parameter flight: completed in every case.
  func exchange(
    _ forward: CacheForward, _ held: [StoredVariant], _ attempt: Attempt, _ permit: Permit,
    flight: String?
  ) async throws -> HTTPCacheResult? {
    do {
      return try await answer(forward, held, attempt, permit, flight: flight)
    } catch let error where !(error is CancellationError) && !(error is LarderError) {
      if let flight { complete(flight, .failed(error)) }
      var lost = attempt.lost
      return try staleFallback(for: forward, held, after: error, &lost)
    } catch {
      if let flight { complete(flight, error is CancellationError ? .abandoned : .arrived) }
      throw error
    }
  }

  /// A stored response that may be served while the origin cannot be reached; throws `error` without one.
  func staleFallback(
    for forward: CacheForward, _ held: [StoredVariant], after error: any Error,
    _ lost: inout Set<String>
  ) throws -> HTTPCacheResult {
    guard let answer = rules.fail(forward, at: clock.now),
      let body = try body(of: answer, from: held, lost: &lost)
    else { throw error }
    var result = HTTPCacheResult(answer, body: body)
    result.forwarded = forward.reason
    return result
  }

  private func answer(
    _ forward: CacheForward, _ held: [StoredVariant], _ attempt: Attempt, _ permit: Permit,
    flight: String?
  ) async throws -> HTTPCacheResult? {
    permits.add(tags(of: held, for: forward), to: permit)
    let requested = clock.now
    let (response, body) = try await exchange(
      forward.request, body: attempt.body, interim: attempt.interim)
    let arrival = Arrival(
      response: response, key: attempt.key, forward: forward, requested: requested,
      received: clock.now, held: held, tags: attempt.tags, permit: permit)
    let reception = receive(arrival, bodySize: nil)
    for key in reception.invalidates { try await removeAll(of: key, by: permit) }
    switch reception.outcome {
    case .again(let next):
      return try await answer(next, held, attempt, permit, flight: flight)
    case .answer(let answer):
      let result = try await answered(arrival, reception, answer, body: body)
      if let result {
        if let flight { complete(flight, .arrived) }
        return result
      }
      // The stored body that the 304 confirms is gone: one unconditional request follows.
      return try await self.answer(
        forward.unconditional, held, attempt, permit, flight: flight)
    case .pass:
      return try await passed(arrival, reception, body: body, flight: flight)
    }
  }

  /// The head of a response with its request.
  struct Arrival: Sendable {
    let response: HTTPResponse
    let key: ResponseKey?
    let forward: CacheForward
    let requested: Timestamp
    let received: Timestamp
    let held: [StoredVariant]
    /// The tags of the client.
    let tags: [String]
    let permit: Permit
  }

  /// The tags by which the response to a request under way can be invalidated.
  func tags(of request: HTTPRequest, under key: ResponseKey?, _ own: [String]) -> Set<String> {
    guard let key else { return [] }
    return Set(own)
      .union([ResponseTags.uri(key), ResponseTags.host(key.host)])
      .union(Principal(request, policy: rules.policy).tags)
  }

  /// The tags of the stored responses that the new one may replace.
  private func tags(of held: [StoredVariant], for forward: CacheForward) -> [String] {
    let credential = rules.credential(of: forward.original)
    return held.filter { $0.response.credential == credential }.flatMap(\.tags)
  }

  func receive(_ arrival: Arrival, bodySize: Int?) -> CacheReception {
    rules.receive(
      arrival.response, bodySize: bodySize, to: arrival.forward, requested: arrival.requested,
      received: arrival.received)
  }

  /// Builds the client's result from stored and received parts; nil if a stored part is gone, or the received one is too
  /// long.
  private func answered(
    _ arrival: Arrival, _ preliminary: CacheReception, _ answer: CacheAnswer, body: HTTPBody
  ) async throws -> HTTPCacheResult? {
    var (reception, answer) = (preliminary, answer)
    var received: [UInt8] = []
    // The body of an error that a stored response replaces, say, is not read.
    if reception.needsReceivedBody {
      guard let bytes = try await collected(body) else {
        if case .joined = answer.body { return nil }
        return try result(answer, arrival, isStored: false)
      }
      received = bytes
      defer { buffers.release(bytes.count) }
      reception = receive(arrival, bodySize: bytes.count)
      guard case .answer(let final) = reception.outcome else { return nil }
      answer = final
      if case .joined(let joined) = answer.body {
        var lost: Set<String> = []
        let held = arrival.held[joined.stored]
        guard buffers.reserve(held.response.bodySize) else { return nil }
        defer { buffers.release(held.response.bodySize) }
        guard let stored = try self.bytes(of: held, lost: &lost) else { return nil }
        let body = HTTPBody(joined.joined(stored: stored, received: received))
        let isStored = await store(reception, of: arrival, received: .whole(received)) != nil
        return result(answer, body, arrival, isStored: isStored)
      }
      let isStored = await store(reception, of: arrival, received: .whole(received)) != nil
      return try result(answer, arrival, isStored: isStored)
    }
    // The body is read before the entry is written again under another version.
    guard var result = try result(answer, arrival, isStored: false) else { return nil }
    result.isStored = await store(reception, of: arrival, received: .whole(received)) != nil
    return result
  }

  private func result(
    _ answer: CacheAnswer, _ arrival: Arrival, isStored: Bool
  ) throws -> HTTPCacheResult? {
    var lost: Set<String> = []
    return try body(of: answer, from: arrival.held, lost: &lost).map {
      result(answer, $0, arrival, isStored: isStored)
    }
  }

  private func result(
    _ answer: CacheAnswer, _ body: HTTPBody, _ arrival: Arrival, isStored: Bool
  ) -> HTTPCacheResult {
    var result = HTTPCacheResult(answer, body: body)
    result.forwarded = arrival.forward.reason
    result.originStatus = arrival.response.status.code
    result.isStored = isStored
    return result
  }

  /// The whole body, whose length is then reserved in ``buffers``; nil if it is too long or there is no room.
  private func collected(_ body: HTTPBody) async throws -> [UInt8]? {
    var bytes: [UInt8] = []
    do {
      for try await piece in body {
        guard bytes.count + piece.count <= rules.policy.largestBody, buffers.reserve(piece.count)
        else {
          buffers.release(bytes.count)
          return nil
        }
        bytes += piece
      }
    } catch {
      buffers.release(bytes.count)
      throw error
    }
    return bytes
  }

  /// Streams the origin's response to the client.
  private func passed(
    _ arrival: Arrival, _ reception: CacheReception, body: HTTPBody, flight: String?
  ) async throws -> HTTPCacheResult {
    // If a stored response could replace this one, the head is passed on only after the body has begun.
    let hasStandIn = rules.fail(arrival.forward, at: clock.now) != nil
    let body = hasStandIn ? try await body.begun() : body
    var result = HTTPCacheResult(arrival.response, body: body)
    result.forwarded = arrival.forward.reason
    result.originStatus = arrival.response.status.code
    let length = arrival.response.headerFields[.contentLength].flatMap { ContentRange.position($0) }
    guard let (response, source) = reception.stores.first,
      let incoming = incoming(arrival, source, length: length)
    else {
      try await drop(reception.removes, of: arrival)
      if let flight { complete(flight, .ownOnly) }
      return result
    }
    result.remaining = Freshness(of: response, at: clock.now, policy: rules.policy).left
    var isThere = length == 0 || arrival.response.status.code == 204
    if case .stored = source { isThere = true }
    if isThere {
      // A response without a body is stored before the client sees it.
      result.isStored =
        await store(receive(arrival, bodySize: 0), of: arrival, received: .whole([])) != nil
      if !result.isStored { result.remaining = nil }
      if let flight { complete(flight, .arrived) }
      return result
    }
    result.isBeingStored = true
    let reader = BodyReader(incoming)
    result.body = HTTPBody(
      count: nil, rewind: { await reader.incoming.giveBack($0) },
      next: { try await reader.incoming.next() })
    Task { await pump(body, into: incoming, of: arrival, flight: flight) }
    return result
  }

  /// Other clients wait for the exchange of a body of at most so many bytes.
  private static let longestAwaited = 64_000_000

  /// A body on its way into the store; nil if it is too long or there is no room.
  private func incoming(
    _ arrival: Arrival, _ source: CacheReception.Body, length: Int?
  ) -> IncomingBody? {
    let policy = rules.policy
    // A part that is joined with a stored one is in memory as a whole.
    var writer: (@Sendable () throws -> BodyWriter)?
    if case .received = source {
      writer = { [namespace] in
        try BodyWriter(in: namespace, largest: policy.largestBody, permit: arrival.permit)
      }
    }
    let most = writer == nil ? length ?? 0 : min(length ?? 0, BodyParts.usualSize)
    guard length ?? 0 <= policy.largestBody, buffers.reserve(most) else { return nil }
    return IncomingBody(
      length: length, reserved: most, in: buffers, largest: policy.largestBody, writer: writer,
      report: report)
  }

  /// Reads the body for the client and the store.
  ///
  /// The client sees the end of the body after the response is stored, so its next request is a hit.
  private func pump(
    _ body: HTTPBody, into incoming: IncomingBody, of arrival: Arrival, flight: String?
  ) async {
    var flight = flight
    func complete(_ outcome: ExchangeOutcome) {
      if let flight { self.complete(flight, outcome) }
      flight = nil
    }
    var count = 0
    do {
      for try await piece in body {
        count += piece.count
        if count > Self.longestAwaited { complete(.ownOnly) }
        guard await incoming.append(piece) else { break }
      }
    } catch {
      await incoming.finish(error)
      return complete(.failed(error))
    }
    guard let received = await incoming.received else {
      await incoming.finish()
      return complete(.ownOnly)
    }
    let stored = await store(
      receive(arrival, bodySize: received.count), of: arrival, received: received)
    // A part that was joined with a stored one is not stored as the client gets it.
    let same = stored.flatMap { $0.count == received.count ? $0 : nil }
    await incoming.finish(
      rest: same.map { same in { [self] in rest(of: same, $0..<same.count) } })
    complete(.arrived)
  }

  /// Stores a response that the client gets in any case; a failure is reported.
  private func store(
    _ reception: CacheReception, of arrival: Arrival, received: ReceivedBody
  ) async -> StoredBody? {
    do {
      return try await keep(reception, of: arrival, received: received)
    } catch {
      report(error)
      return nil
    }
  }
}
