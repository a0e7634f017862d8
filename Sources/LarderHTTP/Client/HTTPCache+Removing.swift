public import HTTPTypes
public import Larder

/// Ending what is stored: for every process at once, and for what requests of this cache that are under way will bring.
///
/// Those are still answered, and what they bring is not stored. One that another process has under way counts as made
/// afterwards.
extension HTTPCache {
  /// Removes every response of a host, whoever asked for it.
  ///
  /// - Parameter host: as in a request's authority, with the port if that is not the scheme's own: `api.example.com`,
  ///   `127.0.0.1:8000`.
  /// - Complexity: as ``Larder/Namespace/invalidate(tag:)``; no process finds any of them after the first transaction.
  @discardableResult
  public func removeAll(host: String) async throws -> RemovalResult {
    try end(ResponseTags.host(host))
  }

  /// Removes every response that requests with this `Authorization` were answered with, of any host.
  ///
  /// - Parameter authorization: the field's value, `Bearer ...`; it is known to the store as a digest only.
  /// - Complexity: as ``removeAll(host:)``.
  @discardableResult
  public func removeAll(authorization: String) async throws -> RemovalResult {
    guard let credential = Secrets.credential(of: [.authorization: authorization]) else {
      return RemovalResult()
    }
    return try end(ResponseTags.user(credential))
  }

  /// Removes every response that was asked for with this tag.
  ///
  /// Entries of other namespaces may carry it as well: `Store.invalidate(tag:)` ends them all together.
  ///
  /// - Complexity: as ``removeAll(host:)``.
  @discardableResult
  public func removeAll(tag: String) async throws -> RemovalResult { try end(tag) }

  /// Removes all stored responses of the request's URI, whoever asked for them.
  ///
  /// - Complexity: O(stored responses of the URI), each in a write of its own.
  @discardableResult
  public func removeAll(for request: HTTPRequest) async throws -> RemovalResult {
    guard let key = ResponseKey(request, policy: rules.policy) else { return RemovalResult() }
    return try await removeAll(of: key)
  }

  private func end(_ tag: String) throws -> RemovalResult {
    permits.revoke(tag)
    return try namespace.invalidate(tag: tag)
  }

  /// - Parameter permit: of the request that ends them: what it brings itself is newer.
  @discardableResult
  func removeAll(of key: ResponseKey, by permit: Permit? = nil) async throws -> RemovalResult {
    permits.revoke(ResponseTags.uri(key), except: permit)
    var removal = RemovalResult()
    for entry in try entries(of: key) where try await namespace.remove(entry.key) {
      removal.entries += 1
      removal.bytes += entry.size
    }
    return removal
  }
}
