/// The usage of memory by decoded values in this process, and the outcomes of reads since the process began.
public struct MemoryStatistics: Hashable, Sendable {
  /// The cost and the number of the values kept now.
  public var usage: MemoryUsage
  /// The limit of ``usage``; `Int.max` for no limit.
  public var capacity: MemoryUsage
  /// Reads answered from memory without a lookup in the store, because no process committed since the last comparison.
  public var hits: UInt64
  /// Reads answered from memory after one lookup, which found that the value is still current.
  public var revalidatedHits: UInt64
  /// Reads that memory could not answer.
  public var misses: UInt64
  /// Values evicted to make room.
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
