import HTTPTypes
public import Larder
import Service

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// Single entities in detail form; nil if the service has none.
extension LegoClient {
  public func color(_ id: Int, policy: RequestPolicy = .standard) async throws -> CacheResult<
    Color
  >? {
    try await entity(Color.self, key: String(id), policy: policy)
  }

  public func theme(_ id: Int, policy: RequestPolicy = .standard) async throws -> CacheResult<
    Theme
  >? {
    try await entity(Theme.self, key: String(id), policy: policy)
  }

  public func category(
    _ id: Int, policy: RequestPolicy = .standard
  ) async throws -> CacheResult<PartCategory>? {
    try await entity(PartCategory.self, key: String(id), policy: policy)
  }

  public func part(
    _ number: String, policy: RequestPolicy = .standard
  ) async throws -> CacheResult<Part>? {
    try await entity(Part.self, key: number, policy: policy)
  }

  /// A set, or a minifig where the number begins with `fig-`.
  public func set(
    _ number: String, policy: RequestPolicy = .standard
  ) async throws -> CacheResult<ModelSet>? {
    try await entity(ModelSet.self, key: number, policy: policy)
  }

  public func element(
    _ number: String, policy: RequestPolicy = .standard
  ) async throws -> CacheResult<Element>? {
    try await entity(Element.self, key: number, policy: policy)
  }

  public func part(
    _ number: String, in color: Int, policy: RequestPolicy = .standard
  ) async throws -> CacheResult<PartColor>? {
    let key = PartColor.key(part: number, color: color)
    return try await entity(PartColor.self, key: key, policy: policy)
  }

  /// The entity with this key.
  ///
  /// The list form of an entity counts as absent if the detail form has more fields; without the service it is returned as
  /// stale. A client with a realm of its own uses imported entities in the same way.
  public func entity<Entity: LegoEntity>(
    _ type: Entity.Type, key: String, policy: RequestPolicy = .standard
  ) async throws -> CacheResult<Entity>? {
    do {
      return try await own(type, key: key, policy: policy)
    } catch is ImportIsEnough {
      return try imported(type, key: key)
    } catch let error as LarderError where error.code == .notStored {
      if let imported = try imported(type, key: key) { return imported }
      throw error
    } catch let error as ServiceError where !error.isRefusal && policy != .reload {
      guard var imported = try imported(type, key: key) else { throw error }
      (imported.source, imported.error) = (.stale, error)
      return imported
    }
  }

  /// Ends a load that is not necessary.
  private struct ImportIsEnough: Error {}

  private func own<Entity: LegoEntity>(
    _ type: Entity.Type, key: String, policy: RequestPolicy
  ) async throws -> CacheResult<Entity>? {
    let load: @Sendable (CachedValue<Entity>?) async throws -> LoadOutcome<Entity> = { known in
      if known == nil, [.standard, .cacheElseLoad].contains(policy),
        let imported = try imported(type, key: key),
        imported.value.isDetail || policy == .cacheElseLoad
      {
        throw ImportIsEnough()
      }
      return try await fetch(key, known: known)
    }
    guard let store = cache, let cache = store.entities(type) else {
      return try await uncached(policy, load)
    }
    var options = options(for: Entity.kind, policy: policy)
    options.absent = .after(store.plan.absence)
    var loaded = try await cache.revalidatedResult(for: key, options: options, load: load)
    if policy == .standard, let found = loaded, !found.value.isDetail, found.source != .loaded,
      found.error == nil
    {
      options.policy = .revalidate
      loaded = try await cache.revalidatedResult(for: key, options: options, load: load)
    }
    service.note(key, in: Entity.kind.namespace, loaded)
    if let error = loaded?.error as? ServiceError, error.isRefusal { throw error }
    return loaded
  }

  func options(for kind: EntityKind, policy: RequestPolicy) -> LoadOptions {
    LoadOptions(
      policy: policy, stale: .onError(cache?.plan.staleness(of: kind) ?? .zero),
      waitsForCommit: true)
  }

  /// For a kind that is switched off: nothing is stored.
  func uncached<Value: Sendable>(
    _ policy: RequestPolicy,
    _ load: @Sendable (CachedValue<Value>?) async throws -> LoadOutcome<Value>
  ) async throws -> CacheResult<Value>? {
    if policy == .cacheOnly { return nil }
    switch try await load(nil) {
    case .value(let value), .stored(let value, _): return CacheResult(value: value, source: .loaded)
    case .unchanged, .absent: return nil
    }
  }

  /// The imported entity with this key; nil if there is none, or if this client's realm is that of the imports.
  private func imported<Entity: LegoEntity>(
    _ type: Entity.Type, key: String
  ) throws -> CacheResult<Entity>? {
    guard let cache = imports?.entities(type), let entity = try cache.value(for: key),
      let entry = try cache.entry(for: key)
    else { return nil }
    let age = entry.written.duration(to: cache.namespace.store.now)
    return CacheResult(value: entity, source: .disk, age: max(.zero, age))
  }

  private func fetch<Entity: LegoEntity>(
    _ key: String, known: CachedValue<Entity>?
  ) async throws -> LoadOutcome<Entity> {
    let pair = Entity.kind == .partColors ? PartColor.parts(of: key) : nil
    do {
      guard
        let (found, reply) = try await answer(
          Entity.self, at: Entity.kind.address(of: key), known: known,
          decoder: decoder(part: pair?.part, color: pair?.color),
          fault: { $0.key.lowercased() == key.lowercased() ? nil : "it is about \($0.key)" })
      else { return .unchanged }
      var entity = found
      entity.complete(with: known?.value)
      return .stored(entity, reply.validators)
    } catch ServiceError.refused(status: 404, _) {
      return .absent
    }
  }

  /// The service's answer to a request that validates `known`; nil if that is still valid.
  ///
  /// - Parameter fault: says why a decoded value is of no use, as in ``Service/Service/get(_:from:fields:decoder:fault:)``.
  func answer<Value: Codable & Sendable>(
    _ type: Value.Type, at address: String, known: CachedValue<Value>?, decoder: JSONDecoder,
    fault: (Value) -> String? = { _ in nil }
  ) async throws -> (value: Value, reply: Reply)? {
    let first = try await service.send(address, fields: known?.conditions ?? HTTPFields())
    if first.status == 304, known != nil { return nil }
    return try await service.get(type, from: address, decoder: decoder, fault: fault) { fields in
      guard let fields else { return try service.checked(first) }
      return try service.checked(await service.send(address, fields: fields))
    }
  }

  /// Answers about a part in a colour leave out what the request has.
  func decoder(part: String?, color: Int? = nil) -> JSONDecoder {
    let decoder = JSONDecoder()
    decoder.userInfo[PartColor.askedPart] = part
    decoder.userInfo[PartColor.askedColor] = color
    return decoder
  }
}

extension CachedValue {
  /// The conditions of a request that validates the value; empty without validators.
  var conditions: HTTPFields {
    var fields = HTTPFields()
    if let entityTag { fields[.ifNoneMatch] = String(decoding: entityTag, as: UTF8.self) }
    if let lastModified { fields[.ifModifiedSince] = String(decoding: lastModified, as: UTF8.self) }
    return fields
  }
}
