import HTTPTypes
import Larder

/// Results that stream the origin's body to the client, and into the store meanwhile.
extension HTTPCache {
  /// Streams the origin's response to the client.
  func passed(
    _ arrival: Arrival, _ reception: CacheReception, body: HTTPBody, flight: String?
  ) async throws -> HTTPCacheResult {
    // If a stored response could replace this one, the head is passed on only after the body has begun.
    let hasStaleFallback = rules.fail(arrival.forward, at: clock.now) != nil
    let body = hasStaleFallback ? try await body.begun() : body
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
      count: nil, rewind: { await reader.incoming.rewind($0) },
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
}
