public import Larder

/// What a client keeps, as a plan says: in a store, in memory alone, or not at all.
///
/// A plan without a disk makes no file.
public struct LegoManager: Sendable {
  public let plan: CachePlan
  public let realm: Realm
  /// What is on disk; nil if the plan keeps nothing there.
  public let cache: LegoCache?
  let memory: MemoryShelves?

  /// Opens the store at `path` if the plan needs one, and makes the plan's limit that of its file.
  ///
  /// Throws ``LarderError/Code/cannotOpen`` and its like for a place that is none for a store.
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

  /// Over a store that is open already, whose limits stay what they are.
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
    memory =
      cache == nil && plan.usesMemory ? MemoryShelves(plan.memory, clock: clock) : nil
  }

  /// Where entities of a kind are kept; nil if they are not.
  func shelf<Entity: LegoEntity>(of type: Entity.Type) -> Shelf<Entity>? {
    if let cache { return cache.entities(type).map { .cache($0) } }
    return memory?.shelf(of: type).map { .memory($0) }
  }

  /// Where pages of a list of them are kept.
  func pages<Entity: LegoEntity>(of type: Entity.Type) -> Shelf<Listing<Entity>>? {
    if let cache { return cache.pages(of: type).map { .cache($0) } }
    return memory?.pages(of: type).map { .memory($0) }
  }

  /// Keeps what a list has brought, unless more is known of it that still agrees.
  public func keep<Entity: LegoEntity>(_ entities: [Entity]) throws {
    try cache?.keep(entities)
    guard let shelf = memory?.shelf(of: Entity.self) else { return }
    for entity in entities where shelf.value(for: entity.key)?.isDetail(like: entity) != true {
      shelf.set(entity, for: entity.key)
    }
  }
}

extension LegoEntity {
  /// Whether this is the detail form of what a list says.
  func isDetail(like listed: Self) -> Bool {
    isDetail && !listed.isDetail && listForm == listed.listForm
  }
}
