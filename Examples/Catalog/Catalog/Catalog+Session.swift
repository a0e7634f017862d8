import Foundation
public import Larder
import LarderHTTP
import Service

/// Removing a user's data, for all processes.
///
/// Data is stored during a session only: an entry with a unique name, which is removed with the data. A process that finds
/// another name after a request removes what the request has stored.
extension Catalog {
  /// Call it after this user has signed in: removes the data of an earlier session.
  public func signIn() async throws { try await signOut() }

  /// Removes the user's answers and filter, and returns the answers. Requests under way are not stored.
  @discardableResult public func signOut() async throws -> RemovalResult {
    try store.write { batch in
      try batch.remove(owner, from: sessions)
      try batch.remove(owner, from: filters)
    }
    return try await drop(userTag)
  }

  /// The catalog with another filter. The pages of the former one are removed once the service has answered with a page of this one.
  public func filtered(by tier: String?) -> Catalog {
    var catalog = self
    catalog.tier = tier
    return catalog
  }

  /// Records this catalog's filter, and removes the pages of the former one.
  ///
  /// The record comes first. After a crash in between, pages of the former filter are left, which expire as all do.
  func keepFilter(in session: String?) async throws {
    let former = try filters.value(for: owner)
    guard former != tier else { return }
    let isRecorded = try ifRoom {
      try store.write { batch in
        guard try batch.value(for: owner, in: sessions) == session else { return false }
        if let tier {
          try batch.set(tier, for: owner, in: filters)
        } else {
          try batch.remove(owner, from: filters)
        }
        return true
      }
    }
    if isRecorded == true { try await drop(pagesTag(of: former)) }
  }

  /// Removes the stored answer about one funnel, for a pull to refresh; returns what was removed.
  @discardableResult public func refresh(_ slug: String) async throws -> RemovalResult {
    try await service.forget("/funnels/catalog/\(slug.percentEscaped)")
  }

  /// Revokes requests under way first, then invalidates the tag in all namespaces at once.
  @discardableResult func drop(_ tag: String) async throws -> RemovalResult {
    let answers = try await cache.removeAll(tag: tag)
    try store.invalidate(tag: tag)
    return answers
  }

  /// The name of the session; begins one if there is none. Nil if the store has no room for it.
  func session() throws -> String? {
    if let name = try sessions.value(for: owner) { return name }
    return try ifRoom {
      try store.write { batch in
        // Another process may have been faster.
        if let name = try batch.value(for: owner, in: sessions) { return name }
        let name = UUID().uuidString
        try batch.set(name, for: owner, in: sessions)
        return name
      }
    }
  }
}
