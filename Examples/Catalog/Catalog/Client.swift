import HTTPTypes
public import Larder
public import LarderHTTP
public import Service

/// A catalog of funnels for one user, over an HTTP cache. The answers of the service say how long they are fresh.
///
/// The user has a realm in the store, so one call removes all data of the user for all processes. An error of the service with
/// 401 or 403 also removes the data.
public struct Catalog: Sendable {
  /// The tier of the listed funnels; nil for all tiers. A new catalog has the user's last choice.
  public var tier: String?
  public let cache: HTTPCache
  let service: Service
  private let realm: Realm
  /// The versions of the pages that belong together, for each listing.
  let listings: Cache<[PageVersion]>
  /// The user's choice of a tier, which no eviction removes.
  private let choices: Cache<String>

  static let pagesTag = "pages"

  /// - Parameters:
  ///   - base: the address of the service, with the path of all requests: `https://catalog.example.com/api`.
  ///   - user: the user's name in this store; users do not share data.
  public init(
    at base: String, user: String, token: String, in store: Store,
    over transport: any HTTPTransport, log: (@Sendable (String) -> Void)? = nil
  ) throws {
    // The realm belongs to a user at one server, because another server may have a user with the same name.
    realm = store.realm(of: "\(Service.base(base)) \(user)")
    listings = realm.cache(of: [PageVersion].self, in: "catalog.listings")
    choices = realm.cache(of: String.self, in: "catalog.choices", rules: .userData)
    tier = try choices.value(for: "tier")
    // With this rule, the login page of a network never replaces a good answer.
    let policy = HTTPCachePolicy(rules: [HTTPCacheRule("*", expectedTypes: ["application/json"])])
    cache = HTTPCache(in: realm.namespace("catalog.http"), over: transport, policy: policy)
    var service = Service(at: base, over: cache)
    service.fields[.authorization] = "Bearer \(token)"
    service.message = { $0["error"]?["message"]?.text }
    service.log = log
    self.service = service
  }

  /// The catalog's entry of one funnel: JSON, as the service sent it.
  public func funnel(_ slug: String) async throws -> Reply {
    try await send("/funnels/catalog/\(slug.percentEscaped)")
  }

  /// The questions of a funnel: JSON, as the service sent them.
  public func definition(of slug: String) async throws -> Reply {
    try await send("/funnels/\(slug.percentEscaped)/definition")
  }

  /// The state of an assessment, which is never stored.
  public func status(of assessment: String, in slug: String) async throws -> Reply {
    try await send("/funnels/\(slug.percentEscaped)/assessments/\(assessment.percentEscaped)")
  }

  public func begin(_ slug: String) async throws -> Reply {
    try await send("/funnels/\(slug.percentEscaped)/assessments", method: .post)
  }

  /// A good answer to a request; throws for any other answer. An answer of the service itself with 401 or 403 signs the user
  /// out, and a refused cursor removes the stored pages.
  func send(
    _ path: String, method: HTTPRequest.Method = .get, fields: HTTPFields = [:], tags: [String] = []
  ) async throws -> Reply {
    let reply = try await service.send(path, method: method, fields: fields, tags: tags)
    let code = (400..<500).contains(reply.status) ? reply.json?["error"]?["code"]?.text : nil
    if reply.status == 400, code == "INVALID_CURSOR" {
      try await cache.removeAll(tag: Self.pagesTag)
      throw InvalidCursor(message: service.reason(of: reply))
    }
    // A gateway or the login page of a network may answer with the same status, but without a code of the service.
    if [401, 403].contains(reply.status), code != nil { try realm.clear() }
    return try service.checked(reply)
  }
}

/// Removals of a user's data, for all processes.
extension Catalog {
  /// Removes all data of the user. Call it after the user has signed in, or before the user signs out.
  @discardableResult public func signOut() throws -> RemovalResult { try realm.clear() }

  /// Removes the stored answer about one funnel. Call this when the user asks for a new answer.
  @discardableResult public func refresh(_ slug: String) async throws -> RemovalResult {
    try await service.forget("/funnels/catalog/\(slug.percentEscaped)")
  }

  /// Stores the filter through a load, because a load stores nothing after a sign-out. Removes the pages of the previous filter.
  func keepFilter() async throws {
    guard try choices.value(for: "tier") != tier else { return }
    let options = LoadOptions(policy: .reload, waitsForCommit: true)
    _ = try await choices.result(for: "tier", options: options) { _ in
      try await cache.removeAll(tag: Self.pagesTag)
      try listings.clear()
      return tier.map { .value($0) } ?? .absent
    }
  }
}
