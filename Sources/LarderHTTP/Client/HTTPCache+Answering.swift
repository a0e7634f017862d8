import HTTPTypes
import Larder

/// Results for which the origin's body is read as a whole, or not at all.
extension HTTPCache {
  /// Builds the client's result from stored and received parts; nil if a stored part is gone, or the received one is too
  /// long.
  func answered(
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
}
