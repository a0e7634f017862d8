public import Larder
public import Service

/// A cache for a client of the Rebrickable API: a namespace for each kind of entity, under a plan.
///
/// The rules are stored with the first entity of a kind, so other processes and the shell obey them too. A kind that is switched
/// off is neither stored nor found.
///
/// Entities that were read stay decoded in memory, as many as the plan allows. They are as current as those on disk, also after
/// writes of other processes.
public struct LegoCache: Sendable {
  public let larder: Store
  public let plan: CachePlan
  public let realm: Realm
  /// A `Cache` of its entity for each kind that is not switched off.
  private let caches: [EntityKind: any Sendable]

  /// Opens the store at `path`, creates it, or makes one in memory for a plan without a file; nil for a plan that stores nothing.
  ///
  /// Throws ``LarderError/Code/cannotOpen`` and related codes.
  public init?(
    at path: String, plan: CachePlan = .default, realm: Realm = .open,
    options: Store.Options = Store.Options()
  ) throws(LarderError) {
    guard plan.usesDisk else {
      if !plan.usesMemory { return nil }
      self.init(try .inMemory(options: options), plan: plan, realm: realm)
      return
    }
    let store = try Store(at: path, options: options)
    var limit = plan.diskLimit
    if limit == nil, try store.isUntouched { limit = CachePlan.defaultDiskLimit }
    if let limit { try store.declare(diskLimit: limit) }
    self.init(store, plan: plan, realm: realm)
  }

  /// Uses an open store, whose limits stay.
  public init(_ store: Store, plan: CachePlan = .default, realm: Realm = .open) {
    larder = store
    self.plan = plan
    self.realm = realm
    func cache<Entity: LegoEntity>(_ type: Entity.Type) -> (any Sendable)? {
      Self.cache(type, in: store, plan, realm)
    }
    caches = Dictionary(
      uniqueKeysWithValues: EntityKind.allCases.compactMap { kind in
        cache(kind.type).map { (kind, $0) }
      })
  }

  // Entities have only strings and integers, so a stored value equals the decoded one.
  private static func cache<Entity: LegoEntity>(
    _ type: Entity.Type, in store: Store, _ plan: CachePlan, _ realm: Realm
  ) -> Cache<Entity>? {
    plan.rules(of: Entity.kind).map { rules in
      store.cache(
        JSONCodec<Entity>(isLossless: true), in: realm.name(Entity.kind.namespace), rules: rules,
        memory: plan.memory.limits)
    }
  }

  /// All entities of one kind; nil if the kind is switched off.
  public func entities<Entity: LegoEntity>(_ type: Entity.Type) -> Cache<Entity>? {
    caches[Entity.kind] as? Cache<Entity> ?? Self.cache(type, in: larder, plan, realm)
  }

  /// The bytes of the entities of a kind.
  public func namespace(of kind: EntityKind) -> Store.Namespace {
    larder.namespace(realm.name(kind.namespace))
  }

  /// The entity with this key; nil if it is missing or expired. One that cannot be decoded counts as missing, and can be
  /// replaced.
  public func cached<Entity: LegoEntity>(_ type: Entity.Type, key: String) throws -> Entity? {
    try entities(type)?.value(for: key)
  }

  /// Stores an entity under its key.
  ///
  /// - Parameter expires: its lifetime; by default that of its kind.
  public func store<Entity: LegoEntity>(_ entity: Entity, expires: Expiration? = nil) throws {
    try entities(Entity.self)?.set(entity, for: entity.key, expires: expires)
  }
}

extension Store {
  /// Sets the limit of the file's size, in bytes; the other limits stay.
  public func declare(diskLimit: Int) throws(LarderError) {
    var limits = try limits().declared
    limits.disk = diskLimit
    try declare(limits)
  }

  /// Whether it has neither namespaces nor limits.
  fileprivate var isUntouched: Bool {
    get throws(LarderError) {
      if isReadOnly { return false }
      let (limits, namespaces) = (try limits(), try namespaces())
      return limits.declared == StoreLimits() && limits.overrides == StoreLimits()
        && namespaces.isEmpty
    }
  }
}
