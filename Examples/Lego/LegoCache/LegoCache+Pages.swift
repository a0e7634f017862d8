import Larder
import Service

/// Pages of lists, each under its address; their entities are stored under their own keys too.
extension LegoCache {
  /// The namespace of the pages of all lists.
  public static let pagesName = "lego.pages"

  var pages: Store.Namespace { larder.namespace(realm.name(Self.pagesName)) }

  /// The pages of one kind; nil if the kind is switched off. Each write sets the page's lifetime.
  func pages<Entity: LegoEntity>(of type: Entity.Type) -> Cache<Listing<Entity>>? {
    guard plan.rules(of: Entity.kind) != nil else { return nil }
    return larder.cache(
      JSONCodec<Listing<Entity>>(isLossless: true), in: pages.name, memory: plan.memory.limits)
  }

  /// Stores the entities of a list, in one transaction if there is room. A stored detail form with the same contents stays.
  func keep<Entity: LegoEntity>(_ entities: [Entity]) throws {
    guard let cache = self.entities(Entity.self) else { return }
    var attributes = EntryAttributes()
    attributes.stale = plan.staleness(of: Entity.kind)
    var largest = entities.count
    _ = try larder.write(entities, largest: &largest) { entity in
      try cache.set(entity, for: entity.key, attributes)
    } _: { batch, entity in
      if !entity.isDetail, let known = try batch.value(for: entity.key, in: cache),
        known.isDetail(like: entity)
      {
        return
      }
      try batch.set(entity, for: entity.key, in: cache, attributes)
    }
  }

  /// Removes the pages whose addresses have this prefix.
  func clearPages(under path: String) throws { try pages.remove(prefix: path) }
}
