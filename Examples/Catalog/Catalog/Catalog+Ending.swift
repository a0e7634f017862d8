public import Larder
import LarderHTTP
import Service

/// Removing a user's data, for all processes and for requests under way.
extension Catalog {
  /// Removes the stored answer about one funnel, for a pull to refresh; returns what was removed.
  @discardableResult
  public func refresh(_ slug: String) async throws -> RemovalResult {
    try await forget("/funnels/catalog/\(slug.percentEscaped)")
  }

  /// Call it after this user has signed in: removes the data of an earlier session, whose `Catalog` objects become invalid.
  public func signIn() async throws {
    try session.begin()
    try await dropAll()
  }

  /// Removes the user's answers, filter and counters, and returns the answers. Requests under way are not stored.
  ///
  /// Every `Catalog` of the session, in any process, then throws ``CatalogError/ended``.
  @discardableResult
  public func signOut() async throws -> RemovalResult {
    try session.end(forgetChoices)
    return try await dropAll()
  }

  /// Ends this session, not a later one.
  func leave(_ current: Session.State) async throws {
    if try session.end(current, forgetChoices) { try await dropAll() }
  }

  private func forgetChoices(_ batch: inout WriteBatch) throws {
    try batch.remove(user, from: filters)
    try batch.remove(user, from: totals)
  }

  /// The catalog with another filter; removes the answers of the former one.
  public func filtered(by tier: String?) async throws -> Catalog {
    try session.check()
    if try filters.value(for: user) != tier {
      try await dropAll()
      _ = try session.write { batch in
        if let tier {
          try batch.set(tier, for: user, in: filters)
        } else {
          try batch.remove(user, from: filters)
        }
      }
    }
    return Catalog(self, tier: tier)
  }

  @discardableResult
  func forget(_ path: String) async throws -> RemovalResult {
    try session.check()
    return try await service.forget(path)
  }

  @discardableResult
  func dropAll() async throws -> RemovalResult { try await drop(userTag) }

  func dropPages() async throws { try await drop(pagesTag) }

  /// Revokes requests under way first, then invalidates the tag in all namespaces at once.
  @discardableResult
  private func drop(_ tag: String) async throws -> RemovalResult {
    let answers = try await cache.removeAll(tag: tag)
    try cache.namespace.store.invalidate(tag: tag)
    return answers
  }
}
