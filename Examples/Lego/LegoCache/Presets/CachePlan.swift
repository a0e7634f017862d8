public import Larder

/// The configuration of a Lego cache: memory, disk, lifetimes and limits.
public struct CachePlan: Sendable, Hashable {
  public var memory: MemoryTier
  public var disk: Lifetimes
  /// The limit of the file's size, in bytes. With nil a new store gets ``defaultDiskLimit``, and one in use keeps its own.
  public var diskLimit: Int?

  public init(memory: MemoryTier = .default, disk: Lifetimes = .longTerm, diskLimit: Int? = nil) {
    (self.memory, self.disk, self.diskLimit) = (memory, disk, diskLimit)
  }

  /// 10 MB.
  public static let defaultDiskLimit = 10_000_000
  /// The longest that an expired entity is returned if the network fails.
  public static let longestStaleness = Duration.days(30)

  /// Whether the plan needs a file.
  public var usesDisk: Bool { !disk.isOff }
  public var usesMemory: Bool { !memory.isOff }

  /// The rules of a kind's namespace; nil for a kind that is switched off. The three small kinds are evicted last.
  public func rules(of kind: EntityKind) -> Rules? {
    let isSmall = [.colors, .themes, .categories].contains(kind)
    if usesDisk {
      return disk[kind].expires.map { Rules(expires: $0, priority: isSmall ? .high : .normal) }
    }
    guard usesMemory else { return nil }
    return Rules(expires: .after(memory.lifetime), limits: Limits(entries: memory.entries))
  }

  /// How long absence is stored.
  var absence: Duration { usesDisk ? .minutes(10) : min(.minutes(10), memory.lifetime) }

  /// The stale window of fetched entities.
  public func staleness(of kind: EntityKind) -> Duration {
    !usesDisk || disk[kind].servesStaleOnError ? Self.longestStaleness : .zero
  }
}

extension CachePlan {
  public static let `default` = CachePlan()
  /// A larger memory tier, for speed.
  public static let performance = CachePlan(memory: .aggressive)
  /// A small memory tier; the disk does the work.
  public static let storage = CachePlan(memory: .conservative)
  /// Without a file: entities live until the process ends.
  public static let memoryOnly = CachePlan(disk: .disabled)
  public static let databaseOnly = CachePlan(memory: .disabled)
  public static let disabled = CachePlan(memory: .disabled, disk: .disabled)
}

/// The limits of decoded entities in memory, for each kind.
public struct MemoryTier: Sendable, Hashable {
  /// The longest time that an entity is served from memory before the disk is read again.
  public var lifetime: Duration
  /// The number of entities; 0 switches it off.
  public var entries: Int

  public init(lifetime: Duration, entries: Int) {
    (self.lifetime, self.entries) = (lifetime, entries)
  }

  public var isOff: Bool { entries == 0 }
  /// The limits of the caches.
  public var limits: MemoryLimits {
    isOff ? .off : MemoryLimits(entries: entries, lifetime: lifetime)
  }

  public static let `default` = MemoryTier(lifetime: .seconds(300), entries: 100)
  public static let aggressive = MemoryTier(lifetime: .seconds(1800), entries: 500)
  public static let conservative = MemoryTier(lifetime: .seconds(60), entries: 50)
  public static let development = MemoryTier(lifetime: .seconds(30), entries: 50)
  public static let production = MemoryTier(lifetime: .days(1), entries: 1000)
  public static let disabled = MemoryTier(lifetime: .zero, entries: 0)
}
