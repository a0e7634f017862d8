public import Larder

/// How many entities are kept. Asking changes nothing.
public struct LegoCounts: Sendable, Hashable {
  /// Those that are decoded in memory.
  public var memory: Int
  /// Those on disk, expired ones included that nobody has removed yet.
  public var database: Int

  public init(memory: Int, database: Int) {
    self.memory = memory
    self.database = database
  }

  /// Each counted once: what is in memory beside a disk is on the disk as well.
  public var total: Int { max(memory, database) }
}

extension LegoManager {
  public func counts() throws -> LegoCounts {
    guard let cache else { return LegoCounts(memory: memory?.count ?? 0, database: 0) }
    return LegoCounts(memory: cache.memoryCount, database: try cache.count())
  }

  /// Removes what has expired; returns how many entities it was.
  @discardableResult
  public func clearExpired() throws -> Int {
    try cache?.clearExpired() ?? memory?.clearExpired() ?? 0
  }

  /// Removes everything, pages of lists included; returns how many entities it was.
  @discardableResult
  public func clear() throws -> Int {
    try cache?.clear() ?? memory?.clear() ?? 0
  }

  /// Looks after what is on disk at an interval, once it is started; nil if there is nothing. Time is that of the store's
  /// clock.
  public func maintenance(
    every interval: Duration = .hours(1), jitter: Double = 0.1,
    onRun: (@Sendable (Maintenance.Report) -> Void)? = nil
  ) -> Maintenance? {
    cache.map { Maintenance(of: $0.larder, every: interval, jitter: jitter, onRun: onRun) }
  }
}
