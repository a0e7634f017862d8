/// Where an import takes entities from: a kind at a time, one entity after the other.
///
/// Each reader answers how many entities it handed over. A kind is handed over in full or the reader throws.
public protocol EntitySource: Sendable {
  /// The kinds it has in full.
  var kinds: [EntityKind] { get }
  /// About how many entities of a kind there are, found out faster than by reading them.
  func estimate(_ kind: EntityKind) throws -> Int

  func colors(_ body: (Color) throws -> Void) throws -> Int
  func themes(_ body: (Theme) throws -> Void) throws -> Int
  func categories(_ body: (PartCategory) throws -> Void) throws -> Int
  func parts(_ body: (Part) throws -> Void) throws -> Int
  func setsAndMinifigs(_ body: (ModelSet) throws -> Void) throws -> Int
  func elements(_ body: (Element) throws -> Void) throws -> Int
  func partColors(_ body: (PartColor) throws -> Void) throws -> Int
}

extension RebrickableDump: EntitySource {
  /// Those all tables of which are in the folder. Sets need the minifigs beside them, as both are one kind: with one table
  /// alone the entities of the other would seem to be gone.
  public var kinds: [EntityKind] {
    let present = Set(tables)
    return EntityKind.allCases.filter { present.isSuperset(of: Self.tables(of: $0)) }
  }

  public func setsAndMinifigs(_ body: (ModelSet) throws -> Void) throws -> Int {
    try sets(body) + minifigs(body)
  }

  /// Counts lines, a few of which may be inside quotes. There are fewer pairs of part and colour than elements.
  public func estimate(_ kind: EntityKind) throws -> Int {
    switch kind {
    case .sets: try lines(in: .sets) + lines(in: .minifigs)
    case .partColors: try lines(in: .elements)
    default: try Self.tables(of: kind).first.map { try lines(in: $0) } ?? 0
    }
  }

  /// The tables a kind is made of, its own one first.
  private static func tables(of kind: EntityKind) -> [Table] {
    switch kind {
    case .colors: [.colors]
    case .themes: [.themes]
    case .categories: [.categories]
    case .parts: [.parts]
    case .sets: [.sets, .minifigs]
    case .elements: [.elements, .parts, .colors]
    case .partColors: [.elements, .colors]
    }
  }
}

extension EntityFolder: EntitySource {
  public func colors(_ body: (Color) throws -> Void) throws -> Int { try each(body) }
  public func themes(_ body: (Theme) throws -> Void) throws -> Int { try each(body) }
  public func categories(_ body: (PartCategory) throws -> Void) throws -> Int { try each(body) }
  public func parts(_ body: (Part) throws -> Void) throws -> Int { try each(body) }
  public func setsAndMinifigs(_ body: (ModelSet) throws -> Void) throws -> Int { try each(body) }
  public func elements(_ body: (Element) throws -> Void) throws -> Int { try each(body) }
  public func partColors(_ body: (PartColor) throws -> Void) throws -> Int { try each(body) }

  /// Not known before a file is read.
  public func estimate(_ kind: EntityKind) -> Int { 0 }

  private func each<Entity: LegoEntity>(_ body: (Entity) throws -> Void) throws -> Int {
    let entities = try read(Entity.self)
    try entities.forEach(body)
    return entities.count
  }
}
