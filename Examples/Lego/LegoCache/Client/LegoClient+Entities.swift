import Foundation
import HTTPTypes
public import Larder
import Service

/// Single entities in detail form.
extension LegoClient {
  /// The entity with this key; nil if the service has none.
  ///
  /// The list form of an entity counts as absent if the detail form has more fields; without the service it is returned as
  /// stale. A client without a credential uses it as it is, because Rebrickable answers nobody without one.
  public func entity<Entity: LegoEntity>(
    _ type: Entity.Type, _ key: String, policy: RequestPolicy = .standard
  ) async throws -> CacheResult<Entity>? {
    let address = try Entity.kind.address(of: key)
    let pair = Entity.kind == .partColors ? PartColor.parts(of: key) : nil
    let cache = cache?.entities(type)
    func load(_ policy: RequestPolicy) async throws -> CacheResult<Entity>? {
      var options = options(for: Entity.kind, policy: policy)
      options.absent = self.cache.map { .after($0.plan.absence) }
      return try await loaded(key, in: cache, options) { known in
        do {
          let answer = try await answer(
            Entity.self, at: address, known: known,
            decoder: JSONDecoder(part: pair?.part, color: pair?.color),
            fault: { $0.key.lowercased() == key.lowercased() ? nil : "it is about \($0.key)" })
          guard var answer else { return .unchanged }
          answer.value.complete(with: known?.value)
          return .stored(answer.value, answer.reply.validators)
        } catch ServiceError.refused(status: 404, _) {
          return .absent
        }
      }
    }
    let found = try await load(policy)
    guard policy == .standard, cache != nil, let found, !found.value.isDetail,
      found.source != .loaded, found.error == nil, self.cache?.realm != .open
    else { return found }
    return try await load(.revalidate)
  }
}

/// What entities and pages of lists have in common.
extension LegoClient {
  func options(for kind: EntityKind, policy: RequestPolicy) -> LoadOptions {
    LoadOptions(
      policy: policy, stale: Staleness(onError: cache?.plan.staleness(of: kind) ?? .zero),
      waitsForCommit: true)
  }

  /// Loads through a cache; for a kind that is switched off, from the service, and nothing is stored.
  func loaded<Value: Sendable>(
    _ key: String, in cache: Cache<Value>?, _ options: LoadOptions,
    _ load: @escaping @Sendable (CachedValue<Value>?) async throws -> LoadOutcome<Value>
  ) async throws -> CacheResult<Value>? {
    guard let cache else {
      if options.policy == .cacheOnly { return nil }
      switch try await load(nil) {
      case .value(let value), .stored(let value, _):
        return CacheResult(value: value, source: .loaded)
      case .unchanged, .absent: return nil
      }
    }
    let loaded = try await cache.revalidatedResult(for: key, options: options, load: load)
    service.note(key, in: cache.name, loaded)
    if let error = loaded?.error as? ServiceError, error.isRefusal { throw error }
    return loaded
  }

  /// The service's answer to a request that validates `known`; nil if that is still valid.
  ///
  /// - Parameter fault: says why a decoded value is of no use, as in ``Service/Service/get(_:from:fields:decoder:fault:)``.
  func answer<Value: Codable & Sendable>(
    _ type: Value.Type, at address: String, known: CachedValue<Value>?, decoder: JSONDecoder,
    fault: (Value) -> String? = { _ in nil }
  ) async throws -> (value: Value, reply: Reply)? {
    let first = try await service.send(address, fields: known?.conditions ?? [:])
    if first.status == 304, known != nil { return nil }
    return try await service.get(type, from: address, decoder: decoder, fault: fault) { fields in
      guard let fields else { return try checked(first) }
      return try checked(await service.send(address, fields: fields))
    }
  }

  /// A good answer; throws for any other. Only a 404 with the API's own reason says that there is no such thing: one without
  /// comes from a gateway, or from the login page of a network.
  private func checked(_ reply: Reply) throws(ServiceError) -> Reply {
    guard reply.status == 404, reply.json?["detail"]?.text == nil else {
      return try service.checked(reply)
    }
    throw .wrongContent(
      path: reply.path, type: reply.isPage ? "a web page" : "404 without a reason of the API")
  }
}

extension EntityKind {
  /// The path of one entity; throws for a key that no path can have.
  fileprivate func address(of key: String) throws(LarderError) -> String {
    guard !key.isEmpty, key.contains(where: { $0 != "." }) else {
      throw LarderError(
        .invalidArgument, "\"\(key)\" is no key of \(word)",
        hint: "say a number as the maker writes it: 3001, 10294-1, fig-000018")
    }
    // The service takes 04 for 4, and its answer would be about another key.
    if [.colors, .themes, .categories].contains(self), let number = Int(key), "\(number)" != key {
      throw LarderError(
        .invalidArgument, "\"\(key)\" is no key of \(word)", hint: "say \(number)")
    }
    switch self {
    case .colors, .themes, .parts, .elements: return "/lego/\(word)/\(key.percentEscaped)/"
    case .categories: return "/lego/part_categories/\(key.percentEscaped)/"
    case .sets:
      return "/lego/\(key.hasPrefix("fig-") ? "minifigs" : "sets")/\(key.percentEscaped)/"
    case .partColors:
      guard let pair = PartColor.parts(of: key),
        PartColor.key(part: pair.part, color: pair.color) == key
      else {
        throw LarderError(
          .invalidArgument, "\"\(key)\" is no part and colour",
          hint: "say both with a slash between them: 3001/4")
      }
      return "/lego/parts/\(pair.part.percentEscaped)/colors/\(pair.color)/"
    }
  }
}
