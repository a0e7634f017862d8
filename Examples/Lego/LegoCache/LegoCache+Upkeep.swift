import Larder
import Service

/// Counts and clears the seven namespaces; other namespaces stay.
extension LegoCache {
  /// The number of stored entities of a kind, expired ones that were not removed yet included. Counting changes nothing.
  public func count(of kind: EntityKind) throws -> Int {
    try namespace(of: kind).count()
  }

  public func count() throws -> Int {
    try EntityKind.allCases.reduce(0) { sum, kind in try sum + count(of: kind) }
  }

  /// Removes expired entities; returns their number.
  ///
  /// Stale entities that may be served if the network fails stay.
  @discardableResult
  public func clearExpired() throws -> Int {
    try pages.purge()
    return try EntityKind.allCases.reduce(0) { sum, kind in
      try sum + namespace(of: kind).purge().entries
    }
  }

  /// Removes all entities of a kind; returns their number.
  @discardableResult
  public func clear(_ kind: EntityKind) throws -> Int {
    try namespace(of: kind).clear().entries
  }

  @discardableResult
  public func clear() throws -> Int {
    try pages.clear()
    return try EntityKind.allCases.reduce(0) { sum, kind in try sum + clear(kind) }
  }

  /// The number of decoded entities in memory.
  public var memoryCount: Int {
    EntityKind.allCases.reduce(0) { sum, kind in
      sum + namespace(of: kind).memory.usage.entries
    }
  }

  /// Removes all decoded entities from memory; they stay on disk.
  public func clearMemory() {
    for kind in EntityKind.allCases {
      namespace(of: kind).trimMemory(toFraction: 0)
    }
  }
}
