import LarderSystem

/// The memory that decoded values use in this process, and the results of reads since the creation of that memory.
public struct MemoryStatistics: Hashable, Sendable {
  /// The cost and the number of the values that are kept now.
  public var usage: MemoryUsage
  /// The limit of ``usage``; `Int.max` means no limit.
  public var capacity: MemoryUsage
  /// Reads that memory answered without a lookup in the store, because no process had written after the last comparison.
  public var hits: UInt64
  /// Reads that memory answered after a lookup, which showed that the value is still current.
  public var revalidatedHits: UInt64
  /// Reads that memory could not answer.
  public var misses: UInt64
  /// Values evicted to make room, or dropped by a lower limit or a trim.
  public var evictions: UInt64

  /// The fraction of reads that memory answered; nil before the first read.
  public var hitRate: Double? {
    let served = hits &+ revalidatedHits
    let all = served &+ misses
    return all == 0 ? nil : Double(served) / Double(all)
  }

  init(
    usage: MemoryUsage = MemoryUsage(), capacity: MemoryUsage = MemoryUsage(),
    counts: SIMD8<UInt64> = SIMD8()
  ) {
    self.usage = usage
    self.capacity = capacity
    hits = counts[MemoryCount.hits.rawValue]
    revalidatedHits = counts[MemoryCount.revalidatedHits.rawValue]
    misses = counts[MemoryCount.misses.rawValue]
    evictions = counts[MemoryCount.evictions.rawValue]
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

enum MemoryCount: Int { case hits, revalidatedHits, misses, evictions }

extension Store {
  /// The memory that the decoded values of all caches of the store use in this process, and the results of reads.
  ///
  /// The cost in ``MemoryStatistics/capacity`` is at most ``StoreLimits/memory``, the limit for all caches of the store.
  public var memory: MemoryStatistics {
    var sum = engine.memory.budget.members.reduce(MemoryStatistics()) { $0 + $1.statistics }
    sum.capacity.cost = min(sum.capacity.cost, engine.memory.budget.limit)
    return sum
  }

  /// Drops decoded values until each cache has at most this fraction of its own values, in number and cost; 0 to 1.
  ///
  /// Call this function when the system warns that it has little free memory.
  public func trimMemory(toFraction fraction: Double) {
    for memory in engine.memory.budget.members { memory.trim(toFraction: fraction) }
  }
}

extension Store.Namespace {
  /// The memory that the decoded values of all caches of the namespace use in this process, and the results of reads.
  public var memory: MemoryStatistics {
    engine.memory.statistics[ExactString(name)] ?? MemoryStatistics()
  }
}
