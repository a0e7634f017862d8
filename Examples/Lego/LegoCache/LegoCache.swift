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
    self.init(store, plan: plan, realm: realm)
    var limits = try store.limits().declared
    if plan.diskLimit == nil {
      // A store in use keeps its limits.
      let isEmpty = try store.namespaces().isEmpty
      guard isEmpty, limits == StoreLimits(), !store.isReadOnly else { return }
    }
    limits.disk = plan.diskLimit ?? CachePlan.defaultDiskLimit
    try store.declare(limits)
  }

  /// Uses an open store, whose limits stay.
  public init(_ store: Store, plan: CachePlan = .default, realm: Realm = .open) {
    (larder, self.plan, self.realm) = (store, plan, realm)
  }

  /// The name of a namespace in the cache's realm.
  public func name(_ namespace: String) -> String { realm.name(namespace, in: larder) }

  /// All entities of one kind; nil if the kind is switched off.
  public func entities<Entity: LegoEntity>(_ type: Entity.Type) -> Cache<Entity>? {
    // Entities have only strings and integers, so a stored value equals the decoded one.
    plan.rules(of: Entity.kind).map { rules in
      larder.cache(
        JSONCodec<Entity>(isLossless: true), in: name(Entity.kind.namespace), rules: rules,
        memory: plan.memory.limits)
    }
  }

  /// The bytes of the entities of a kind.
  public func namespace(of kind: EntityKind) -> Store.Namespace {
    larder.namespace(name(kind.namespace))
  }

  /// The entity with this key; nil if it is missing or expired. One that cannot be decoded counts as missing, and can be
  /// replaced.
  public func cached<Entity: LegoEntity>(_ type: Entity.Type, key: String) throws -> Entity? {
    try entities(type)?.value(for: key)
  }

  /// Stores an entity under its key.
  public func store<Entity: LegoEntity>(_ entity: Entity) throws {
    try entities(Entity.self)?.set(entity, for: entity.key)
  }
}

/// Pages of lists, each under its address; their entities are stored under their own keys too.
extension LegoCache {
  /// The namespace of the pages of all lists.
  public static let pagesName = "lego.pages"

  private var allPages: Store.Namespace { larder.namespace(name(Self.pagesName)) }

  /// The pages of one kind; nil if the kind is switched off. Each write sets the page's lifetime.
  func pages<Entity: LegoEntity>(of type: Entity.Type) -> Cache<Listing<Entity>>? {
    guard plan.rules(of: Entity.kind) != nil else { return nil }
    return larder.cache(
      JSONCodec<Listing<Entity>>(isLossless: true), in: allPages.name, memory: plan.memory.limits)
  }

  /// The report of the last refresh of each kind.
  var refreshes: Cache<RefreshReport> {
    larder.cache(of: RefreshReport.self, in: name("lego.refreshes"))
  }

  /// Stores the entities of a page, which has the list form. The fields that only a stored detail form has stay, and its
  /// lifetime goes on.
  func keep<Entity: LegoEntity>(_ entities: [Entity]) throws {
    guard let cache = self.entities(Entity.self) else { return }
    do {
      try larder.write { batch in
        for entity in entities {
          try keep(
            entity, over: batch.value(for: entity.key, in: cache),
            until: batch.entry(for: entity.key, in: cache.namespace)?.expires
          ) { try batch.set($0, for: $0.key, in: cache, $1) }
        }
      }
    } catch let error as LarderError where error.code == .full {
      // A transaction copies each page that it changes, and a small file cannot hold many copies. For a single write the store
      // makes room as often as necessary.
      for entity in entities {
        try keep(
          entity, over: cache.value(for: entity.key), until: cache.entry(for: entity.key)?.expires
        ) { try cache.set($0, for: $0.key, $1) }
      }
    }
  }

  private func keep<Entity: LegoEntity>(
    _ entity: Entity, over known: Entity?, until end: Timestamp?,
    set: (Entity, EntryAttributes) throws -> Void
  ) rethrows {
    var (entity, attributes) = (entity, EntryAttributes())
    attributes.stale = plan.staleness(of: Entity.kind)
    if let known, known.isDetail, !entity.isDetail {
      entity.keepDetails(of: known)
      attributes.expires = end.map { .at($0) } ?? .never
    }
    try set(entity, attributes)
  }

  /// Removes the pages of a whole list. Searches, filtered lists and lists below its path are others, and stay.
  func clearPages<Entity>(of list: LegoList<Entity>) throws {
    for key in try allPages.keys(prefix: list.path) where key.string.map(list.isPage) ?? false {
      try allPages.remove(key)
    }
  }
}

/// The numbers of entities. Counting changes nothing.
public struct LegoCounts: Sendable, Hashable {
  /// Entities in memory; with a disk, the decoded ones.
  public var memory: Int
  /// Entities on disk, expired ones that were not removed yet included.
  public var database: Int

  /// Each counted once: with a disk, entities in memory are on disk too.
  public var total: Int { max(memory, database) }
}

/// Counts and clears the seven namespaces; other namespaces stay.
extension LegoCache {
  /// The number of stored entities of a kind, expired ones that were not removed yet included.
  public func count(of kind: EntityKind) throws -> Int { try namespace(of: kind).count() }
  public func count() throws -> Int { try EntityKind.allCases.reduce(0) { try $0 + count(of: $1) } }

  public func counts() throws -> LegoCounts {
    guard plan.usesDisk else { return LegoCounts(memory: try count(), database: 0) }
    let decoded = EntityKind.allCases.reduce(0) { $0 + namespace(of: $1).memory.usage.entries }
    return LegoCounts(memory: decoded, database: try count())
  }

  /// Removes expired entities; returns their number. Stale entities that may be served if the network fails stay.
  @discardableResult public func clearExpired() throws -> Int {
    try allPages.purge()
    return try EntityKind.allCases.reduce(0) { try $0 + namespace(of: $1).purge().entries }
  }

  /// Removes all entities and pages; returns the number of entities.
  @discardableResult public func clear() throws -> Int {
    try allPages.clear()
    return try EntityKind.allCases.reduce(0) { try $0 + namespace(of: $1).clear().entries }
  }

  /// Removes expired entities at an interval, once it is started. It uses the store's clock.
  public func maintenance(
    every interval: Duration = .hours(1), onRun: (@Sendable (Maintenance.Report) -> Void)? = nil
  ) throws -> Maintenance {
    try Maintenance(of: larder, every: interval, onRun: onRun)
  }
}
