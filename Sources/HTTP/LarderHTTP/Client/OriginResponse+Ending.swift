#if HTTP
  import HTTPTypes
  import Larder

  extension OriginResponse {
    /// Removes the stored responses that this response invalidates, before this response is stored.
    func end(_ reception: CacheReception) async throws {
      let (responses, policy) = (cache.responses, cache.rules.policy)
      let request = exchange.forward.original
      for key in reception.invalidates {
        try await responses.removeAll(of: key, policy: policy, by: exchange.permit)
      }
      for tag in reception.endsTags { _ = try responses.invalidate(tag) }
      if reception.endsOrigin, let key = ResponseKey(request, policy: policy) {
        try await responses.removeAll(ofOrigin: key, for: cache.rules.credential(of: request))
      }
    }
  }

  extension ResponseStore {
    /// Removes the responses of an origin: the responses of one user and the responses without a user, or all responses.
    ///
    /// - Parameter credential: the credential of the user; nil for all users.
    func removeAll(ofOrigin key: ResponseKey, for credential: String?) async throws {
      let tag = ResponseTags.origin(key)
      let flights = permits.revoke(tag)
      defer { for flight in flights { flight.complete(.abandoned) } }
      try await namespace.store.commit { batch in batch.refuseEarlierLoads(tagged: tag) }
      let prefix = key.origin + "/"
      // With a longer prefix, some keys contain only its beginning, so all responses of the host are removed.
      guard prefix.utf8.count <= ResponseKey.shortestBeginning else {
        _ = try invalidate(ResponseTags.host(key.host))
        return
      }
      var cursor: PageCursor?
      repeat {
        let page = try namespace.page(limit: 100, after: cursor, prefix: prefix)
        for entry in page.items {
          let response = entry.metadata.flatMap {
            StoredResponse(metadata: $0, bodySize: entry.size)
          }
          if let credential, let own = response?.credential, own != credential { continue }
          _ = try await remove(entry.key)
        }
        cursor = page.next
      } while cursor != nil
    }
  }
#endif
