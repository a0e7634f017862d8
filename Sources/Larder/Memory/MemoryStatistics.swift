/// How decoded values in the memory of this process stand, and what reads found there since the process began.
public struct MemoryStatistics: Hashable, Sendable {
  public var usage: MemoryUsage
  /// What `usage` may come to; the largest number where there is no limit.
  public var capacity: MemoryUsage
  /// Reads answered from memory with no lookup in the store: nothing was committed since the value was last compared.
  public var hits: UInt64
  /// Reads answered from memory after one lookup, which found that the value is still the entry's.
  public var revalidatedHits: UInt64
  /// Reads that memory could not answer.
  public var misses: UInt64
  /// Values that left to make room.
  public var evictions: UInt64

  /// Reads answered from memory among all; nil before the first.
  public var hitRate: Double? {
    let served = hits &+ revalidatedHits
    let all = served &+ misses
    return all == 0 ? nil : Double(served) / Double(all)
  }

  init(
    usage: MemoryUsage = MemoryUsage(), capacity: MemoryUsage = MemoryUsage(),
    counts: MemoryCounts = MemoryCounts()
  ) {
    self.usage = usage
    self.capacity = capacity
    hits = counts[.hits]
    revalidatedHits = counts[.revalidatedHits]
    misses = counts[.misses]
    evictions = counts[.evictions]
  }

  static func + (left: Self, right: Self) -> Self {
    var sum = left
    sum.usage += right.usage
    sum.capacity += right.capacity
    sum.hits &+= right.hits
    sum.revalidatedHits &+= right.revalidatedHits
    sum.misses &+= right.misses
    sum.evictions &+= right.evictions
    return sum
  }
}
