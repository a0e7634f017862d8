import Larder

/// Counts and clears the seven namespaces; what else is in the store is left alone.
extension LegoCache {
  /// How many entities of a kind are stored, expired ones that nobody has removed yet included. Counting changes nothing.
  public func count(of kind: EntityKind) throws -> Int {
    try namespace(of: kind).count()
  }

  public func count() throws -> Int {
    try EntityKind.allCases.reduce(0) { sum, kind in try sum + count(of: kind) }
  }

  /// Removes the entities whose time has come; returns how many it was.
  ///
  /// What a client fetched is kept for a while after its freshness, to be served if the network fails; that does not count.
  @discardableResult
  public func clearExpired() throws -> Int {
    try pages.purge()
    return try EntityKind.allCases.reduce(0) { sum, kind in
      try sum + namespace(of: kind).purge().entries
    }
  }

  /// Removes every entity of a kind; returns how many it was.
  @discardableResult
  public func clear(_ kind: EntityKind) throws -> Int {
    try namespace(of: kind).clear().entries
  }

  @discardableResult
  public func clear() throws -> Int {
    try pages.clear()
    return try EntityKind.allCases.reduce(0) { sum, kind in try sum + clear(kind) }
  }

  /// How many decoded entities are in memory.
  public var memoryCount: Int {
    EntityKind.allCases.reduce(0) { sum, kind in
      sum + namespace(of: kind).memory.usage.entries
    }
  }

  /// Lets go of all decoded entities; they stay on disk.
  public func clearMemory() {
    for kind in EntityKind.allCases {
      namespace(of: kind).trimMemory(toFraction: 0)
    }
  }
}
