import HTTPTypes
public import Larder
public import LarderHTTP
import Service

/// A client of Rebrickable's API, version 3, that caches every call by its plan. Each kind of entity has its own namespace.
///
/// The rules of a kind are stored with its first entity, so other processes and the shell also follow these rules. After a
/// read, entities stay decoded in memory, as many as the plan allows. Entities in memory are as new as the entities on disk.
public struct LegoClient: Sendable {
  public static let publicBase = "https://rebrickable.com/api/v3"

  public let store: Store
  public let plan: CachePlan
  let service: Service
  /// The realm with the namespaces of one user of one server; nil for public data.
  private let realm: Realm?

  /// An existing store keeps its disk limit, except if the plan has a limit. A new store gets 10 MB by default.
  ///
  /// - Parameters:
  ///   - store: A store that was opened by the plan: ``CachePlan/store(at:options:)``.
  ///   - credential: The key that Rebrickable gives to each user; nil for no key.
  public init(
    in store: Store, plan: CachePlan = .default, base: String = LegoClient.publicBase,
    credential: String?, over transport: any HTTPTransport, log: (@Sendable (String) -> Void)? = nil
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

  /// The cache of all entities of one kind. Nil if the kind is switched off.
  public func entities<Entity: LegoEntity>(_ type: Entity.Type) -> Cache<Entity>? {
    plan.rules(of: Entity.kind).map { rules in
      store.cache(
        // Entities have only strings, integers and flags. A decoded entity is therefore equal to the encoded entity (lossless).
        JSONCodec<Entity>(isLossless: true), in: namespace(of: Entity.kind).name, rules: rules,
        memory: plan.memory)
    }
  }

  public func namespace(of kind: EntityKind) -> Store.Namespace { namespace(kind.rawValue) }

  /// The namespace for a name: `lego.colors` for `colors`. For a user's data, the name also has a digest of the user.
  func namespace(_ name: String) -> Store.Namespace {
    store.namespace(realm?.name(of: "lego." + name) ?? "lego." + name)
  }
}

/// Counts entities in the seven namespaces. Clears these namespaces and the namespace of pages, but no others.
extension LegoClient {
  /// The numbers of entities, including stored entities that have expired. With a disk, entities in memory are also on disk.
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

  /// Removes expired entities and returns their number. Does not remove stale entities, which may be served if the network fails.
  @discardableResult public func clearExpired() throws -> Int {
    try namespace("pages").purge()
    return try EntityKind.allCases.reduce(0) { try $0 + namespace(of: $1).purge().entries }
  }

  /// Removes all entities and pages. Returns the number of removed entities.
  @discardableResult public func clear() throws -> Int {
    try namespace("pages").clear()
    return try EntityKind.allCases.reduce(0) { try $0 + namespace(of: $1).clear().entries }
  }
}
