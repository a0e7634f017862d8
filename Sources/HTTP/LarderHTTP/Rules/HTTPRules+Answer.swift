#if HTTP
  import HTTPTypes
  public import Larder

  extension HTTPRules {
    /// The answer to `request` from a stored response that it selects: the whole response, a part, a 304 for a client that has
    /// the response, or a 416 (RFC 9111, 4.3.2; RFC 9110, 13.2.2 and 14.2).
    func answer(
      _ request: HTTPRequest, from index: Int, of stored: StoredResponse,
      because reason: CacheAnswer.Reason, _ freshness: Freshness
    ) -> CacheAnswer {
      var answer = CacheAnswer(
        response: stored.response, body: .stored(index), reason: reason, age: freshness.age,
        remaining: freshness.left)
      answer.response.headerFields[.age] = String(freshness.age)
      if let condition = ClientCondition(request.headerFields), condition.isMet(by: stored) {
        answer.response.status = .init(code: 304, reasonPhrase: "Not Modified")
        answer.response.headerFields.removeAll(HTTPFields.ofTheBody)
        // The part without bytes counts as a use of the stored response.
        answer.body = .part(index, 0..<0)
      } else if request.method == .head {
        // A server may otherwise state the length of the empty body that it gets (RFC 9110, section 8.6).
        if stored.bodySize > 0, !stored.fields.contains(.contentLength) {
          answer.response.headerFields[.contentLength] = String(stored.bodySize)
        }
        answer.body = .part(index, 0..<0)
      } else if let ranges = ByteRange.parse(request.headerFields), ranges.count == 1 {
        apply(ranges[0], of: request, to: &answer, from: index, of: stored)
      }
      return answer
    }

    /// Applies a range to the answer. A request for several ranges gets the whole body, which RFC 9110 (14.2) allows.
    private func apply(
      _ range: ByteRange, of request: HTTPRequest, to answer: inout CacheAnswer, from index: Int,
      of stored: StoredResponse
    ) {
      let held: ContentRange
      if let part = stored.part {
        held = part
      } else if stored.response.status.code == 200, stored.bodySize > 0,
        stored.allowsRange(request.headerFields)
      {
        held = ContentRange(0...stored.bodySize - 1, of: stored.bodySize)
      } else {
        return
      }
      // RFC 9530, section 2: the digest is that of the whole body.
      answer.response.headerFields[.contentDigest] = nil
      guard let bytes = range.resolved(in: held.whole) else {
        answer.response.status = .init(code: 416, reasonPhrase: "Range Not Satisfiable")
        answer.response.headerFields.removeAll(HTTPFields.ofTheBody)
        answer.response.headerFields[.contentRange] = "bytes */\(held.whole)"
        answer.response.headerFields[.contentLength] = "0"
        answer.body = .none
        return
      }
      let offset = bytes.lowerBound - held.bytes.lowerBound
      answer.response.status = .init(code: 206, reasonPhrase: "Partial Content")
      answer.response.headerFields[.contentRange] = ContentRange(bytes, of: held.whole).text
      answer.response.headerFields[.contentLength] = String(bytes.count)
      answer.body = .part(index, offset..<offset + bytes.count)
    }

    /// The answer after a failed exchange, such as offline; nil if no stored response may be served (RFC 9111, 4.2.4).
    public func fail(_ forward: CacheForward, at now: Timestamp) -> CacheAnswer? {
      stale(forward, if: \.whenDisconnected, because: .staleDisconnected, at: now)
    }

    func stale(
      _ forward: CacheForward, if isAllowed: KeyPath<StalePermission, Bool>,
      because reason: CacheAnswer.Reason, at now: Timestamp
    ) -> CacheAnswer? {
      guard let index = forward.selected, forward.completes == nil else { return nil }
      // The time limits of stale use are tested again now, because the request may have taken a long time.
      let stored = forward.stored[index]
      let wish = RequestDirectives(forward.original.headerFields)
      let freshness = Freshness(of: stored, at: now, policy: policy)
      let permission = StalePermission(of: stored, freshness: freshness, for: wish, policy: policy)
      guard forward.permission[keyPath: isAllowed], permission[keyPath: isAllowed] else {
        return nil
      }
      return answer(forward.original, from: index, of: stored, because: reason, freshness)
    }
  }
#endif
