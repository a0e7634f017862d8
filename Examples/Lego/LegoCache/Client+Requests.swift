import Foundation
import HTTPTypes
public import Larder
import LarderHTTP
import Service

/// Requests. Concurrent calls for a missing entity share one request. If the service is unreachable, answers 5xx or limits
/// requests, and if the rules of the entity's kind allow stale entities, an expired entity is returned as stale, with the error.
extension LegoClient {
  /// The entity with this key; nil if the service does not have the entity.
  public func entity<Entity: LegoEntity>(
    _ type: Entity.Type, _ key: String, policy: RequestPolicy = .standard
  ) async throws -> CacheResult<Entity>? {
    let (address, asked) = try Entity.kind.address(of: key)
    // The API ignores case: for `3069b` it may answer `3069B`, which is stored. An answer about any other key is refused.
    return try await lookup(
      key, at: address, in: entities(type), Entity.kind, policy, asked
    ) { $0.key.lowercased() == key.lowercased() ? nil : "it is about \($0.key)" }
  }

  /// The first page of a list, stored under the address of the list. The page is fresh as long as an entity of this kind.
  public func page<Entity: LegoEntity>(
    _ list: LegoList<Entity>, policy: RequestPolicy = .standard
  ) async throws -> CacheResult<LegoPage<Entity>> {
    let rules = plan.rules(of: Entity.kind)
    let pages = store.cache(
      of: LegoPage<Entity>.self, in: namespace("pages").name, rules: plan.usesDisk ? nil : rules,
      memory: plan.memory)
    let page = try await lookup(
      list.address, at: list.address, in: rules.map { _ in pages }, Entity.kind, policy, list.asked,
      expires: rules?.expires)
    if let page { return page }
    throw ServiceError.refused(status: 404, message: "there is no \(list.address)")
  }

  /// Reads through a cache, and sends the validators of the stored value to the service. If the kind is switched off, `cache`
  /// is nil, and each call makes a request, except with the policy `cacheOnly`.
  ///
  /// - Parameters:
  ///   - asked: The parts of the request that the answer of the API does not repeat.
  ///   - fault: The reason why a decoded answer cannot be used. Nil for a good answer.
  private func lookup<Value: Codable & Sendable>(
    _ key: String, at address: String, in cache: Cache<Value>?, _ kind: EntityKind,
    _ policy: RequestPolicy, _ asked: PartColor.Asked?, expires: Expiration? = nil,
    fault: @escaping @Sendable (Value) -> String? = { _ in nil }
  ) async throws -> CacheResult<Value>? {
    let decode: @Sendable (Reply) async throws -> Value? = { reply in
      if reply.status == 404 {
        if reply.json?["detail"]?.text != nil { return nil }
        // A gateway or the login page of a network may also answer 404. So a 404 without the form of the API is an error.
        throw ServiceError.wrongContent(path: address, type: "404 without a reason of the API")
      }
      let decoder = JSONDecoder()
      decoder.userInfo[PartColor.asked] = asked
      return try await service.decoded(
        Value.self, from: service.checked(reply), decoder: decoder, fault: fault)
    }
    guard let cache else {
      guard policy != .cacheOnly, let value = try await decode(service.send(address)) else {
        return nil
      }
      return CacheResult(value: value, source: .loaded)
    }
    // The rules say how long an expired entity stays in the store, and `onError` says that the client may return this entity.
    // The call waits for the commit. If the store fails, the result then has the error of the store.
    let options = LoadOptions(
      policy: policy, expires: expires,
      stale: Staleness(onError: plan.rules(of: kind)?.stale ?? .zero),
      absent: .after(plan.absence), waitsForCommit: true)
    let found = try await cache.result(for: key, options: options) { stored in
      let reply = try await service.send(address, fields: stored?.conditionalFields ?? [:])
      if reply.status == 304, stored != nil { return .unchanged }
      guard let value = try await decode(reply) else { return .absent }
      return Loaded(value, validators: reply.validators)
    }
    service.note(key, in: cache.name, found)
    // If the service refuses the user, the user must not see the stored value either.
    if let error = found?.error as? ServiceError, error.isRefusal { throw error }
    return found
  }
}

/// A list of the API with the parameters of the request, such as `.parts.searching("brick 2 x").sized(20)`.
public struct LegoList<Entity: LegoEntity>: Sendable {
  let path: String
  var asked: PartColor.Asked?
  var parameters: [String: String] = [:]

  /// Sets a parameter of the API. If the name was already set, the new value replaces the old value.
  public func with(_ name: String, _ value: String) -> Self {
    var list = self
    list.parameters[name] = value
    return list
  }

  public func sized(_ count: Int) -> Self { with("page_size", String(count)) }
  public func searching(_ text: String) -> Self { with("search", text) }

  /// The address of the list. Parameters are escaped and sorted by name, so that equal lists have equal addresses.
  var address: String {
    let query = parameters.sorted { $0.key < $1.key }
      .map { $0.key.percentEscaped + "=" + $0.value.percentEscaped }
    return query.isEmpty ? path : path + "?" + query.joined(separator: "&")
  }
}

extension LegoList<Part> { public static var parts: Self { Self(path: "/lego/parts/") } }

extension LegoList<ModelSet> {
  public static var sets: Self { Self(path: "/lego/sets/") }
  public static var minifigs: Self { Self(path: "/lego/minifigs/") }
}

extension LegoList<PartColor> {
  public static func colors(of part: String) -> Self {
    Self(path: "/lego/parts/\(part.percentEscaped)/colors/", asked: PartColor.Asked(part: part))
  }
}

extension LegoList<Element> {
  /// The parts of a set or minifig. Each part has its ``Element/quantity``.
  public static func inventory(of set: String) -> Self {
    Self(path: "/lego/\(set.hasPrefix("fig-") ? "minifigs" : "sets")/\(set.percentEscaped)/parts/")
  }
}

extension EntityKind {
  /// The path of one entity, and the parts that its answer does not repeat. Throws for a key that a path cannot contain.
  fileprivate func address(of key: String) throws(LarderError) -> (String, PartColor.Asked?) {
    let escaped = key.percentEscaped
    switch self {
    // An empty key, `.` and `..` would lead to another path, so these keys are refused.
    case _ where key.allSatisfy({ $0 == "." }): break
    case .partColors:
      let words = key.split(separator: "/", omittingEmptySubsequences: false)
      guard words.count == 2, words[0] != "", let color = Int(words[1]) else { break }
      let asked = PartColor.Asked(part: String(words[0]), color: color)
      return ("/lego/parts/\(asked.part.percentEscaped)/colors/\(color)/", asked)
    case .categories: return ("/lego/part_categories/\(escaped)/", nil)
    case .sets where key.hasPrefix("fig-"): return ("/lego/minifigs/\(escaped)/", nil)
    default: return ("/lego/\(rawValue)/\(escaped)/", nil)
    }
    throw LarderError(
      .invalidArgument, "\"\(key)\" is no key of \(rawValue)",
      hint: "say a number: 3001, 10294-1, fig-000018; part and color of partcolors: 3001/4")
  }
}
