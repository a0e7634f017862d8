import Larder

/// A shelf for each kind of entity, and one for its pages.
struct MemoryShelves: Sendable {
  private let entities: [EntityKind: any AnyShelf]
  private let pages: [EntityKind: any AnyShelf]

  init(_ tier: MemoryTier, clock: any LarderClock) {
    func shelf<Value: Sendable>(_: Value.Type) -> MemoryShelf<Value> {
      MemoryShelf(tier, absence: LegoClient.absence, clock: clock)
    }
    entities = [
      .colors: shelf(Color.self), .themes: shelf(Theme.self),
      .categories: shelf(PartCategory.self), .parts: shelf(Part.self),
      .sets: shelf(ModelSet.self), .elements: shelf(Element.self),
      .partColors: shelf(PartColor.self),
    ]
    pages = [
      .colors: shelf(Listing<Color>.self), .themes: shelf(Listing<Theme>.self),
      .categories: shelf(Listing<PartCategory>.self), .parts: shelf(Listing<Part>.self),
      .sets: shelf(Listing<ModelSet>.self), .partColors: shelf(Listing<PartColor>.self),
    ]
  }

  func shelf<Entity: LegoEntity>(of type: Entity.Type) -> MemoryShelf<Entity>? {
    entities[Entity.kind] as? MemoryShelf<Entity>
  }

  func pages<Entity: LegoEntity>(of type: Entity.Type) -> MemoryShelf<Listing<Entity>>? {
    pages[Entity.kind] as? MemoryShelf<Listing<Entity>>
  }

  var count: Int { entities.values.reduce(0) { $0 + $1.count } }

  func clear() -> Int {
    for shelf in pages.values { _ = shelf.clear() }
    return entities.values.reduce(0) { $0 + $1.clear() }
  }

  func clearExpired() -> Int {
    for shelf in pages.values { _ = shelf.clearExpired() }
    return entities.values.reduce(0) { $0 + $1.clearExpired() }
  }

  func clearPages(of kind: EntityKind) { _ = pages[kind]?.clear() }
}

/// A shelf of any type.
protocol AnyShelf: Sendable {
  var count: Int { get }
  func clear() -> Int
  func clearExpired() -> Int
}

extension MemoryShelf: AnyShelf {}
