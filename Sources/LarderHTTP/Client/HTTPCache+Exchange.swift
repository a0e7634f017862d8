import HTTPTypes
import Larder

extension HTTPCache {
  /// Asks the origin, stores its response, and returns the result for the client; nil to repeat the attempt.
  ///
  /// - Parameter flight: completed in every case.
  func exchange(
    _ forward: CacheForward, _ held: [StoredVariant], _ attempt: Attempt, flight: String?
  ) async throws -> HTTPCacheResult? {
    do {
      let result = try await answer(forward, held, attempt, flight: flight)
      return result
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
    _ forward: CacheForward, _ held: [StoredVariant], _ attempt: Attempt, flight: String?
  ) async throws -> HTTPCacheResult? {
    let permit = attempt.permit
    permits.add(tags(of: held, for: forward), to: permit)
    let requested = clock.now
    let (response, body) = try await exchange(
      forward.request, body: attempt.body, interim: attempt.interim)
    let arrival = Arrival(
      response: response, forward: forward, requested: requested, received: clock.now, held: held,
      tags: attempt.tags, permit: permit)
    let reception = receive(arrival, bodySize: nil)
    for key in reception.invalidates { try await removeAll(of: key, by: permit) }
    switch reception.outcome {
    case .again(let next):
      return try await answer(next, held, attempt, flight: flight)
    case .answer:
      let result = try await answered(arrival, body: try await body.bytes())
      if let result {
        if let flight { complete(flight, .arrived) }
        return result
      }
      // The stored body that the 304 confirms is gone: one unconditional request follows.
      return try await answer(forward.unconditional, held, attempt, flight: flight)
    case .pass:
      return try await passed(arrival, reception, body: body, flight: flight)
    }
  }

  /// The head of a response with its request.
  struct Arrival: Sendable {
    let response: HTTPResponse
    let forward: CacheForward
    let requested: Timestamp
    let received: Timestamp
    let held: [StoredVariant]
    /// The tags of the client.
    let tags: [String]
    let permit: Permit
  }

  /// The tags by which the response to a request under way can be invalidated.
  func tags(of request: HTTPRequest, _ own: [String]) -> Set<String> {
    guard let key = ResponseKey(request, policy: rules.policy) else { return [] }
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

  /// Builds the client's result from stored and received parts; nil if a stored part is gone.
  private func answered(_ arrival: Arrival, body received: [UInt8]) async throws -> HTTPCacheResult?
  {
    let reception = receive(arrival, bodySize: received.count)
    guard case .answer(let answer) = reception.outcome else { return nil }
    var lost: Set<String> = []
    let body: [UInt8]
    if case .joined(let joined) = answer.body {
      guard let stored = try bytes(of: arrival.held[joined.stored], lost: &lost) else { return nil }
      body = joined.joined(stored: stored, received: received)
    } else {
      guard let found = try self.body(of: answer, from: arrival.held, lost: &lost) else {
        return nil
      }
      body = found
    }
    let isStored = try await keep(reception, of: arrival, received: received)
    var result = HTTPCacheResult(answer, body: body)
    result.forwarded = arrival.forward.reason
    result.originStatus = arrival.response.status.code
    result.isStored = isStored
    return result
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
    let isLarge = (length ?? 0) > rules.policy.largestBody
    if isLarge || reception.stores.isEmpty {
      try await drop(reception.removes, of: arrival)
      if let flight { complete(flight, .ownOnly) }
      return result
    }
    let (kept, _) = reception.stores[0]
    result.isStored = true
    result.remaining = Freshness(of: kept, at: clock.now, policy: rules.policy).left
    var isThere = length == 0 || arrival.response.status.code == 204
    if case .stored = reception.stores[0].body { isThere = true }
    if isThere {
      // A response without a body is stored before the client sees it.
      await store(arrival, received: [])
      if let flight { complete(flight, .arrived) }
      return result
    }
    let relay = BodyRelay()
    let reader = BodyReader(relay)
    result.body = HTTPBody(next: { try await reader.relay.next() })
    Task {
      let outcome = await pump(body, into: relay, of: arrival, length: length)
      if let flight { complete(flight, outcome) }
    }
    return result
  }

  /// Reads the body for the client and the store.
  ///
  /// The client sees the end of the body after the response is stored, so its next request is a hit: the last piece,
  /// known by `Content-Length`, waits for the commit.
  private func pump(
    _ body: HTTPBody, into relay: BodyRelay, of arrival: Arrival, length: Int?
  ) async -> ExchangeOutcome {
    var received: [UInt8] = []
    var last: [UInt8] = []
    var isKept = true
    do {
      for try await piece in body {
        if isKept { received += piece }
        if isKept, received.count == length {
          last = piece
          continue
        }
        await relay.append(piece)
        if received.count > rules.policy.largestBody {
          isKept = false
          received = []
        }
        if !isKept, await !relay.drained() { break }
      }
    } catch {
      if !last.isEmpty { await relay.append(last) }
      await relay.end(error)
      return .failed(error)
    }
    if isKept { await store(arrival, received: received) }
    if !last.isEmpty { await relay.append(last) }
    await relay.end()
    return isKept ? .arrived : .ownOnly
  }

  /// Stores a response that the client gets in any case; a failure is reported.
  private func store(_ arrival: Arrival, received: [UInt8]) async {
    do {
      _ = try await keep(
        receive(arrival, bodySize: received.count), of: arrival, received: received)
    } catch {
      report(error)
    }
  }
}
