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
/// listings another, so that each ends with one call, for all processes. After the user has signed out, or the service has said
/// 401 or 403, it is over: another one is made for the next time.
///
/// Where the store is too full for a first use to be noted, everything is read from the service and nothing is kept.
public final class Catalog: Sendable {
  /// The user's name in this store; what is kept of one user is nobody else's.
  public let user: String
  /// Which funnels are listed; nil for all.
  public let tier: String?
  let service: Service
  let session: Session
  let cache: HTTPCache
  let listings: Cache<ListingRecord>
  let filters: Cache<String>
  let totals: Cache<CatalogMetrics>
  private let counted = Mutex(CatalogMetrics())

  /// - Parameters:
  ///   - base: with the path that all requests begin with, `https://catalog.example.com/api`.
  ///   - token: what the user signed in with.
  ///   - tier: as it was chosen last; see ``filtered(by:)``.
  ///   - sleep: waits where the service says so; tests give something that does not.
  public init(
    at base: String, user: String, token: String, tier: String? = nil, over cache: HTTPCache,
    sleep: @escaping @Sendable (Duration) async throws -> Void = { try await Task.sleep(for: $0) }
  ) {
    (self.user, self.tier, self.cache) = (user, tier, cache)
    service = Service(
      at: base, over: cache, fields: [.authorization: "Bearer \(token)"],
      words: { Self.complaint($0)?.message }, sleep: sleep)
    let store = cache.namespace.store
    session = Session(of: user, in: store)
    listings = store.cache(of: ListingRecord.self, in: "catalog.listings")
    filters = store.cache(TextCodec(), in: "catalog.filters")
    totals = store.cache(of: CatalogMetrics.self, in: "catalog.metrics")
  }

  /// The same with another filter.
  init(_ other: Catalog, tier: String?) {
    (user, self.tier, service, session) = (other.user, tier, other.service, other.session)
    (cache, listings, filters, totals) = (other.cache, other.listings, other.filters, other.totals)
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

  // MARK: Counting

  /// What reads through this object came to, and since when it was last saved.
  public var metrics: CatalogMetrics { counted.withLock { $0 } }

  /// Adds what was counted to the totals of all processes, and returns those; after signing out, what was counted alone.
  @discardableResult
  public func saveMetrics() throws -> CatalogMetrics {
    let new = counted.withLock { counted in
      defer { counted = CatalogMetrics() }
      return counted
    }
    return try session.write { batch in
      let sum = try (batch.value(for: user, in: totals) ?? CatalogMetrics()) + new
      try batch.set(sum, for: user, in: totals)
      return sum
    } ?? new
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
    let current = try session.check()
    var fields = fields
    if current == .unnamed {
      fields[.cacheControl] = [fields[.cacheControl], "no-store"].compactMap { $0 }
        .joined(separator: ", ")
    }
    let reply = try await service.send(
      path, method: method, fields: fields, tags: [userTag] + tags)
    let isOver = try !session.isOpen(current)
    // It may have been sent, by this process or another, after those under way were told. What a later session of the user has
    // goes with it, and is asked for again: answers carry no name of a session.
    if isOver { try await dropAll() }
    switch reply.status {
    case 401, 403:
      if !isOver { try await leave(current) }
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
