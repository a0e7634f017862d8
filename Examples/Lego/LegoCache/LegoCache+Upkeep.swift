public import Larder
import Service

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

  public func count() throws -> Int {
    try EntityKind.allCases.reduce(0) { sum, kind in try sum + count(of: kind) }
  }

  public func counts() throws -> LegoCounts {
    guard plan.usesDisk else { return LegoCounts(memory: try count(), database: 0) }
    let decoded = EntityKind.allCases.reduce(0) { $0 + namespace(of: $1).memory.usage.entries }
    return LegoCounts(memory: decoded, database: try count())
  }

  /// Removes expired entities; returns their number. Stale entities that may be served if the network fails stay.
  @discardableResult
  public func clearExpired() throws -> Int {
    try pages.purge()
    return try EntityKind.allCases.reduce(0) { sum, kind in
      try sum + namespace(of: kind).purge().entries
    }
  }

  /// Removes all entities of a kind; returns their number.
  @discardableResult
  public func clear(_ kind: EntityKind) throws -> Int { try namespace(of: kind).clear().entries }

  /// Removes all entities and pages; returns the number of entities.
  @discardableResult
  public func clear() throws -> Int {
    try pages.clear()
    return try EntityKind.allCases.reduce(0) { sum, kind in try sum + clear(kind) }
  }

  /// Removes all decoded entities from memory; they stay on disk.
  public func clearMemory() {
    for kind in EntityKind.allCases { namespace(of: kind).trimMemory(toFraction: 0) }
  }

  /// Removes expired entities at an interval, once it is started. It uses the store's clock.
  public func maintenance(
    every interval: Duration = .hours(1), jitter: Double = 0.1,
    onRun: (@Sendable (Maintenance.Report) -> Void)? = nil
  ) throws -> Maintenance {
    try Maintenance(of: larder, every: interval, jitter: jitter, onRun: onRun)
  }
}
