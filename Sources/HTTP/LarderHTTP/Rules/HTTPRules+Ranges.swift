#if HTTP
  import HTTPTypes
  import Larder

  extension HTTPRules {
    /// Handles the answer to the cache's request for a missing part. If the parts do not form a whole, the cache asks again.
    func receiveRest(_ exchange: Exchange) -> CacheReception {
      let forward = exchange.forward
      guard let index = forward.completes, let joined = joined(exchange, with: index),
        joined.response.part == nil
      else { return CacheReception(.again(forward.unconditional)) }
      var answer = answer(
        forward.original, from: index, of: joined.response.forClient(exchange.response),
        because: .completed, Freshness(of: joined.response, at: exchange.received, policy: policy))
      answer.body = .joined(joined.body)
      var reception = CacheReception(.answer(answer))
      reception.stores = [(joined.response, .joined(joined.body))]
      return reception
    }

    /// The responses to store, with the received part combined with a stored response; nil if no stored response fits the part.
    func joinable(
      _ exchange: Exchange
    ) -> [(response: StoredResponse, body: CacheReception.Body)]? {
      let forward = exchange.forward
      for index in selected(by: forward.original, among: forward.stored) {
        let stored = forward.stored[index]
        guard stored.isSameWhole(as: exchange.response.headerFields) else { continue }
        if stored.response.status.code == 200 {
          // The whole body is already stored; only the fields are new.
          return freshened(stored, by: exchange).stored.map { [($0, .stored(index))] } ?? []
        }
        if let joined = joined(exchange, with: index) {
          return [(joined.response, .joined(joined.body))]
        }
      }
      return nil
    }

    /// A stored part joined with the received part; nil for two wholes (RFC 9111, 3.4), for a gap, or if a rule forbids it.
    private func joined(
      _ exchange: Exchange, with index: Int
    ) -> (response: StoredResponse, body: JoinedBody)? {
      let stored = exchange.forward.stored[index]
      guard exchange.response.status.code == 206,
        stored.isSameWhole(as: exchange.response.headerFields),
        let old = stored.part, let new = ContentRange(exchange.response.headerFields),
        new.count == exchange.bodySize ?? new.count, old.count == stored.bodySize,
        let union = old.joined(with: new), union.count <= policy.largestBody,
        var response = freshened(stored, by: exchange).stored
      else { return nil }
      response.bodySize = union.count
      response.response.headerFields[.contentLength] = String(union.count)
      response.response.headerFields[.contentDigest] = nil
      if union.isWhole {
        response.response.status = .init(code: 200, reasonPhrase: "OK")
        response.response.headerFields[.contentRange] = nil
      } else {
        response.response.headerFields[.contentRange] = union.text
      }
      return (
        response,
        JoinedBody(
          stored: index, storedStart: old.bytes.lowerBound, receivedStart: new.bytes.lowerBound)
      )
    }
  }

  extension StoredResponse {
    /// Whether `If-Range` allows to send a part of this response instead of the whole (RFC 9110, 13.1.5). A tag must be equal
    /// and strong. A date must be exactly `Last-Modified`, which must be strong: at least 60 s before `Date`.
    func allowsRange(_ request: HTTPFields) -> Bool {
      guard let condition = request.lines(of: .ifRange).first else { return true }
      if let tag = entityTag, tag.matchesStrongly(EntityTag(condition)) { return true }
      guard let lastModified, lastModified.hasBytes(of: condition),
        let modified = HTTPDate(leniently: lastModified, now: received)
      else { return false }
      return date.seconds - modified.seconds >= 60
    }

    /// Whether `other` must not be replaced. Of a whole and its part the whole stays, otherwise the newer response (RFC 9111, 4).
    func givesWay(to other: StoredResponse) -> Bool {
      guard (part == nil) != (other.part == nil), other.isSameWhole(as: fields) else {
        return isOlder(than: other)
      }
      return part != nil
    }

    /// Whether a part with these fields and a part with the fields `other` belong to one whole (RFC 9110, 15.3.7.3).
    func isSameWhole(as other: HTTPFields) -> Bool {
      guard let tag = entityTag, let newer = EntityTag(other), tag.isStrong else { return false }
      return tag.matchesStrongly(newer)
    }
  }
#endif
