import HTTPTypes
public import Larder
public import LarderHTTP
public import Service

/// A client of Rebrickable's API, version 3, that caches answers under its plan.
///
///     let lego = try LegoClient(at: "lego.larder", credential: key, over: URLSessionTransport())
///     let red = try await lego.entity(Color.self, "4")
///
/// Concurrent calls for a missing entity share one request. If the service cannot be reached, answers with 5xx or limits
/// requests, a stale entity is returned with
/// ``CacheResult/Source/stale`` and the error, if the kind's rule allows that.
public struct LegoClient: Sendable {
  public static let publicBase = "https://rebrickable.com/api/v3"

  public let service: Service
  /// The stored entities; nil if the plan stores none.
  public let cache: LegoCache?

  /// Opens the store at `path`, if the plan needs one.
  ///
  /// - Parameters:
  ///   - credential: the key that Rebrickable gives to each user; nil for none.
  ///   - transport: sends the requests; it must have a timeout.
  ///   - log: called for every lookup and request.
  public init(
    at path: String, plan: CachePlan = .default, base: String = LegoClient.publicBase,
    credential: String?, over transport: any HTTPTransport,
    options: Store.Options = Store.Options(), log: (@Sendable (String) -> Void)? = nil
  ) throws(LarderError) {
    let realm = Self.realm(base: base, credential: credential)
    var service = Self.service(base: base, credential: credential, over: transport)
    service.log = log
    self.init(try LegoCache(at: path, plan: plan, realm: realm, options: options), service: service)
  }

  public init(_ cache: LegoCache?, service: Service) {
    (self.cache, self.service) = (cache, service)
  }

  /// Answers of Rebrickable itself without a key are public.
  public static func realm(base: String, credential: String?) -> Realm {
    let base = Service.base(base)
    return base == publicBase && credential == nil
      ? .open : Realm(base: base, credential: credential ?? "")
  }

  /// The service as Rebrickable speaks: `Authorization: key ...`, and errors as `{"detail": "..."}`.
  public static func service(
    base: String, credential: String?, over transport: any HTTPTransport
  ) -> Service {
    var service = Service(at: base, over: transport)
    service.fields = [.accept: "application/json"]
    if let credential { service.fields[.authorization] = "key " + credential }
    service.message = { $0["detail"]?.text }
    service.wait = { $0["detail"]?.text.flatMap(Self.wait) }
    return service
  }

  /// `Request was throttled. Expected available in 2 seconds.`
  private static func wait(in detail: String) -> Duration? {
    guard let phrase = detail.firstRange(of: "available in ") else { return nil }
    return Int(detail[phrase.upperBound...].prefix { $0.isWholeNumber }).map { .seconds($0) }
  }
}
