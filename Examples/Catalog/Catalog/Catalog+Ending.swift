public import Larder
import LarderHTTP
import Service

/// Ending what is kept of a user: for all processes, and for what is under way.
extension Catalog {
  /// Forgets one answer, as when a user pulls to refresh; returns what there was.
  @discardableResult
  public func refresh(_ slug: String) async throws -> RemovalResult {
    try await forget("/funnels/catalog/\(slug.percentEscaped)")
  }

  /// To be called after this user has signed in: what was kept of an earlier time ends, and so do the catalogs that were
  /// made then.
  public func signIn() async throws {
    try session.begin()
    try await dropAll()
  }

  /// Forgets the user's answers, filter and saved counts, and returns the answers; what is under way is not kept either.
  ///
  /// This catalog, and every other that was made for the user before, in whatever process, then throws ``CatalogError/ended``.
  @discardableResult
  public func signOut() async throws -> RemovalResult {
    try session.end(forgetChoices)
    return try await dropAll()
  }

  /// Ends that session, and not one that has begun since.
  func leave(_ current: Session.State) async throws {
    if try session.end(current, forgetChoices) { try await dropAll() }
  }

  private func forgetChoices(_ batch: inout WriteBatch) throws {
    try batch.remove(user, from: filters)
    try batch.remove(user, from: totals)
  }

  /// The catalog with another filter. What was kept with the one before ends.
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

  /// Requests under way are told first, then all that carries the tag ends at once, of whatever namespace.
  @discardableResult
  private func drop(_ tag: String) async throws -> RemovalResult {
    let answers = try await cache.removeAll(tag: tag)
    try cache.namespace.store.invalidate(tag: tag)
    return answers
  }
}
