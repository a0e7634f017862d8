import Larder

/// Counts and clears the seven namespaces; what else is in the store is left alone.
extension LegoCache {
  /// How many entities of a kind are stored, expired ones that nobody has removed yet included. Counting changes nothing.
  public func count(of kind: EntityKind) throws -> Int {
    try larder.namespace(kind.namespace).count()
  }

  public func count() throws -> Int {
    try EntityKind.allCases.reduce(0) { sum, kind in try sum + count(of: kind) }
  }

  /// Removes the entities whose time has come; returns how many it was.
  @discardableResult
  public func clearExpired() throws -> Int {
    try EntityKind.allCases.reduce(0) { sum, kind in
      try sum + larder.namespace(kind.namespace).purge().entries
    }
  }

  /// Removes every entity of a kind; returns how many it was.
  @discardableResult
  public func clear(_ kind: EntityKind) throws -> Int {
    try larder.namespace(kind.namespace).clear().entries
  }

  @discardableResult
  public func clear() throws -> Int {
    try EntityKind.allCases.reduce(0) { sum, kind in try sum + clear(kind) }
  }

  /// How many decoded entities are in memory.
  public var memoryCount: Int {
    EntityKind.allCases.reduce(0) { sum, kind in
      sum + larder.namespace(kind.namespace).memory.usage.entries
    }
  }

  /// Lets go of all decoded entities; they stay on disk.
  public func clearMemory() {
    for kind in EntityKind.allCases {
      larder.namespace(kind.namespace).trimMemory(toFraction: 0)
    }
  }
}
