import Foundation
import HTTPTypes
public import Larder
public import LarderHTTP
public import Service

/// A client of Rebrickable's API, version 3, that caches every call under its plan.
///
/// Concurrent calls for a missing entity share one request. If the service cannot be reached, answers with 5xx or limits
/// requests, an expired entity is returned as stale with the error, if the kind's rule allows that.
public struct LegoClient: Sendable {
  public static let publicBase = "https://rebrickable.com/api/v3"

  public var service: Service
  /// The stored entities; nil if the plan stores none.
  public let cache: LegoCache?

  /// Opens the store at `path`, if the plan needs one.
  ///
  /// - Parameters:
  ///   - credential: the key that Rebrickable gives to each user; nil for none.
  ///   - log: called for every lookup and request.
  public init(
    at path: String, plan: CachePlan = .default, base: String = LegoClient.publicBase,
    credential: String?, over transport: any HTTPTransport,
    options: Store.Options = Store.Options(), log: (@Sendable (String) -> Void)? = nil
  ) throws(LarderError) {
    let isPublic = Service.base(base) == Self.publicBase && credential == nil
    let realm =
      isPublic ? ServiceRealm.open : ServiceRealm(base: base, credential: credential ?? "")
    cache = try LegoCache(at: path, plan: plan, realm: realm, options: options)
    service = Service(at: base, over: transport)
    service.fields = [.accept: "application/json"]
    if let credential { service.fields[.authorization] = "key " + credential }
    service.message = { $0["detail"]?.text }
    // `Request was throttled. Expected available in 2 seconds.`
    service.wait = { error in
      let words = error["detail"]?.text?.split(separator: "available in ").dropFirst().first
      return words.flatMap { Int($0.prefix { $0.isWholeNumber }) }.map { .seconds($0) }
    }
    service.log = log
  }

  /// The entity with this key; nil if the service has none.
  public func entity<Entity: LegoEntity>(
    _ type: Entity.Type, _ key: String, policy: RequestPolicy = .standard
  ) async throws -> CacheResult<Entity>? {
    let (address, asked) = try Entity.kind.address(of: key)
    return try await lookup(
      key, at: address, in: cache?.entities(type), Entity.kind, policy, asked
    ) { $0.key.lowercased() == key.lowercased() ? nil : "it is about \($0.key)" }
  }

  /// The first page of a list, which is stored under its address.
  public func page<Entity: LegoEntity>(
    _ list: LegoList<Entity>, policy: RequestPolicy = .standard
  ) async throws -> CacheResult<LegoPage<Entity>> {
    let rules = cache?.plan.rules(of: Entity.kind)
    let pages =
      rules == nil
      ? nil
      : cache.map { cache in
        cache.larder.cache(of: LegoPage<Entity>.self, in: cache.namespace("lego.pages").name)
      }
    let page = try await lookup(
      list.address, at: list.address, in: pages, Entity.kind, policy, list.asked,
      expires: rules?.expires, fault: { $0.results.isEmpty ? $0.skipped?.first : nil })
    guard let page else {
      throw ServiceError.refused(status: 404, message: "there is no \(list.address)")
    }
    return page
  }

  /// Reads through a cache and asks the service with the validators of the stored value. For a kind that is switched off it asks
  /// each time.
  private func lookup<Value: Codable & Sendable>(
    _ key: String, at address: String, in cache: Cache<Value>?, _ kind: EntityKind,
    _ policy: RequestPolicy, _ asked: PartColor.Asked?, expires: Expiration? = nil,
    fault: @escaping @Sendable (Value) -> String?
  ) async throws -> CacheResult<Value>? {
    let load: @Sendable (CachedValue<Value>?) async throws -> LoadOutcome<Value> = { known in
      do {
        let first = try await service.send(address, fields: known?.conditions ?? [:])
        if first.status == 304, known != nil { return .unchanged }
        let (value, reply) = try await service.get(
          Value.self, from: address, decoder: .init(asked: asked), fault: fault
        ) { fields in
          guard let fields else { return try checked(first) }
          return try checked(await service.send(address, fields: fields))
        }
        return .stored(value, reply.validators)
      } catch ServiceError.refused(status: 404, _) { return .absent }
    }
    guard let cache, let plan = self.cache?.plan else {
      guard policy != .cacheOnly, case .stored(let value, _) = try await load(nil) else {
        return nil
      }
      return CacheResult(value: value, source: .loaded)
    }
    let options = LoadOptions(
      policy: policy, expires: expires, stale: Staleness(onError: plan.staleness(of: kind)),
      absent: .after(plan.absence), waitsForCommit: true)
    let found = try await cache.revalidatedResult(for: key, options: options, load: load)
    service.note(key, in: cache.name, found)
    if let error = found?.error as? ServiceError, error.isRefusal { throw error }
    return found
  }

  /// A good answer. Only a 404 with the API's own reason says that there is no such thing: one without comes from a gateway, or from
  /// the login page of a network.
  private func checked(_ reply: Reply) throws(ServiceError) -> Reply {
    if reply.status == 404, reply.json?["detail"]?.text == nil {
      throw .wrongContent(path: reply.path, type: "404 without a reason of the API")
    }
    return try service.checked(reply)
  }
}

/// A list of the API, with the parameters of a request: `.parts.searching("brick 2 x").sized(20)`.
public struct LegoList<Entity: LegoEntity>: Sendable {
  let path: String
  private var parameters: [String: String] = [:]
  let asked: PartColor.Asked?

  init(_ path: String, of part: String? = nil) {
    (self.path, asked) = (path, part.map { PartColor.Asked(part: $0, color: nil) })
  }

  /// Sets a parameter of the API; the last value of a name counts.
  public func with(_ name: String, _ value: String) -> Self {
    var list = self
    list.parameters[name] = value
    return list
  }

  public func sized(_ count: Int) -> Self { with("page_size", String(count)) }
  public func searching(_ text: String) -> Self { with("search", text) }

  /// The same list always has the same address: parameters are escaped and sorted by name.
  var address: String {
    let query = parameters.sorted { $0.key < $1.key }
      .map { $0.key.percentEscaped + "=" + $0.value.percentEscaped }
    return query.isEmpty ? path : path + "?" + query.joined(separator: "&")
  }
}

extension LegoList<Color> { public static var colors: Self { Self("/lego/colors/") } }

extension LegoList<Part> { public static var parts: Self { Self("/lego/parts/") } }

extension LegoList<ModelSet> {
  public static var sets: Self { Self("/lego/sets/") }
  public static var minifigs: Self { Self("/lego/minifigs/") }
}

extension LegoList<PartColor> {
  public static func colors(of part: String) -> Self {
    Self("/lego/parts/\(part.percentEscaped)/colors/", of: part)
  }
}

extension LegoList<Element> {
  /// The parts of a set or minifig, each with its ``Element/quantity``.
  public static func inventory(of set: String) -> Self {
    Self("/lego/\(set.hasPrefix("fig-") ? "minifigs" : "sets")/\(set.percentEscaped)/parts/")
  }
}

/// One page of a list.
public struct LegoPage<Entity: LegoEntity>: Codable, Sendable {
  /// All there are, on every page together; nil if the service does not say.
  public var count: Int?
  /// The URL of the next page, to be used unchanged: its escapes may be doubled (`%252C`).
  public var next: String?
  public var results: [Entity]
  /// The entities that cannot be decoded, and why: `3001: results[0].name is missing`; nil if there are none.
  public var skipped: [String]?

  public init(from decoder: any Decoder) throws {
    let fields = try decoder.container(keyedBy: CodingKeys.self)
    count = try fields.decodeIfPresent(Int.self, forKey: .count)
    next = try fields.decodeIfPresent(String.self, forKey: .next)
    let rows = try fields.decode([Attempt<Entity>].self, forKey: .results)
    results = rows.good()
    let faults = rows.compactMap(\.fault)
    skipped =
      try fields.decodeIfPresent([String].self, forKey: .skipped) ?? (faults.isEmpty ? nil : faults)
  }
}

extension JSONDecoder {
  convenience init(asked: PartColor.Asked?) {
    self.init()
    if let key = PartColor.asked { userInfo[key] = asked }
  }
}

extension EntityKind {
  /// The paths of the lists of all entities; none for elements and part colors.
  var lists: [String] {
    switch self {
    case .categories: ["/lego/part_categories/"]
    case .sets: ["/lego/sets/", "/lego/minifigs/"]
    case .elements, .partColors: []
    default: ["/lego/\(rawValue)/"]
    }
  }

  /// The path of one entity, and what its answer leaves out; throws for a key that no path can have.
  fileprivate func address(of key: String) throws(LarderError) -> (String, PartColor.Asked?) {
    func none(_ hint: String) -> LarderError {
      LarderError(.invalidArgument, "\"\(key)\" is no key of \(rawValue)", hint: hint)
    }
    if !key.contains(where: { $0 != "." }) { throw none("say a number: 3001, 10294-1, fig-000018") }
    switch self {
    case .partColors:
      let slash = key.lastIndex(of: "/") ?? key.startIndex
      let part = String(key[..<slash])
      guard !part.isEmpty, let color = Int(key[slash...].dropFirst()), key == "\(part)/\(color)"
      else { throw none("say part and color with a slash between them: 3001/4") }
      let path = "/lego/parts/\(part.percentEscaped)/colors/\(color)/"
      return (path, PartColor.Asked(part: part, color: color))
    case .elements: return ("/lego/elements/\(key.percentEscaped)/", nil)
    case .sets where key.hasPrefix("fig-"): return ("/lego/minifigs/\(key.percentEscaped)/", nil)
    case .colors, .themes, .categories:
      // The service takes 04 for 4, and its answer would be about another key.
      if let number = Int(key), "\(number)" != key { throw none("say \(number)") }
    default: break
    }
    return ("\(lists[0])\(key.percentEscaped)/", nil)
  }
}
