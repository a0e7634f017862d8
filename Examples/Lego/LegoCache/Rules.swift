public import Larder

/// The rule of one kind of entity on disk.
public struct EntityRule: Sendable, Hashable {
  /// The lifetime of an entity; nil if the kind is not stored.
  public var expires: Expiration?
  /// Whether an expired entity is returned as stale if the network fails.
  public var servesStaleOnError = true

  public init(_ expires: Expiration?, servesStaleOnError: Bool = true) {
    (self.expires, self.servesStaleOnError) = (expires, servesStaleOnError)
  }
}

/// The rules of all kinds: a standard rule, and rules of single kinds that override it.
public struct Lifetimes: Sendable, Hashable {
  public var standard: EntityRule
  public var own: [EntityKind: EntityRule] = [:]

  public init(_ standard: Expiration?, own: [EntityKind: Expiration] = [:]) {
    (self.standard, self.own) = (EntityRule(standard), own.mapValues { EntityRule($0) })
  }

  public subscript(kind: EntityKind) -> EntityRule {
    get { own[kind] ?? standard }
    set { own[kind] = newValue }
  }

  /// A day for every kind. The default plan uses ``longTerm`` instead.
  public static let `default` = Lifetimes(.after(.hours(24)))
  public static let longTerm = Lifetimes(
    .after(.days(7)),
    own: [
      .colors: .never, .themes: .after(.days(30)), .categories: .after(.days(30)),
      .sets: .after(.days(1)),
    ])
  public static let shortTerm = Lifetimes(
    .after(.hours(1)),
    own: [
      .colors: .after(.days(1)), .themes: .after(.hours(12)), .categories: .after(.hours(12)),
      .parts: .after(.hours(2)), .elements: .after(.hours(2)),
    ])
  public static let disabled = Lifetimes(nil)
}

/// The limits of decoded entities in memory, for each kind: their lifetime until the next read from disk, and their number.
public struct MemoryTier: Sendable, Hashable {
  public var lifetime: Duration
  /// The number of entities; 0 switches the memory off.
  public var entries: Int

  public static let `default` = MemoryTier(lifetime: .seconds(300), entries: 100)
  public static let aggressive = MemoryTier(lifetime: .seconds(1800), entries: 500)
  public static let conservative = MemoryTier(lifetime: .seconds(60), entries: 50)
  public static let development = MemoryTier(lifetime: .seconds(30), entries: 50)
  public static let production = MemoryTier(lifetime: .days(1), entries: 1000)
  public static let disabled = MemoryTier(lifetime: .zero, entries: 0)

  var limits: MemoryLimits {
    entries == 0 ? .off : MemoryLimits(entries: entries, lifetime: lifetime)
  }
}

/// The configuration of a Lego cache: memory, disk and the limit of the file.
public struct CachePlan: Sendable, Hashable {
  public var memory = MemoryTier.default
  public var disk = Lifetimes.longTerm
  /// The limit of the file in bytes. With nil a new store gets 10 MB, and an existing store keeps its limit.
  public var diskLimit: Int?

  public static let `default` = CachePlan()
  public static let performance = CachePlan(memory: .aggressive)
  public static let storage = CachePlan(memory: .conservative)
  /// A plan without a file: entities live until the process ends.
  public static let memoryOnly = CachePlan(disk: .disabled)
  public static let databaseOnly = CachePlan(memory: .disabled)
  public static let disabled = CachePlan(memory: .disabled, disk: .disabled)

  /// Whether any kind is on disk. If not, all kinds are in memory; otherwise a kind without a lifetime is not stored at all.
  public var usesDisk: Bool { EntityKind.allCases.contains { disk[$0].expires != nil } }

  /// The rules of a kind's namespace; nil for a kind that is switched off. The three small kinds are evicted last. Without a
  /// disk the store is in memory, so the namespace gets the limits of memory.
  func rules(of kind: EntityKind) -> Rules? {
    let isSmall = [.colors, .themes, .categories].contains(kind)
    if usesDisk {
      return disk[kind].expires.map { Rules(expires: $0, priority: isSmall ? .high : .normal) }
    }
    if memory.entries == 0 { return nil }
    return Rules(expires: .after(memory.lifetime), limits: Limits(entries: memory.entries))
  }

  /// How long an expired entity may be returned if the service fails.
  func staleness(of kind: EntityKind) -> Duration {
    !usesDisk || disk[kind].servesStaleOnError ? .days(30) : .zero
  }

  /// How long the absence of an entity stays stored.
  var absence: Duration { usesDisk ? .minutes(10) : min(.minutes(10), memory.lifetime) }
}
