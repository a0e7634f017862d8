import Foundation
import HTTPTypes
public import Larder
public import LarderHTTP
public import Service

/// A catalog of funnels for one user, over an HTTP cache: the service's answers say how long they are fresh.
///
/// All data of the user has one tag, the pages of listings another, so one call invalidates them for all processes. An error of
/// the service with 401 or 403 signs the user out.
public struct Catalog: Sendable {
  /// The tier of the listed funnels; nil for all.
  public private(set) var tier: String?
  let service: Service
  /// The user at this server: another server may know the same name.
  let owner: String
  let cache: HTTPCache
  /// The versions of the pages of a listing that belong together.
  let listings: Cache<[PageVersion]>
  private let filters, sessions: Cache<String>

  /// - Parameters:
  ///   - base: with the path that all requests begin with, `https://catalog.example.com/api`.
  ///   - user: the user's name in this store; users do not share data.
  ///   - token: the user's credential at the service.
  ///   - cache: over ``network(_:)``.
  ///   - log: called for every request.
  public init(
    at base: String, user: String, token: String, over cache: HTTPCache,
    log: (@Sendable (String) -> Void)? = nil
  ) {
    self.cache = cache
    var service = Service(at: base, over: cache)
    service.fields = [.authorization: "Bearer \(token)"]
    service.message = { $0["error"]?["message"]?.text }
    service.log = log
    self.service = service
    let store = cache.namespace.store
    owner = ServiceRealm(base: service.base, credential: "").name(user, in: store)
    listings = store.cache(of: [PageVersion].self, in: "catalog.listings")
    // User data: no eviction ends a session, or forgets a choice.
    filters = store.cache(TextCodec(), in: "catalog.filters", rules: .userData)
    sessions = store.cache(TextCodec(), in: "catalog.sessions", rules: .userData)
  }

  /// A network that passes on no answer that the catalog cannot use, so that the last good one stays in the HTTP cache.
  public static func network(_ transport: any HTTPTransport) -> CheckedTransport {
    CheckedTransport(transport) { reply in
      guard reply.path.contains("/funnels/catalog?") else { return }
      _ = try reply.decoded(Envelope<CatalogPage>.self)
    }
  }

  /// The catalog with another filter. The pages of the former one are removed once the service has answered with this one.
  public func filtered(by tier: String?) -> Catalog {
    var catalog = self
    catalog.tier = tier
    return catalog
  }

  /// The catalog's entry of one funnel: JSON, as the service sent it.
  public func funnel(_ slug: String) async throws -> Reply {
    try await send("/funnels/catalog/\(slug.percentEscaped)")
  }

  /// The questions of a funnel: JSON, as the service sent it.
  public func definition(of slug: String) async throws -> Reply {
    try await send("/funnels/\(slug.percentEscaped)/definition")
  }

  /// The state of an assessment; it is never stored.
  public func status(of assessment: String, in slug: String) async throws -> Reply {
    try await send("/funnels/\(slug.percentEscaped)/assessments/\(assessment.percentEscaped)")
  }

  /// Begins an assessment.
  public func begin(_ slug: String) async throws -> Reply {
    try await send("/funnels/\(slug.percentEscaped)/assessments", method: .post)
  }

  /// A good answer to a request; any other is an error, and the service's own with 401 or 403 signs the user out.
  func send(
    _ path: String, method: HTTPRequest.Method = .get, fields: HTTPFields = [:],
    tags: [String] = []
  ) async throws -> Reply {
    let session = try await session()
    let reply = try await service.send(path, method: method, fields: fields, tags: [userTag] + tags)
    // Another process may have signed the user out meanwhile.
    let isOver = try sessions.value(for: owner) != session
    if isOver { try await drop(userTag) }
    switch reply.status {
    // A gateway or the login page of a network may answer with the same status.
    case 401 where !reply.isPage, 403 where !reply.isPage:
      if !isOver { try await signOut() }
      throw CatalogError.signedOut(status: reply.status, message: service.reason(of: reply))
    case 400 where reply.json?["error"]?["code"]?.text == "INVALID_CURSOR":
      throw CatalogError.invalidCursor(service.reason(of: reply))
    default: return try service.checked(reply)
    }
  }
}

/// Removing a user's data, for all processes.
extension Catalog {
  private var userTag: String { "catalog:\(owner)" }
  var pagesTag: String { pagesTag(of: tier) }
  private func pagesTag(of tier: String?) -> String {
    "pages:\(owner):" + Secrets.digest(tier ?? "", in: cache.namespace.store)
  }
  var tags: [String] { [userTag, pagesTag] }

  /// Call it after this user has signed in: removes the data of an earlier session.
  public func signIn() async throws { try await signOut() }

  /// Removes the user's answers and filter, and returns the answers. Requests under way are not stored.
  @discardableResult public func signOut() async throws -> RemovalResult {
    for data in [sessions, filters] { _ = try await data.remove(owner) }
    return try await drop(userTag)
  }

  /// Removes the stored answer about one funnel, for a pull to refresh; returns what was removed.
  @discardableResult public func refresh(_ slug: String) async throws -> RemovalResult {
    try await service.forget("/funnels/catalog/\(slug.percentEscaped)")
  }

  /// Revokes requests under way first, then invalidates the tag in all namespaces at once.
  @discardableResult func drop(_ tag: String) async throws -> RemovalResult {
    let answers = try await cache.removeAll(tag: tag)
    try cache.namespace.store.invalidate(tag: tag)
    return answers
  }

  /// Records this catalog's filter, and removes the pages of the former one.
  func keepFilter() async throws {
    let former = try filters.value(for: owner)
    guard former != tier, try sessions.contains(owner) else { return }
    let isKept: Void? = try await ifRoomSuspending {
      if let tier {
        try await filters.set(tier, for: owner)
      } else {
        _ = try await filters.remove(owner)
      }
    }
    if isKept != nil { try await drop(pagesTag(of: former)) }
  }

  /// The name of the session, which begins if there is none; nil if the store has no room for it.
  private func session() async throws -> String? {
    if let name = try sessions.value(for: owner) { return name }
    _ = try await ifRoomSuspending {
      try await sessions.setIfAbsent(UUID().uuidString, for: owner)
    }
    return try sessions.value(for: owner)
  }
}
