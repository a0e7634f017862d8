import HTTPTypes
import Larder

extension HTTPCache {
  /// Asks the origin, stores its response, and returns the result for the client; nil to repeat the attempt.
  ///
  /// - Parameter flight: completed in every case.
  func exchange(
    _ forward: CacheForward, _ held: [StoredVariant], _ attempt: Attempt, _ permit: StorePermit,
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
    _ forward: CacheForward, _ held: [StoredVariant], _ attempt: Attempt, _ permit: StorePermit,
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
    let permit: StorePermit
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

  /// Stores a response that the client gets in any case; a failure is reported.
  func store(
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
