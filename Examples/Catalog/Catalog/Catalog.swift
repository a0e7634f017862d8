import HTTPTypes
import Larder
public import LarderHTTP
public import Service
import Synchronization

/// A catalog of funnels for one user, over an HTTP cache.
///
/// The service's answers say how long they are fresh. All data of the user has one tag, the pages of listings another, so one
/// call invalidates them for all processes. After a sign-out, or an answer of 401 or 403, the object is invalid; the next
/// session needs another one.
///
/// If the store has no room for the session, everything is read from the service and nothing is stored.
public final class Catalog: Sendable {
  /// The user's name in this store; users do not share data.
  public let user: String
  /// The tier of the listed funnels; nil for all.
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
    session = Session(of: user, in: store)
    listings = store.cache(of: ListingRecord.self, in: "catalog.listings")
    filters = store.cache(TextCodec(), in: "catalog.filters", rules: .userData)
    totals = store.cache(of: CatalogMetrics.self, in: "catalog.metrics", rules: .userData)
  }

  /// The same catalog with another filter.
  init(_ other: Catalog, tier: String?) {
    (user, self.tier, service, session) = (other.user, tier, other.service, other.session)
    (cache, listings, filters, totals) = (other.cache, other.listings, other.filters, other.totals)
  }

  var userTag: String { "catalog:\(user)" }
  var pagesTag: String { "pages:\(user)" }

  /// A network that passes on no answer that the catalog cannot use, so that the last good one stays in the HTTP cache.
  public static func network(_ transport: any HTTPTransport) -> CheckedTransport {
    CheckedTransport(transport) { reply in
      guard reply.path.contains("/funnels/catalog?") else { return }
      _ = try reply.decoded(Envelope<CatalogPage>.self)
    }
  }

  // MARK: Reading

  /// A reader of the catalog from its first page.
  ///
  /// - Parameters:
  ///   - limit: funnels on a page, at least 1; the service's maximum of 100 replaces higher numbers.
  ///   - isFresh: whether the service validates every page, fresh or not.
  public func reader(
    limit: Int = 50, isFresh: Bool = false
  ) throws(CatalogError) -> CatalogReader {
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
  public func funnel(_ slug: String) async throws -> [UInt8] {
    try await body("/funnels/catalog/\(slug.percentEscaped)")
  }

  /// The questions of a funnel: JSON, as the service sent it.
  public func definition(of slug: String) async throws -> [UInt8] {
    try await body("/funnels/\(slug.percentEscaped)/definition")
  }

  /// The state of an assessment; it is never stored.
  public func status(of assessment: String, in slug: String) async throws -> [UInt8] {
    try await send("/funnels/\(slug.percentEscaped)/assessments/\(assessment.percentEscaped)").body
  }

  /// Begins an assessment.
  public func begin(_ slug: String) async throws -> [UInt8] {
    try await send("/funnels/\(slug.percentEscaped)/assessments", method: .post).body
  }

  // MARK: Counting

  /// The counters of this object since they were last saved.
  public var metrics: CatalogMetrics { counted.withLock { $0 } }

  /// Adds the counters to the totals of all processes, and returns the totals; after a sign-out, the counters alone.
  ///
  /// Without room in the store the counters stay those of this object.
  @discardableResult
  public func saveMetrics() throws -> CatalogMetrics {
    let new = counted.withLock { counted in
      defer { counted = CatalogMetrics() }
      return counted
    }
    do {
      return try session.write { batch in
        let sum = try (batch.value(for: user, in: totals) ?? CatalogMetrics()) + new
        try batch.set(sum, for: user, in: totals)
        return sum
      } ?? new
    } catch let error as LarderError where error.code == .full {
      counted.withLock { $0 = $0 + new }
      return new
    }
  }

  // MARK: Exchanges

  private func body(_ path: String) async throws -> [UInt8] {
    try await inTurn(path) { [self] in try await read(path).body }
  }

  /// Calls `body` in one process of the machine at a time for this user and path. The next one then finds in the store what
  /// the first has stored.
  ///
  /// The turn is the lease of a load that never has a value of its own.
  func inTurn<Value: Sendable>(
    _ path: String, _ body: @escaping @Sendable () async throws -> Value
  ) async throws -> Value {
    let result = Box<Value>()
    _ = try await listings.valueIfPresent(for: "turn \(user) \(path)") {
      let value = try await body()
      result.value.withLock { $0 = value }
      return nil
    }
    // Nil if another task of this process had the turn.
    if let value = result.value.withLock({ $0 }) { return value }
    return try await body()
  }

  private final class Box<Value: Sendable>: Sendable {
    let value = Mutex<Value?>(nil)
  }

  /// Sends a request whose answer may be stored, and counts it.
  func read(
    _ path: String, tags: [String] = [], fields: HTTPFields = HTTPFields()
  ) async throws -> Reply {
    let start = ContinuousClock.now
    let reply = try await send(path, fields: fields, tags: tags)
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
    // The request may have been sent after the sign-out invalidated those under way. Answers do not name their session, so the
    // answers of a later session of the user are removed too.
    if isOver { try await dropAll() }
    let complaint = reply.status < 400 ? nil : reply.json?["error"]
    let message = complaint?["message"]?.text
    switch reply.status {
    case 401, 403:
      if !isOver { try await leave(current) }
      throw CatalogError.signedOut(
        status: reply.status, message: message ?? "no reason given")
    case 400 where complaint?["code"]?.text == "INVALID_CURSOR":
      throw CatalogError.invalidCursor(message ?? "no reason given")
    default: break
    }
    return try service.checked(reply)
  }
}
