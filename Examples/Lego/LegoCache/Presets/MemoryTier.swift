public import Larder

/// The limits of decoded entities in memory, for each kind.
public struct MemoryTier: Sendable, Hashable {
  /// The longest time that an entity is served from memory before the disk is read again.
  public var lifetime: Duration
  /// The number of entities; 0 switches it off.
  public var entries: Int

  public init(lifetime: Duration, entries: Int) {
    self.lifetime = lifetime
    self.entries = entries
  }

  public var isOff: Bool { entries == 0 }

  /// The limits of the caches.
  public var limits: MemoryLimits {
    isOff ? .off : MemoryLimits(entries: entries, lifetime: lifetime)
  }
}

extension MemoryTier {
  public static let `default` = MemoryTier(lifetime: .seconds(300), entries: 100)
  public static let aggressive = MemoryTier(lifetime: .seconds(1800), entries: 500)
  public static let conservative = MemoryTier(lifetime: .seconds(60), entries: 50)
  public static let development = MemoryTier(lifetime: .seconds(30), entries: 50)
  public static let production = MemoryTier(lifetime: .seconds(86_400), entries: 1000)
  public static let disabled = MemoryTier(lifetime: .zero, entries: 0)
}
