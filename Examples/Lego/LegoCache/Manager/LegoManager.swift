public import Larder
public import Service

/// The storage of a client under its plan: a store, memory alone, or none.
///
/// A plan without a disk creates no file.
public struct LegoManager: Sendable {
  public let plan: CachePlan
  public let realm: Realm
  /// The entities on disk; nil if the plan stores none.
  public let cache: LegoCache?
  /// Imported entities, for a client with a realm of its own, which never writes them.
  private let imports: LegoCache?
  let memory: MemoryShelves?

  /// Opens the store at `path` if the plan needs one, with the plan's limit.
  ///
  /// Throws ``LarderError/Code/cannotOpen`` and related codes.
  public init(
    at path: String, plan: CachePlan = .default, realm: Realm = .open,
    options: Store.Options = Store.Options()
  ) throws(LarderError) {
    guard plan.usesDisk else {
      self.init(plan, realm, cache: nil, clock: options.clock)
      return
    }
    var options = options
    options.limits = options.limits ?? StoreLimits()
    options.limits?.disk = plan.diskLimit
    self.init(try Store(at: path, options: options), plan: plan, realm: realm)
  }

  /// Uses an open store, whose limits stay.
  public init(_ store: Store, plan: CachePlan = .default, realm: Realm = .open) {
    let cache =
      plan.usesDisk
      ? LegoCache(store, lifetimes: plan.disk, memory: plan.memory, realm: realm) : nil
    self.init(plan, realm, cache: cache, clock: store.clock)
  }

  private init(_ plan: CachePlan, _ realm: Realm, cache: LegoCache?, clock: any LarderClock) {
    self.plan = plan
    self.realm = realm
    self.cache = cache
    imports =
      realm == .open
      ? nil
      : cache.map { LegoCache($0.larder, lifetimes: $0.lifetimes, memory: .disabled) }
    memory =
      cache == nil && plan.usesMemory ? MemoryShelves(plan.memory, clock: clock) : nil
  }

  /// The storage of a kind's entities; nil if they are not stored.
  func shelf<Entity: LegoEntity>(of type: Entity.Type) -> Shelf<Entity>? {
    if let cache { return cache.entities(type).map { .cache($0) } }
    return memory?.shelf(of: type).map { .memory($0) }
  }

  /// The storage of a kind's pages.
  func pages<Entity: LegoEntity>(of type: Entity.Type) -> Shelf<Listing<Entity>>? {
    if let cache { return cache.pages(of: type).map { .cache($0) } }
    return memory?.pages(of: type).map { .memory($0) }
  }

  /// Stores the entities of a list. A stored detail form with the same contents stays.
  public func keep<Entity: LegoEntity>(_ entities: [Entity]) throws {
    try cache?.keep(entities)
    guard let shelf = memory?.shelf(of: Entity.self) else { return }
    for entity in entities where shelf.value(for: entity.key)?.isDetail(like: entity) != true {
      shelf.set(entity, for: entity.key)
    }
  }

  /// The imported entity with this key; nil if there is none, or if this client's realm is that of the imports.
  func imported<Entity: LegoEntity>(_ type: Entity.Type, key: String) throws -> CacheResult<
    Entity
  >? {
    guard let cache = imports?.entities(type), let entity = try cache.value(for: key),
      let entry = try cache.entry(for: key)
    else { return nil }
    let age = entry.written.duration(to: cache.namespace.store.now)
    return CacheResult(value: entity, source: .disk, age: max(.zero, age))
  }
}
