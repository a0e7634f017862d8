import HTTPTypes
import Larder
public import LarderHTTP
public import Service

/// A catalog of funnels for one user, over an HTTP cache.
///
/// The service's answers say how long they are fresh. All data of the user has one tag, the pages of listings another, so one
/// call invalidates them for all processes. An error of the service with 401 or 403 signs the user out.
public struct Catalog: Sendable {
  /// The user's name in this store; users do not share data.
  public let user: String
  /// The user at this server: another server may know the same name.
  let owner: String
  /// The tier of the listed funnels; nil for all.
  public internal(set) var tier: String?
  let service: Service
  let cache: HTTPCache
  /// The versions of the pages of a listing that belong together; see ``ListingPass``.
  let listings: Cache<[PageVersion]>
  let filters: Cache<String>
  let sessions: Cache<String>

  /// - Parameters:
  ///   - base: with the path that all requests begin with, `https://catalog.example.com/api`.
  ///   - token: the user's credential at the service.
  ///   - tier: the last choice; see ``filtered(by:)``.
  ///   - cache: over ``network(_:)``.
  ///   - log: called for every request.
  ///   - sleep: waits when the service asks for it; tests pass one that returns at once.
  public init(
    at base: String, user: String, token: String, tier: String? = nil, over cache: HTTPCache,
    log: (@Sendable (String) -> Void)? = nil,
    sleep: @escaping @Sendable (Duration) async throws -> Void = { try await Task.sleep(for: $0) }
  ) {
    (self.user, self.tier, self.cache) = (user, tier, cache)
    var service = Service(at: base, over: cache)
    service.fields = [.authorization: "Bearer \(token)"]
    service.message = { $0["error"]?["message"]?.text }
    (service.sleep, service.log) = (sleep, log)
    self.service = service
    let store = cache.namespace.store
    owner = Realm(base: service.base, credential: "").name(user, in: store)
    listings = store.cache(of: [PageVersion].self, in: "catalog.listings")
    // User data: no eviction ends a session, or forgets a choice.
    filters = store.cache(TextCodec(), in: "catalog.filters", rules: .userData)
    sessions = store.cache(TextCodec(), in: "catalog.sessions", rules: .userData)
  }

  var store: Store { cache.namespace.store }
  var userTag: String { "catalog:\(owner)" }
  var pagesTag: String { pagesTag(of: tier) }
  func pagesTag(of tier: String?) -> String {
    "pages:\(owner):" + (tier.map { Secrets.digest($0, in: store).prefix(12) } ?? "")
  }

  /// A network that passes on no answer that the catalog cannot use, so that the last good one stays in the HTTP cache.
  public static func network(_ transport: any HTTPTransport) -> CheckedTransport {
    CheckedTransport(transport) { reply in
      guard reply.path.contains("/funnels/catalog?") else { return }
      _ = try reply.decoded(Envelope<CatalogPage>.self)
    }
  }

  /// A reader of the catalog from its first page.
  ///
  /// - Parameters:
  ///   - limit: funnels on a page, at least 1; the service's maximum of 100 replaces higher numbers.
  ///   - isFresh: whether the service validates every page, fresh or not.
  public func reader(limit: Int = 50, isFresh: Bool = false) throws(CatalogError) -> CatalogReader {
    guard limit >= 1 else { throw CatalogError.limit(limit) }
    return CatalogReader(self, limit: min(limit, 100), isFresh: isFresh)
  }

  /// All of the catalog, of one version.
  public func all(limit: Int = 50) async throws -> CatalogContents {
    let reader = try reader(limit: limit)
    while try await reader.more() {}
    return await reader.contents
  }

  /// The catalog's entry of one funnel: JSON, as the service sent it.
  public func funnel(_ slug: String) async throws -> Reply {
    try await reply("/funnels/catalog/\(slug.percentEscaped)")
  }

  /// The questions of a funnel: JSON, as the service sent it.
  public func definition(of slug: String) async throws -> Reply {
    try await reply("/funnels/\(slug.percentEscaped)/definition")
  }

  /// The state of an assessment; it is never stored.
  public func status(of assessment: String, in slug: String) async throws -> [UInt8] {
    try await send("/funnels/\(slug.percentEscaped)/assessments/\(assessment.percentEscaped)").body
  }

  /// Begins an assessment.
  public func begin(_ slug: String) async throws -> [UInt8] {
    try await send("/funnels/\(slug.percentEscaped)/assessments", method: .post).body
  }

  private func reply(_ path: String) async throws -> Reply {
    try await inTurn(path) { [self] in try await send(path) }
  }

  /// Calls `body` in one process of the machine at a time for this user and path. The next one then finds in the store what
  /// the first has stored.
  func inTurn<Value: Sendable>(
    _ path: String, _ body: @escaping @Sendable () async throws -> Value
  ) async throws -> Value {
    try await listings.inTurn("turn \(owner) \(path)", body)
  }

  /// A good answer to a request; any other is an error, and the service's own with 401 or 403 signs the user out.
  func send(
    _ path: String, method: HTTPRequest.Method = .get, fields: HTTPFields = HTTPFields(),
    tags: [String] = []
  ) async throws -> Reply {
    let session = try session()
    let reply = try await service.send(path, method: method, fields: fields, tags: [userTag] + tags)
    let isOver = try sessions.value(for: owner) != session
    // Answers do not name their session, so those of a later session are removed too.
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
