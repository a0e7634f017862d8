public import Larder

/// Keeps what a client of the Rebrickable API fetched: each kind of entity in a namespace of its own, for as long as the
/// preset says.
///
/// The rules go into the store with the first entity of a kind, so other processes and the shell obey them too. A kind
/// that is switched off is neither stored nor found, whatever the store still holds of it.
public struct LegoCache: Sendable {
  public let larder: Store
  public let lifetimes: Lifetimes

  /// Opens the store at `path`, making it if there is none.
  public init(
    at path: String, lifetimes: Lifetimes = .longTerm, options: Store.Options = Store.Options()
  ) throws(LarderError) {
    self.init(try Store(at: path, options: options), lifetimes: lifetimes)
  }

  public init(_ store: Store, lifetimes: Lifetimes = .longTerm) {
    larder = store
    self.lifetimes = lifetimes
  }

  /// All entities of one kind; nil if the kind is switched off.
  public func entities<Entity: LegoEntity>(_ type: Entity.Type) -> Cache<Entity>? {
    lifetimes[Entity.kind].rules.map { rules in
      larder.cache(of: type, in: Entity.kind.namespace, rules: rules)
    }
  }
}

extension LegoCache {
  /// The entity of that key; nil if it is not there or its time has come. One that can no longer be decoded is not
  /// there, and gives way to the next that is stored.
  public func cached<Entity: LegoEntity>(_ type: Entity.Type, key: String) throws -> Entity? {
    try entities(type)?.value(for: key)
  }

  /// The same, but an entity that can no longer be decoded throws ``LarderError/Code/undecodable``.
  public func strictlyCached<Entity: LegoEntity>(_ type: Entity.Type, key: String) throws -> Entity?
  {
    try entities(type)?.strictValue(for: key)
  }

  /// Stores an entity in place of what its key held.
  ///
  /// - Parameter expires: how long it stays; without it, what holds for its kind.
  public func store<Entity: LegoEntity>(_ entity: Entity, expires: Expiration? = nil) throws {
    try entities(Entity.self)?.set(entity, for: entity.key, expires: expires)
  }

  /// Stores a page of entities: all of them or, if one cannot be stored, none.
  public func store<Entity: LegoEntity>(_ entities: [Entity]) throws {
    guard let cache = self.entities(Entity.self) else { return }
    try larder.write { batch in
      for entity in entities { try batch.set(entity, for: entity.key, in: cache) }
    }
  }

  /// Removes an entity; false if it was not there or its time had come.
  @discardableResult
  public func remove<Entity: LegoEntity>(_ type: Entity.Type, key: String) throws -> Bool {
    try larder.namespace(Entity.kind.namespace).remove(key)
  }
}
