public import Larder

/// The numbers of entities. Counting changes nothing.
public struct LegoCounts: Sendable, Hashable {
  /// Decoded entities in memory.
  public var memory: Int
  /// Entities on disk, expired ones that were not removed yet included.
  public var database: Int

  /// Each counted once: with a disk, entities in memory are on disk too.
  public var total: Int { max(memory, database) }
}

extension LegoManager {
  public func counts() throws -> LegoCounts {
    guard let cache else { return LegoCounts(memory: memory?.count ?? 0, database: 0) }
    return LegoCounts(memory: cache.memoryCount, database: try cache.count())
  }

  /// Removes expired entities; returns their number.
  @discardableResult
  public func clearExpired() throws -> Int {
    try cache?.clearExpired() ?? memory?.clearExpired() ?? 0
  }

  /// Removes all entities and pages; returns the number of entities.
  @discardableResult
  public func clear() throws -> Int {
    try cache?.clear() ?? memory?.clear() ?? 0
  }

  /// Removes expired entities on disk at an interval, once it is started; nil without a disk. It uses the store's
  /// clock.
  public func maintenance(
    every interval: Duration = .hours(1), jitter: Double = 0.1,
    onRun: (@Sendable (Maintenance.Report) -> Void)? = nil
  ) throws -> Maintenance? {
    try cache.map { try Maintenance(of: $0.larder, every: interval, jitter: jitter, onRun: onRun) }
  }
}
