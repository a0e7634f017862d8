import HTTPTypes

extension HTTPRules {
  /// A response to HEAD updates the stored response to GET, or invalidates it (RFC 9111, 4.3.5).
  func receiveHead(_ exchange: Exchange) -> CacheReception {
    let (response, forward) = (exchange.response, exchange.forward)
    if [500, 502, 503, 504].contains(response.status.code),
      let answer = stale(forward, if: \.onError, because: .staleOnError, at: exchange.received)
    {
      return CacheReception(.answer(answer))
    }
    var reception = CacheReception(.pass)
    guard response.status.code == 200, let index = forward.selected,
      forward.stored[index].response.status.code == 200
    else { return reception }
    if isSameRepresentation(forward.stored[index], response.headerFields),
      let stored = freshened(forward.stored[index], by: exchange).stored
    {
      reception.stores = [(stored, .stored(index))]
    } else {
      reception.removes = [index]
    }
    return reception
  }

  /// Whether the fields of a HEAD response describe the stored representation.
  private func isSameRepresentation(_ stored: StoredResponse, _ fields: HTTPFields) -> Bool {
    if let tag = EntityTag(fields), let old = stored.entityTag, !tag.matchesWeakly(old) {
      return false
    }
    if let modified = fields[values: .lastModified].first, let old = stored.lastModified,
      modified != old
    {
      return false
    }
    // The length differs if the origin encodes each response again.
    let length = fields[.contentLength].flatMap { ContentRange.position($0) }
    return length.map { $0 == stored.bodySize } ?? true
  }
}
