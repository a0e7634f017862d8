/// How a Lego cache is set up: what stays in memory, what goes to disk, how long and how much.
public struct CachePlan: Sendable, Hashable {
  public var memory: MemoryTier
  public var disk: Lifetimes
  /// The most the file may grow to, in bytes.
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

  /// Whether a file is needed: without one nothing is written anywhere.
  public var usesDisk: Bool { !disk.isOff }
  public var usesMemory: Bool { !memory.isOff }

  /// For how long past its freshness an entity is given when the network fails. Memory alone has no rules for kinds.
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
  /// Without a file: what the memory tier holds, for as long as that says, and until the process ends. For 30 days
  /// what is past its time is given when the network fails, or to who does not want to ask; after that to nobody.
  public static let memoryOnly = CachePlan(disk: .disabled)
  public static let databaseOnly = CachePlan(memory: .disabled)
  public static let disabled = CachePlan(memory: .disabled, disk: .disabled)
}
