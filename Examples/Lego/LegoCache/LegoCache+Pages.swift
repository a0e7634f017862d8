import Larder

/// Pages of lists, each under its address, and what is in them besides under its own key.
extension LegoCache {
  /// The namespace of the pages of all lists.
  static let pagesName = "lego.pages"

  var pages: Store.Namespace { larder.namespace(realm.name(Self.pagesName)) }

  /// The pages of lists of one kind; nil if the kind is switched off. How long each stays is said when it is stored.
  func pages<Entity: LegoEntity>(of type: Entity.Type) -> Cache<Listing<Entity>>? {
    guard lifetimes[Entity.kind].lifetime != .off else { return nil }
    return larder.cache(
      JSONCodec<Listing<Entity>>(isLossless: true), in: pages.name, memory: memory.limits)
  }

  /// Stores what a list has brought, all at once if there is room for that. The detail form of an entity stays if the list says the same.
  func keep<Entity: LegoEntity>(_ entities: [Entity]) throws {
    guard let cache = self.entities(Entity.self) else { return }
    var attributes = EntryAttributes()
    attributes.stale = lifetimes[Entity.kind].staleness
    var largest = entities.count
    _ = try larder.write(entities, largest: &largest) { batch, entity in
      if !entity.isDetail, let known = try batch.value(for: entity.key, in: cache),
        known.isDetail(like: entity)
      {
        return
      }
      try batch.set(entity, for: entity.key, in: cache, attributes)
    }
  }

  /// Removes the pages whose addresses begin so.
  func clearPages(under path: String) throws {
    var keys: [Key] = []
    try pages.scan(prefix: path, includingExpired: true) { entry, _ in
      keys.append(entry.key)
      return true
    }
    try larder.write { batch in
      for key in keys { try batch.remove(key, from: pages) }
    }
  }
}
