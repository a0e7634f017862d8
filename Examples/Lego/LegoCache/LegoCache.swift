public import Larder
public import Service

/// A cache for a client of the Rebrickable API: a namespace for each kind of entity, with the lifetimes of a
/// preset.
///
/// The rules are stored with the first entity of a kind, so other processes and the shell obey them too. A kind
/// that is switched off is neither stored nor found.
///
/// Entities that were read stay decoded in memory, as many as the memory tier allows. They are as current as those on disk,
/// also after writes of other processes.
public struct LegoCache: Sendable {
  public let larder: Store
  public let lifetimes: Lifetimes
  public let memory: MemoryTier
  public let realm: Realm
  /// A `Cache` of its entity for each kind that is not switched off.
  private let caches: [EntityKind: any Sendable]

  /// Opens the store at `path`, or creates it.
  ///
  /// - Parameter diskLimit: the limit of the file's size, in bytes. Without it a new store gets
  ///   ``CachePlan/defaultDiskLimit``, and one that is in use keeps the limit that it has, or has none.
  public init(
    at path: String, lifetimes: Lifetimes = .longTerm, memory: MemoryTier = .default,
    realm: Realm = .open, diskLimit: Int? = nil, options: Store.Options = Store.Options()
  ) throws(LarderError) {
    let store = try Store(at: path, options: options)
    if let diskLimit {
      try store.declare(diskLimit: diskLimit)
    } else if try store.isUntouched {
      try store.declare(diskLimit: CachePlan.defaultDiskLimit)
    }
    self.init(store, lifetimes: lifetimes, memory: memory, realm: realm)
  }

  public init(
    _ store: Store, lifetimes: Lifetimes = .longTerm, memory: MemoryTier = .default,
    realm: Realm = .open
  ) {
    larder = store
    self.lifetimes = lifetimes
    self.memory = memory
    self.realm = realm
    let make = EntityCaches(store: store, lifetimes: lifetimes, memory: memory, realm: realm)
    var caches: [EntityKind: any Sendable] = [:]
    caches[.colors] = make(Color.self)
    caches[.themes] = make(Theme.self)
    caches[.categories] = make(PartCategory.self)
    caches[.parts] = make(Part.self)
    caches[.sets] = make(ModelSet.self)
    caches[.elements] = make(Element.self)
    caches[.partColors] = make(PartColor.self)
    self.caches = caches
  }

  /// All entities of one kind; nil if the kind is switched off.
  public func entities<Entity: LegoEntity>(_ type: Entity.Type) -> Cache<Entity>? {
    caches[Entity.kind] as? Cache<Entity>
      ?? EntityCaches(store: larder, lifetimes: lifetimes, memory: memory, realm: realm)(type)
  }

  /// The bytes of the entities of a kind.
  public func namespace(of kind: EntityKind) -> Store.Namespace {
    larder.namespace(realm.name(kind.namespace))
  }
}

/// Makes the caches of a store.
private struct EntityCaches {
  var store: Store
  var lifetimes: Lifetimes
  var memory: MemoryTier
  var realm: Realm

  func callAsFunction<Entity: LegoEntity>(_ type: Entity.Type) -> Cache<Entity>? {
    lifetimes[Entity.kind].rules.map { rules in
      // Entities have only strings and integers, so a stored value equals the decoded one.
      store.cache(
        JSONCodec<Entity>(isLossless: true), in: realm.name(Entity.kind.namespace), rules: rules,
        memory: memory.limits)
    }
  }
}

extension LegoCache {
  /// The entity with this key; nil if it is missing or expired. One that cannot be decoded counts as
  /// missing, and can be replaced.
  public func cached<Entity: LegoEntity>(_ type: Entity.Type, key: String) throws -> Entity? {
    try entities(type)?.value(for: key)
  }

  /// The same, but an entity that cannot be decoded throws ``LarderError/Code/undecodable``.
  public func strictlyCached<Entity: LegoEntity>(_ type: Entity.Type, key: String) throws -> Entity?
  {
    try entities(type)?.strictValue(for: key)
  }

  /// Stores an entity under its key.
  ///
  /// - Parameter expires: its lifetime; by default that of its kind.
  public func store<Entity: LegoEntity>(_ entity: Entity, expires: Expiration? = nil) throws {
    try entities(Entity.self)?.set(entity, for: entity.key, expires: expires)
  }

  /// Stores a page of entities: all of them or, if one cannot be stored, none. If a limit of the file leaves no room for
  /// one transaction, it uses several.
  public func store<Entity: LegoEntity>(_ entities: [Entity]) throws {
    guard let cache = self.entities(Entity.self) else { return }
    var largest = entities.count
    _ = try larder.write(entities, largest: &largest) { batch, entity in
      try batch.set(entity, for: entity.key, in: cache)
    }
  }

  /// Removes an entity; false if it was missing or expired.
  @discardableResult
  public func remove<Entity: LegoEntity>(_ type: Entity.Type, key: String) throws -> Bool {
    try namespace(of: Entity.kind).remove(key)
  }
}
