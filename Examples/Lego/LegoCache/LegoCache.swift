public import Larder
public import Service

/// A cache for a client of the Rebrickable API: a namespace for each kind of entity, under a plan.
///
/// The rules are stored with the first entity of a kind, so other processes and the shell obey them too. Entities that were read
/// stay decoded in memory, as many as the plan allows, and as current as those on disk.
public struct LegoCache: Sendable {
  public let larder: Store
  public let plan: CachePlan
  public let realm: ServiceRealm

  /// Opens the store at `path`, creates it, or makes one in memory for a plan without a file; nil for a plan that stores nothing.
  public init?(
    at path: String, plan: CachePlan = .default, realm: ServiceRealm = .open,
    options: Store.Options = Store.Options()
  ) throws(LarderError) {
    if !plan.usesDisk, plan.memory.entries == 0 { return nil }
    let store = try plan.usesDisk ? Store(at: path, options: options) : .inMemory(options: options)
    self.init(store, plan: plan, realm: realm)
    guard plan.usesDisk else { return }
    var limits = try store.limits().declared
    let isNew = try store.namespaces().isEmpty && limits == StoreLimits() && !store.isReadOnly
    guard let limit = plan.diskLimit ?? (isNew ? 10_000_000 : nil) else { return }
    limits.disk = limit
    try store.declare(limits)
  }

  /// Uses an open store, whose limits stay.
  public init(_ store: Store, plan: CachePlan = .default, realm: ServiceRealm = .open) {
    (larder, self.plan, self.realm) = (store, plan, realm)
  }

  /// All entities of one kind; nil if the kind is switched off.
  public func entities<Entity: LegoEntity>(_ type: Entity.Type) -> Cache<Entity>? {
    // Entities have only strings, integers and flags, so a stored value equals the decoded one.
    plan.rules(of: Entity.kind).map { rules in
      larder.cache(
        JSONCodec<Entity>(isLossless: true), in: namespace(of: Entity.kind).name, rules: rules,
        memory: plan.memory.limits)
    }
  }

  public func namespace(of kind: EntityKind) -> Store.Namespace { namespace(kind.namespace) }

  /// Pages of lists, each under its address, and the reports of refreshes.
  func namespace(_ name: String) -> Store.Namespace {
    larder.namespace(realm.name(name, in: larder))
  }

  /// Stores entities of one kind, if it is not switched off.
  public func store<Entity: LegoEntity>(_ entities: [Entity]) throws {
    guard let cache = self.entities(Entity.self) else { return }
    var attributes = EntryAttributes()
    attributes.stale = plan.staleness(of: Entity.kind)
    do {
      try larder.write { batch in
        for entity in entities { try batch.set(entity, for: entity.key, in: cache, attributes) }
      }
    } catch let error as LarderError where error.code == .full {
      // A small file has no room for the copies that a large transaction needs. For a single write the store makes room.
      for entity in entities { try cache.set(entity, for: entity.key, attributes) }
    }
  }
}

/// Numbers of entities, expired ones that were not removed yet included. With a disk those in memory are on disk too.
public struct LegoCounts: Sendable, Hashable {
  public var memory, database: Int
  public var total: Int { max(memory, database) }
}

/// Counts and clears the seven namespaces and the pages; other namespaces stay.
extension LegoCache {
  /// Counting changes nothing.
  public func counts() throws -> LegoCounts {
    let kinds = EntityKind.allCases.map(namespace)
    let count = try kinds.reduce(0) { try $0 + $1.count() }
    if !plan.usesDisk { return LegoCounts(memory: count, database: 0) }
    return LegoCounts(
      memory: kinds.reduce(0) { $0 + $1.memory.usage.entries }, database: count)
  }

  /// Removes expired entities and returns their number. Stale ones that may be served if the network fails stay.
  @discardableResult public func clearExpired() throws -> Int {
    try namespace("lego.pages").purge()
    return try EntityKind.allCases.reduce(0) { try $0 + namespace(of: $1).purge().entries }
  }

  /// Removes all entities and pages; returns the number of entities.
  @discardableResult public func clear() throws -> Int {
    try namespace("lego.pages").clear()
    return try EntityKind.allCases.reduce(0) { try $0 + namespace(of: $1).clear().entries }
  }

  /// Removes expired entities at an interval by the store's clock, once it is started.
  public func maintenance(every interval: Duration = .hours(1)) throws -> Maintenance {
    try Maintenance(of: larder, every: interval)
  }
}
