public import HTTPTypes
public import Larder

/// Invalidation of stored responses, in every process at once, and of requests of this cache under way.
///
/// A request under way is still answered, but its response is not stored. A request under way in another process counts as
/// sent after the invalidation.
extension HTTPCache {
  /// Removes every response of a host, for all users.
  ///
  /// - Parameter host: as in a request's authority, with the port if that is not the scheme's own: `api.example.com`,
  ///   `127.0.0.1:8000`.
  /// - Complexity: as `invalidate(tag:)` of `Store.Namespace`; no process finds any of them after the first transaction.
  @discardableResult
  public func removeAll(host: String) async throws -> RemovalResult {
    try end(ResponseTags.host(host))
  }

  /// Removes every response to requests with this `Authorization`, of any host.
  ///
  /// - Parameter authorization: the field's value, `Bearer ...`. The store has only its digest.
  /// - Complexity: as ``removeAll(host:)``.
  @discardableResult
  public func removeAll(authorization: String) async throws -> RemovalResult {
    let principal = Principal([.authorization: authorization], policy: rules.policy)
    guard let digest = principal.authorization else { return RemovalResult() }
    return try end(ResponseTags.user(digest))
  }

  /// Removes every response to requests of the user with this name, of any host.
  ///
  /// - Parameter principal: the name that ``HTTPCachePolicy/principal`` gives the user.
  /// - Complexity: as ``removeAll(host:)``.
  @discardableResult
  public func removeAll(principal: String) async throws -> RemovalResult {
    try end(ResponseTags.user(Principal.digest(ofName: principal, policy: rules.policy)))
  }

  /// Removes every response that was requested with this tag.
  ///
  /// Entries of other namespaces may carry the tag: `Store.invalidate(tag:)` removes all of them.
  ///
  /// - Complexity: as ``removeAll(host:)``.
  @discardableResult
  public func removeAll(tag: String) async throws -> RemovalResult { try end(tag) }

  /// Removes all stored responses of the request's URI, for all users. A client that reads one of them reads on.
  ///
  /// - Complexity: O(stored responses of the URI), each in a write of its own.
  @discardableResult
  public func removeAll(for request: HTTPRequest) async throws -> RemovalResult {
    guard let key = ResponseKey(request, policy: rules.policy) else { return RemovalResult() }
    return try await removeAll(of: key)
  }

  /// Removes the stored responses that `isUnwanted` chooses, in this namespace.
  ///
  /// Requests under way are not affected: their responses are stored after it.
  ///
  /// - Parameter isUnwanted: receives the key, which begins with the URI, and the head of each response;
  ///   ``StoredResponse/received`` is its date.
  /// - Complexity: O(entries of the namespace), and each removal is a write of its own.
  @discardableResult
  public func removeAll(
    where isUnwanted: (_ key: String, _ response: StoredResponse) throws -> Bool
  ) async throws -> RemovalResult {
    var removal = RemovalResult()
    var cursor: PageCursor?
    repeat {
      let page = try namespace.page(limit: 100, after: cursor)
      for entry in page.items {
        guard let key = entry.key.string, let metadata = entry.metadata,
          let response = StoredResponse(metadata: metadata, bodySize: entry.size),
          try isUnwanted(key, response), try await remove(entry.key)
        else { continue }
        removal.entries += 1
        removal.bytes += response.bodySize
      }
      cursor = page.next
    } while cursor != nil
    return removal
  }

  private func end(_ tag: String) throws -> RemovalResult {
    permits.revoke(tag)
    return try namespace.invalidate(tag: tag)
  }

  /// - Parameter permit: the permit of the request that causes the removal; its own response is newer and may be stored.
  @discardableResult
  func removeAll(of key: ResponseKey, by permit: StorePermit? = nil) async throws -> RemovalResult {
    permits.revoke(ResponseTags.uri(key), except: permit)
    var removal = RemovalResult()
    var entries = try entries(of: key)
    if rules.policy.rules.contains(where: { !$0.bodyMethods.isEmpty }) {
      entries += try self.entries(with: key.bodyPrefix)
    }
    for entry in entries where try await remove(entry.key) {
      removal.entries += 1
      removal.bytes +=
        entry.metadata.flatMap { StoredResponse(metadata: $0, bodySize: entry.size)?.bodySize }
        ?? entry.size
    }
    return removal
  }
}
