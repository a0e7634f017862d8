import HTTPTypes
import Larder
public import LarderHTTP
import Service
import Synchronization

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// A catalog of funnels as one user sees it, over an HTTP cache.
///
/// How long anything is kept, the service says in its answers. Everything of the user carries one tag, and the pages of
/// listings another, so that each ends with one call, for all processes.
public final class Catalog: Sendable {
  /// The user's name in this store; what is kept of one user is nobody else's.
  public let user: String
  /// Which funnels are listed; nil for all.
  public let tier: String?
  let service: Service
  private let cache: HTTPCache
  let listings: Cache<ListingRecord>
  private let base: String
  private let token: String
  private let filters: Cache<String>
  private let totals: Cache<CatalogMetrics>
  private let counted = Mutex(CatalogMetrics())

  /// - Parameters:
  ///   - base: with the path that all requests begin with, `https://catalog.example.com/api`.
  ///   - token: what the user signed in with.
  ///   - tier: as it was chosen last; see ``filtered(by:)``.
  public init(
    at base: String, user: String, token: String, tier: String? = nil, over cache: HTTPCache
  ) {
    (self.base, self.user, self.token, self.tier) = (base, user, token, tier)
    self.cache = cache
    service = Service(
      at: base, over: cache, fields: [.authorization: "Bearer \(token)"],
      words: { Self.complaint($0)?.message })
    let store = cache.namespace.store
    listings = store.cache(of: ListingRecord.self, in: "catalog.listings")
    filters = store.cache(TextCodec(), in: "catalog.filters")
    totals = store.cache(of: CatalogMetrics.self, in: "catalog.metrics")
  }

  var userTag: String { "catalog:\(user)" }
  var pagesTag: String { "pages:\(user)" }

  // MARK: Reading

  /// A reader of the catalog from its first page on.
  ///
  /// - Parameter limit: funnels on a page; more than 100 are taken for 100.
  public func reader(limit: Int = 50) throws(CatalogError) -> CatalogReader {
    guard limit >= 1 else { throw CatalogError.limit(limit) }
    return CatalogReader(self, limit: min(limit, 100))
  }

  /// All of the catalog, of one version.
  public func all(limit: Int = 50) async throws -> CatalogContents {
    let reader = try reader(limit: limit)
    while try await reader.more() {}
    return await reader.contents
  }

  /// What the catalog says of one funnel: JSON, as it came.
  public func funnel(_ slug: String) async throws -> [UInt8] {
    try await read("/funnels/catalog/\(slug.percentEscaped)").body
  }

  /// The questions of a funnel: JSON, as it came.
  public func definition(of slug: String) async throws -> [UInt8] {
    try await read("/funnels/\(slug.percentEscaped)/definition").body
  }

  /// How far an assessment is, which is never kept.
  public func status(of assessment: String, in slug: String) async throws -> [UInt8] {
    try await send("/funnels/\(slug.percentEscaped)/assessments/\(assessment.percentEscaped)").body
  }

  /// Begins an assessment.
  public func begin(_ slug: String) async throws -> [UInt8] {
    try await send("/funnels/\(slug.percentEscaped)/assessments", method: .post).body
  }

  // MARK: Ending

  /// Forgets one answer, as when a user pulls to refresh.
  public func refresh(_ slug: String) async throws {
    try await service.forget("/funnels/catalog/\(slug.percentEscaped)")
  }

  /// To be called after this user has signed in: what was kept of an earlier time ends.
  public func signIn() async throws { try await dropAll() }

  /// Forgets the user's answers, filter and saved counts; answers under way are not kept either.
  public func signOut() async throws {
    try await dropAll()
    try await filters.remove(user)
    try await totals.remove(user)
  }

  /// The catalog with another filter. What was kept with the one before ends.
  public func filtered(by tier: String?) async throws -> Catalog {
    if try filters.value(for: user) != tier {
      try await dropAll()
      if let tier { try await filters.set(tier, for: user) } else { try await filters.remove(user) }
    }
    return Catalog(at: base, user: user, token: token, tier: tier, over: cache)
  }

  private func dropAll() async throws { try await drop(userTag) }

  func dropPages() async throws { try await drop(pagesTag) }

  /// Requests under way are told first, then all that carries the tag ends at once, of whatever namespace.
  private func drop(_ tag: String) async throws {
    try await cache.removeAll(tag: tag)
    try listings.namespace.store.invalidate(tag: tag)
  }

  // MARK: Counting

  /// What reads through this object came to, and since when it was last saved.
  public var metrics: CatalogMetrics { counted.withLock { $0 } }

  /// Adds what was counted to the totals of all processes, and returns those.
  @discardableResult
  public func saveMetrics() throws -> CatalogMetrics {
    let new = counted.withLock { counted in
      defer { counted = CatalogMetrics() }
      return counted
    }
    return try totals.update(user) { ($0 ?? CatalogMetrics()) + new } ?? new
  }

  // MARK: Exchanges

  /// An answer that may be kept, and is counted.
  func read(
    _ path: String, tags: [String] = [], isAsked: Bool = false
  ) async throws -> Reply {
    let start = ContinuousClock.now
    let reply = try await send(
      path, fields: isAsked ? [.cacheControl: "no-cache"] : [:], tags: tags)
    counted.withLock { $0.count(reply, took: ContinuousClock.now - start) }
    return reply
  }

  private func send(
    _ path: String, method: HTTPRequest.Method = .get, fields: HTTPFields = HTTPFields(),
    tags: [String] = []
  ) async throws -> Reply {
    let reply = try await service.send(
      path, method: method, fields: fields, tags: [userTag] + tags)
    switch reply.status {
    case 401, 403:
      try await dropAll()
      throw CatalogError.signedOut(
        status: reply.status, message: Self.complaint(reply.body)?.message ?? "no reason given")
    case 400:
      if let complaint = Self.complaint(reply.body), complaint.code == "INVALID_CURSOR" {
        throw CatalogError.invalidCursor(complaint.message)
      }
    default: break
    }
    return try service.checked(reply)
  }

  private static func complaint(_ body: [UInt8]) -> Complaint.Details? {
    do {
      return try JSONDecoder().decode(Complaint.self, from: Data(body)).error
    } catch {
      // Proxies in between answer in HTML.
      return nil
    }
  }
}
