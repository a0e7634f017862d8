public import Larder

/// The rules of each kind on disk. A kind that has no rules is not stored on disk.
extension [EntityKind: Rules] {
  /// Rules for every kind. Expired entities stay for thirty days, in case the service fails. The small kinds are evicted last.
  ///
  /// - Parameter own: The lifetimes of some kinds. The other kinds have the lifetime `standard`.
  public static func lifetimes(_ standard: Expiration, own: [EntityKind: Expiration] = [:]) -> Self
  {
    EntityKind.allCases.reduce(into: Self()) { rules, kind in
      let isSmall = [.colors, .themes, .categories].contains(kind)
      rules[kind] = Rules(
        expires: own[kind] ?? standard, stale: .days(30), priority: isSmall ? .high : .normal)
    }
  }

  /// One day for every kind, for plans of a program. The default plan uses ``longTerm``.
  public static var `default`: Self { lifetimes(.after(.hours(24))) }
  public static var longTerm: Self {
    lifetimes(
      .after(.days(7)),
      own: [
        .colors: .never, .themes: .after(.days(30)), .categories: .after(.days(30)),
        .sets: .after(.days(1)),
      ])
  }
  public static var shortTerm: Self {
    lifetimes(
      .after(.hours(1)),
      own: [
        .colors: .after(.days(1)), .themes: .after(.hours(12)), .categories: .after(.hours(12)),
        .parts: .after(.hours(2)), .elements: .after(.hours(2)),
      ])
  }
}

/// The limits of decoded entities in memory, for each kind: their number, and the time until an entity is read from disk again.
extension MemoryLimits {
  public static let standard = MemoryLimits(entries: 100, lifetime: .seconds(300))
  public static let aggressive = MemoryLimits(entries: 500, lifetime: .seconds(1800))
  public static let conservative = MemoryLimits(entries: 50, lifetime: .seconds(60))
  public static let development = MemoryLimits(entries: 50, lifetime: .seconds(30))
  public static let production = MemoryLimits(entries: 1000, lifetime: .days(1))
}

/// The configuration of a cache: its memory, its disk, and the limit of its file.
public struct CachePlan: Sendable, Hashable {
  public var memory = MemoryLimits.standard
  public var disk: [EntityKind: Rules] = .longTerm
  /// The limit of the file in bytes. If nil, a new store gets 10 MB, and an existing store keeps its limit.
  public var diskLimit: Int?

  public static let `default` = CachePlan()
  public static let performance = CachePlan(memory: .aggressive)
  public static let storage = CachePlan(memory: .conservative)
  /// A plan without a file. Entities are lost when the process ends.
  public static let memoryOnly = CachePlan(disk: [:])
  public static let databaseOnly = CachePlan(memory: .off)
  public static let disabled = CachePlan(memory: .off, disk: [:])

  /// Whether any kind is on disk. Without a disk, all kinds are in memory. With a disk, kinds without rules are not stored.
  public var usesDisk: Bool { !disk.isEmpty }

  /// Opens or creates the store at `path`. For a plan without a file, the store is in memory.
  public func store(
    at path: String, options: Store.Options = Store.Options()
  ) throws(LarderError) -> Store {
    try usesDisk ? Store(at: path, options: options) : .inMemory(options: options)
  }

  /// The rules for the namespace of a kind. Nil if the kind is switched off. If no kind is on disk, the store itself is in
  /// memory, so its namespaces get the limits of memory.
  func rules(of kind: EntityKind) -> Rules? {
    if usesDisk || memory == .off { return disk[kind] }
    return Rules(
      expires: memory.lifetime.map { Expiration.after($0) } ?? .never, stale: .days(30),
      limits: Limits(entries: memory.entries))
  }

  /// How long the client remembers that an entity does not exist.
  var absence: Duration {
    usesDisk ? .minutes(10) : min(.minutes(10), memory.lifetime ?? .minutes(10))
  }
}
