import HTTPTypes
public import Larder
public import LarderHTTP
import Service

/// A client of Rebrickable's API, version 3, that caches every call by its plan, with a namespace for each kind of entity.
///
/// The rules are stored with the first entity of a kind, so other processes and the shell obey them too. Entities stay decoded
/// in memory after a read, as many as the plan allows, and as current as those on disk.
public struct LegoClient: Sendable {
  public static let publicBase = "https://rebrickable.com/api/v3"

  public let store: Store
  public let plan: CachePlan
  let service: Service
  /// The namespaces of one user of one server; nil for public data.
  private let realm: Realm?

  /// A store in use keeps its limit, unless the plan has another. A new file may have 10 MB by default.
  ///
  /// - Parameters:
  ///   - store: a store by the plan: ``CachePlan/store(at:options:)``.
  ///   - credential: the key that Rebrickable gives to each user; nil for none.
  public init(
    in store: Store, plan: CachePlan = .default, base: String = LegoClient.publicBase,
    credential: String?, over transport: any HTTPTransport,
    log: (@Sendable (String) -> Void)? = nil
  ) throws(LarderError) {
    var service = Service(at: base, over: transport, in: store)
    service.fields[.accept] = "application/json"
    service.fields[.authorization] = credential.map { "key " + $0 }
    service.message = { $0["detail"]?.text }
    service.log = log
    let isPublic = service.base == Self.publicBase && credential == nil
    realm = isPublic ? nil : store.realm(of: "\(service.base) \(credential ?? "")")
    (self.store, self.plan, self.service) = (store, plan, service)
    guard plan.usesDisk else { return }
    var limits = try store.limits().declared
    let isNew = try store.namespaces().isEmpty && limits == StoreLimits() && !store.isReadOnly
    guard let limit = plan.diskLimit ?? (isNew ? 10_000_000 : nil) else { return }
    limits.disk = limit
    try store.declare(limits)
  }

  /// All entities of one kind; nil if the kind is switched off.
  public func entities<Entity: LegoEntity>(_ type: Entity.Type) -> Cache<Entity>? {
    plan.rules(of: Entity.kind).map { rules in
      store.cache(
        // Entities have only strings, integers and flags, so an encoded value decodes to an equal value.
        JSONCodec<Entity>(isLossless: true), in: namespace(of: Entity.kind).name, rules: rules,
        memory: plan.memory)
    }
  }

  public func namespace(of kind: EntityKind) -> Store.Namespace { namespace(kind.rawValue) }

  /// The namespace `lego.colors`; for a user's data, the name ends with a digest.
  func namespace(_ name: String) -> Store.Namespace {
    store.namespace(realm?.name(of: "lego." + name) ?? "lego." + name)
  }
}

/// Counts the entities of the seven namespaces, and clears these namespaces and the pages. Other namespaces stay.
extension LegoClient {
  /// Numbers of entities, including expired entities that are still stored. With a disk, entities in memory are on disk, too.
  public struct Counts: Sendable, Hashable {
    public var memory, database: Int
    public var total: Int { max(memory, database) }
  }

  public func counts() throws -> Counts {
    let kinds = EntityKind.allCases.map(namespace)
    let count = try kinds.reduce(0) { try $0 + $1.count() }
    if !plan.usesDisk { return Counts(memory: count, database: 0) }
    return Counts(memory: kinds.reduce(0) { $0 + $1.memory.usage.entries }, database: count)
  }

  /// Removes expired entities and returns their number. Keeps stale entities that may be served if the network fails.
  @discardableResult public func clearExpired() throws -> Int {
    try namespace("pages").purge()
    return try EntityKind.allCases.reduce(0) { try $0 + namespace(of: $1).purge().entries }
  }

  /// Removes all entities and pages; returns the number of entities.
  @discardableResult public func clear() throws -> Int {
    try namespace("pages").clear()
    return try EntityKind.allCases.reduce(0) { try $0 + namespace(of: $1).clear().entries }
  }
}
