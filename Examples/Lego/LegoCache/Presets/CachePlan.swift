/// The configuration of a Lego cache: memory, disk, lifetimes and limits.
public struct CachePlan: Sendable, Hashable {
  public var memory: MemoryTier
  public var disk: Lifetimes
  /// The limit of the file's size, in bytes.
  public var diskLimit: Int

  public init(
    memory: MemoryTier = .default, disk: Lifetimes = .longTerm,
    diskLimit: Int = CachePlan.defaultDiskLimit
  ) {
    self.memory = memory
    self.disk = disk
    self.diskLimit = diskLimit
  }

  /// 10 MB.
  public static let defaultDiskLimit = 10_000_000

  /// Whether the plan needs a file.
  public var usesDisk: Bool { !disk.isOff }
  public var usesMemory: Bool { !memory.isOff }

  /// The stale window for a network failure. Memory alone has no rules for kinds.
  func staleness(of kind: EntityKind) -> Duration {
    usesDisk ? disk[kind].staleness : EntityRule.longestStaleness
  }
}

extension CachePlan {
  public static let `default` = CachePlan()
  /// A larger memory tier, for speed.
  public static let performance = CachePlan(memory: .aggressive)
  /// A small memory tier; the disk does the work.
  public static let storage = CachePlan(memory: .conservative)
  /// Without a file: entities live in the memory tier until the process ends. For 30 days
  /// expired ones are returned if the network fails, or for `cacheOnly` and `cacheElseLoad`.
  public static let memoryOnly = CachePlan(disk: .disabled)
  public static let databaseOnly = CachePlan(memory: .disabled)
  public static let disabled = CachePlan(memory: .disabled, disk: .disabled)
}
